#!/usr/bin/env python3
"""Limits of clients whose clocks are late, of a server whose clock was ahead for a moment, and of one that always
asks."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import Server  # noqa: E402

DAY = 86_400_000
# A day begins. It is in the future, so that nothing has expired for a server that starts with the machine's clock.
NOW = (int(time.time()) // 86_400 + 2) * DAY


def clock(client, unix_ms):
    client.call("DEBUG", "CLOCK", "SET", str(unix_ms))


def taken(client, key, rule, at):
    return sum(client.call("LIMIT.TAKE", key, *rule.split(), "AT", f"{at}ms")[0] for _ in range(20))


def check_late(report, server, client):
    late = {"FIXED 5 10s": 11_000, "SLIDING 5 10s": 11_000, "CALENDAR 5 day": DAY, "BUCKET 5 5 1s": 500,
            "ROLLING 5 10s": 11_000}
    clock(client, NOW)
    client.call("FLUSHALL")
    for rule, late_ms in late.items():
        report.equal(f"{rule}, late by {late_ms} ms: the limit", taken(client, rule, rule, NOW - late_ms), 5)
    hits = [client.call("HITS.ADD", "hits", "10s", "CAP", "5", "AT", f"{NOW - 11_000}ms") for _ in range(20)]
    report.equal("HITS.ADD with CAP: the cap", [hit for hit in hits if hit is not None], [1, 2, 3, 4, 5])
    server.stop()
    server.start()
    with server.client() as again:
        clock(again, NOW + 400)
        for rule, late_ms in late.items():
            report.equal(f"{rule}: none more after a restart", taken(again, rule, rule, NOW - late_ms), 0)


def check_stream(report, client):
    for rule, most in (("BUCKET 5 5 1s", 55), ("SLIDING 5 1s", 50), ("FIXED 5 1s", 50)):
        client.call("FLUSHALL")
        allowed = 0
        for at in range(0, 10_000, 20):
            clock(client, NOW + at)
            allowed += client.call("LIMIT.TAKE", "k", *rule.split(), "AT", f"{NOW + at - 500}ms")[0]
        report.check(f"{rule}: a stream that is late gets the limit", most - 1 <= allowed <= most, allowed)


def check_glitch(report, client):
    rules = ("FIXED 1 60s", "SLIDING 1 60s", "BUCKET 1 1 60s", "ROLLING 1 60s", "CALENDAR 1 minute")
    for ahead in (600_000, 400 * DAY):
        clock(client, NOW + ahead)
        client.call("FLUSHALL")
        for rule in rules:
            client.call("LIMIT.TAKE", rule, *rule.split())
        client.call("CL.THROTTLE", "throttle", "0", "1", "60")
        clock(client, NOW)
        for rule in rules:
            reply = client.call("LIMIT.TAKE", rule, *rule.split())
            report.check(f"{rule}, {ahead} ms ahead: waits at most its period", reply[0] or reply[3] <= 60_000, reply)
        reply = client.call("CL.THROTTLE", "throttle", "0", "1", "60")
        report.check(f"CL.THROTTLE, {ahead} ms ahead: waits at most its period", reply[3] <= 60, reply)
        client.call("DEBUG", "RELOAD")
        clock(client, NOW + 60_000)
        for rule in rules:
            report.equal(f"{rule}: allowed a period later", client.call("LIMIT.TAKE", rule, *rule.split())[0], 1)
            report.check(f"{rule}: its key ends", 0 < client.call("PTTL", rule) <= 60_000)


def check_rolling(report, client):
    for limit in (1, 2, 3, 10):
        client.call("FLUSHALL")
        granted = 0
        for at in range(0, 100_000, 100):
            clock(client, NOW + at)
            while client.call("LIMIT.TAKE", "k", "ROLLING", str(limit), "10s")[0]:
                granted += 1
        report.check(f"ROLLING {limit} 10s grants its limit", 9.5 * limit <= granted <= 10 * limit, granted)


def main():
    report = Report()
    with Server(enable_debug_command="yes", appendonly="yes") as server:
        with server.client() as client:
            check_late(report, server, client)
        with server.client() as client:
            check_stream(report, client)
            check_glitch(report, client)
            check_rolling(report, client)
    report.finish()


if __name__ == "__main__":
    main()
