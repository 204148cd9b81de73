#!/usr/bin/env python3
"""Half a minute of keys that come and go: resident memory and the lag of expiry stay flat.

SCALE=120 makes it an hour. Keys of all kinds live for half a second to three; of some of them
the name is their deadline, and the event of their end shows how late it came."""

import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server  # noqa: E402

SECONDS = scaled(30)
SEED = int(os.environ.get("SOAK_SEED", time.time_ns() % 1_000_000))
WATCHED = 1  # the database whose events are listened to
MIB = 1 << 20
ROUNDS_A_SECOND = 20
KEYS_A_ROUND = 400


def rss(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def commands(dice, now_ms, number):
    """One key of each kind, and when it ends."""
    ttl = dice.randrange(500, 3000)
    name = f"{dice.randrange(1 << 30):x}"
    return [("SET", f"s:{name}", "x" * dice.randrange(100), "PX", ttl),
            ("RPUSH", f"l:{name}", now_ms, now_ms + 1, now_ms + 2), ("PEXPIRE", f"l:{name}", ttl),
            ("HSET", f"h:{name}", "a", 1, "b", name), ("PEXPIRE", f"h:{name}", ttl),
            ("ZADD", f"z:{name}", 1, "a", 2, name), ("PEXPIRE", f"z:{name}", ttl),
            ("HITS.ADD", f"t:{name}", f"{ttl}ms"),
            ("LIMIT.TAKE", f"f:{name}", "FIXED", 3, f"{ttl}ms", "SLIDING", 3, f"{ttl}ms"),
            ("SELECT", WATCHED), ("SET", f"{now_ms + ttl}:{number}", 1, "PXAT", now_ms + ttl), ("SELECT", 0)]


class Listener(threading.Thread):
    """Notes how late each watched key was removed."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.lags = []
        self.client = server.client()
        self.client.call("SUBSCRIBE", f"__keyevent@{WATCHED}__:expired")
        self.start()

    def run(self):
        try:
            while True:
                key = self.client.read()[2]
                now = time.time() * 1000
                self.lags.append((time.monotonic(), now - int(key.split(b":")[0])))
        except (OSError, ValueError):  # closed
            return


def churn(server, seconds, dice):
    """Resident bytes, sampled each second."""
    sizes = []
    begin = time.monotonic()
    with server.client() as client:
        for turn in range(int(seconds * ROUNDS_A_SECOND)):
            batch, now_ms = [], time.time_ns() // 1_000_000
            while len(batch) < KEYS_A_ROUND:
                batch += commands(dice, now_ms, len(batch))
            client.pipeline(batch)
            if turn % ROUNDS_A_SECOND == 0:
                sizes.append(rss(server))
            time.sleep(max(0, begin + (turn + 1) / ROUNDS_A_SECOND - time.monotonic()))
    return sizes


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def main():
    report = Report()
    report.note(f"SOAK_SEED={SEED}, {SECONDS:.0f} s")
    with Server(appendonly="yes", notify_keyspace_events="Ex", auto_aof_rewrite_min_size="4mb") as server:
        listener = Listener(server)
        begin = time.monotonic()
        sizes = churn(server, SECONDS, random.Random(SEED))
        third = (time.monotonic() - begin) / 3
        time.sleep(4)
        with server.client() as client:
            report.equal("when nothing comes any more all keys leave", client.call("DBSIZE"), 0)
            rewrites = server.log().count("The log has grown by")
        early, late = ([lag for at, lag in listener.lags if low <= at - begin < low + third]
                       for low in (third, 2 * third))
        middle, last = percentile(sizes[len(sizes) // 3:2 * len(sizes) // 3], 0.5), percentile(sizes[2 * len(sizes) // 3:], 0.5)
        report.note(f"        resident MiB: {middle / MIB:.1f} in the second third, {last / MIB:.1f} in the last; "
                    f"{rewrites} rewrites; lag of expiry, ms: p99 {percentile(early, 0.99):.0f} and "
                    f"{percentile(late, 0.99):.0f}, of {len(early)} and {len(late)} keys")
        report.check("resident memory is flat", last < middle * 1.1 + MIB, sizes)
        report.check("the log was rewritten meanwhile", rewrites > 0)
        report.check("no key leaves before its deadline", min(early + late) > -2)
        report.check("expiry does not fall behind", percentile(late, 0.99) < max(1000, 2 * percentile(early, 0.99)))
    report.finish()


main()
