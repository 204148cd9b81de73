#!/usr/bin/env python3
"""Two troubles at once: clients that do not read while the disk is full, a rewrite of a huge member
while the disk fails, subscribers that do not read while all descriptors are in use."""

# tests/run: also under asan

import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.disk import last_log, limit_files, reply_of  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import encode  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.sockets import (MIB, connect, descriptors, first_reply, is_instrumented, receive,  # noqa: E402
                         set_descriptors)
from lib.waiting import wait_for  # noqa: E402

ROUNDS = 20
ENDLESS = 1 << 40


def says(client, text):
    return text.encode() in client.call("INFO", "persistence")


def numbers(replies, value):
    """Of replies that are values and numbers in turn: the numbers, and whether all else is right."""
    found, rest = [], replies
    while rest.startswith(value) and b"\r\n" in rest[len(value):]:
        line, _, rest = rest[len(value):].partition(b"\r\n")
        if line.startswith(b":"):
            found.append(int(line[1:]))
        elif not line.startswith(b"-MISCONF"):
            return found, False
    # The end of a connection that was closed may be anywhere.
    return found, rest == b"+OK\r\n" or value.startswith(rest) or rest.startswith(value)


def check_reader_on_full_disk(report, policy):
    """Who reads nothing keeps its replies, and is promised nothing that the disk does not have."""
    with Server(appendonly="yes", appendfsync=policy) as server, server.client() as client:
        client.call("SET", "value", "v" * MIB)
        value = b"$%d\r\n%s\r\n" % (MIB, b"v" * MIB)
        readers = [connect(server.port) for _ in range(3)]
        for number, reader in enumerate(readers):
            reader.sendall((encode(["GET", "value"]) + encode(["INCR", f"n{number}"])) * ROUNDS + encode(["QUIT"]))
        report.check(f"{policy}: all are being served", wait_for(lambda: client.call(
            "EXISTS", "n0", "n1", "n2") == 3))
        limit_files(server, last_log(server).stat().st_size + 30)
        with server.client() as writer:
            # A reader's INCR may have met the full disk before.
            reply = reply_of(writer, "SET", "big", "x" * 1000)
            report.check(f"{policy}: a write that the disk does not take is not acknowledged",
                         reply == "closed" or str(reply).startswith("MISCONF"), reply)
        got = [receive(reader, 2 * len(value)) for reader in readers]
        report.check(f"{policy}: others read meanwhile", client.call("STRLEN", "value") == MIB)
        for number in (1, 2):
            got[number] += receive(readers[number], ENDLESS)
        limit_files(server, resource.RLIM_INFINITY)
        report.check(f"{policy}: writing resumes", wait_for(lambda: reply_of(client, "SET", "after", 1) == "OK"))
        got[0] += receive(readers[0], ENDLESS)
        for reader in readers:
            reader.close()
        server.kill()
        server.start()
        with server.client() as after:
            kept = [int(count) for count in after.call("MGET", "n0", "n1", "n2")]
        for number, replies in enumerate(got):
            found, right = numbers(replies, value)
            report.check(f"{policy}: reader {number} gets its replies in order", right
                         and found == list(range(1, len(found) + 1)), (found, replies[-100:]))
            report.check(f"{policy}: what reader {number} was promised is there", kept[number] >= len(found),
                         (kept, found))


def check_rewrite_of_huge_member(report, policy):
    member = "m" * (64 * MIB)
    with Server(appendonly="yes", appendfsync=policy, auto_aof_rewrite_percentage=0) as server, server.client() as client:
        report.equal(f"{policy}: a member of 64 MB", client.call("SADD", "set", member, "small"), 2)
        # The log is longer than this already, so that base and log fail.
        limit_files(server, 8 * MIB)
        client.call("BGREWRITEAOF")
        report.check(f"{policy}: its rewrite fails", wait_for(lambda: says(client, "aof_last_bgrewrite_status:err")))
        report.equal(f"{policy}: reads go on", client.call("SISMEMBER", "set", "small"), 1)
        limit_files(server, resource.RLIM_INFINITY)
        written = [0]

        def write():
            with server.client() as writer:
                written[0] += reply_of(writer, "SADD", "set", f"later{written[0]}") == 1
            return written[0] >= 3

        report.check(f"{policy}: writing goes on", wait_for(write))
        report.check(f"{policy}: the rewrite is tried again and succeeds", wait_for(
            lambda: reply_of(client, "BGREWRITEAOF") and says(client, "aof_last_bgrewrite_status:ok")
            and says(client, "aof_rewrite_in_progress:0")))
        left = [path.name for path in (server.directory / "appendonlydir").glob("temp-*")]
        report.equal(f"{policy}: and leaves nothing behind", left, [])
        server.kill()
        server.start()
        with server.client() as after:
            report.equal(f"{policy}: the members are there", after.call(
                "SMISMEMBER", "set", member, "small", *[f"later{i}" for i in range(written[0])]),
                [1, 1] + [1] * written[0])


def check_subscribers_without_descriptors(report):
    with Server(client_output_buffer_limit="pubsub 1mb 0 0") as server, server.client() as client:
        subscribers = [connect(server.port) for _ in range(20)]
        for one in subscribers:
            one.sendall(encode(["SUBSCRIBE", "channel"]))
        report.check("all subscribe", wait_for(lambda: client.call("PUBSUB", "NUMSUB", "channel")[1] == 20))
        set_descriptors(server, max(descriptors(server)) + 1)
        waiting = [connect(server.port) for _ in range(20)]
        report.check("nobody else is let in", wait_for(lambda: "Accepting client connection" in server.log()))
        message = "m" * 100_000
        report.check("who does not read is closed", wait_for(
            lambda: client.call("PUBLISH", "channel", message) == 0))
        report.equal("it is said once", server.log().count("Accepting client connection"), 1)
        report.equal("who publishes is served", client.call("PING"), "PONG")
        set_descriptors(server, 1000)
        late = connect(server.port)
        report.equal("with descriptors everybody is served again", first_reply(late), b"+PONG\r\n")
        for one in [*subscribers, *waiting, late]:
            one.close()
        report.check("and nobody is left", wait_for(
            lambda: b"connected_clients:1\r\n" in client.call("INFO", "clients")))


def main():
    report = Report()
    for policy in ("always", "everysec", "no"):
        check_reader_on_full_disk(report, policy)
    for policy in ("always", "no"):
        check_rewrite_of_huge_member(report, policy)
    if not is_instrumented():
        check_subscribers_without_descriptors(report)
    report.finish()


main()
