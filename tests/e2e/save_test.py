#!/usr/bin/env python3
"""What is kept without asking, with `save` in place of the log, and when a snapshot fails.

tests/run: also under asan
"""

import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, encode  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

WAIT_SECONDS = 30
CALLS = 150
NOTHING_KEPT = "Nothing is kept"


def plain_server():
    """As the binary starts without any directive of persistence."""
    server = Server()
    server.directives = {}
    return server


def info(client, field):
    rows = dict(row.split(":", 1) for row in client.call("INFO", "persistence").decode().split("\r\n") if ":" in row)
    return rows[field]


def value_after_restart(server, key):
    server.start()
    with server.client() as client:
        return client.call("GET", key)


def set_key(server, key, value):
    with server.client() as client:
        client.call("SET", key, value)


def check_defaults(report):
    with plain_server() as server:
        set_key(server, "a", 1)
        server.stop()
        report.equal("by default SIGTERM loses nothing", value_after_restart(server, "a"), b"1")
        set_key(server, "b", 2)
        server.kill()
        report.equal("nor does kill -9", value_after_restart(server, "b"), b"2")
        report.check("and nothing is warned of", NOTHING_KEPT not in server.log(), server.log())
    with Server() as server:
        report.equal("where nothing is kept, one warning says so", server.log().count(NOTHING_KEPT), 1)
        set_key(server, "a", 1)
        server.stop()
        report.equal("and so it is", value_after_restart(server, "a"), None)


def check_end(report):
    with Server(save="60 1") as server:
        report.check("save without a log keeps something", NOTHING_KEPT not in server.log())
        set_key(server, "a", 1)
        report.equal("SIGTERM ends with 0", server.stop(), 0)
        report.equal("SIGTERM saves", value_after_restart(server, "a"), b"1")
        for words, kept in (("SHUTDOWN", b"2"), ("SHUTDOWN NOSAVE", b"2"), ("SHUTDOWN SAVE", b"3")):
            with server.client() as client:
                client.call("INCR", "a")
                client.socket.sendall(words.encode() + b"\r\n")
                server.process.wait(WAIT_SECONDS)
            report.equal(words, value_after_restart(server, "a"), kept)
    with plain_server() as server:
        server.directives = {"appendonly": "no"}
        server.stop()
        server.start()
        set_key(server, "a", 1)
        with server.client() as client:
            report.equal("without a log the rules are Redis's if none are given",
                         client.call("CONFIG", "GET", "save"), [b"save", b"3600 1 300 100 60 10000"])
        server.stop()
        report.equal("and keep the data", value_after_restart(server, "a"), b"1")


def check_end_of_turn(report):
    """A client with a long pipeline runs in the turn of SHUTDOWN too: what it is told is done then is kept."""
    slow = "for i = 1, 30000 do end return redis.call('INCR', 'n')"
    for words, rules in (("SHUTDOWN", "60 1"), ("SHUTDOWN SAVE", "")):
        with Server(save=rules) as server:
            with server.client() as busy, server.client() as client:
                # The server reads them all at once, so that the connection ends without losing replies.
                sha = busy.call("SCRIPT", "LOAD", slow)
                busy.socket.sendall(encode(["EVALSHA", sha, 0]) * CALLS)
                told = int(busy.read())
                client.socket.sendall(words.encode() + b"\r\n")
                told = last_integer(busy.socket, told)
            server.process.wait(WAIT_SECONDS)
            kept = int(value_after_restart(server, "n") or 0)
            report.check(f"{words} comes within a pipeline", 0 < told < CALLS, told)
            report.equal(f"and what the turn of {words} has done is kept", kept, told)


def last_integer(connection, last):
    """The last whole reply before the server closes the connection."""
    data = b""
    try:
        while part := connection.recv(1 << 20):
            data = data[-32:] + part
    except OSError:
        pass
    replies = data.split(b"\r\n")[:-1]
    return int(replies[-1][1:]) if replies else last


def check_due(report):
    with Server(save="1 3") as server:
        with server.client() as client:
            before = client.call("LASTSAVE")
            client.call("MSET", "a", 1, "b", 2)
            client.call("QUOTA.SETLIMIT", "book", 1, 0, 5, "1h")
            report.check("a snapshot is written when it is due",
                         wait_for(lambda: info(client, "rdb_saves") == "1"), server.log())
            report.equal("and counts the changes anew", info(client, "rdb_changes_since_last_save"), "0")
            report.check("LASTSAVE", client.call("LASTSAVE") >= before + 1)
            client.call("SET", "a", "late")
            report.equal("changes since", info(client, "rdb_changes_since_last_save"), "1")
        server.kill()
        report.equal("kill -9 loses what came after", value_after_restart(server, "a"), b"1")
        with server.client() as client:
            report.equal("all that the snapshot had is there", client.call("DBSIZE"), 3)
            client.call("CONFIG", "SET", "save", "")
            client.pipeline(("SET", f"key:{i}", i) for i in range(10))
            time.sleep(1.5)
            report.equal("save \"\" ends the rules", info(client, "rdb_saves"), "0")
            client.call("CONFIG", "SET", "save", "1 1")
            report.check("CONFIG SET save begins them", wait_for(lambda: info(client, "rdb_saves") != "0"))
    with Server(appendonly="yes", save="1 1") as server, server.client() as client:
        client.call("SET", "a", 1)
        report.check("with a log too, if it is asked for", wait_for(lambda: info(client, "rdb_saves") != "0"))


def reply(client, *words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return str(error)


def check_failure(report):
    """A disk on which the log of messages has room, and a snapshot has not."""
    with Server(save="1 1") as server:
        with server.client() as client:
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
            client.pipeline(("SET", f"key:{i}", "x" * 1000) for i in range(1000))
            report.check("a snapshot that fails is told",
                         wait_for(lambda: info(client, "rdb_last_bgsave_status") == "err"))
            report.check("writes are refused in Redis's words",
                         reply(client, "SET", "a", 1).startswith(
                             "MISCONF Redis is configured to save RDB snapshots, but it's currently unable"))
            report.check("in scripts too", reply(client, "EVAL", "return redis.call('SET', 'a', 1)", 0)
                         .startswith("MISCONF"))
            report.equal("reads go on", client.call("GET", "key:999"), b"x" * 1000)
            client.call("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
            report.equal("stop-writes-on-bgsave-error no", reply(client, "SET", "a", 1), "OK")
            server.process.terminate()
            report.check("SIGTERM does not give up what cannot be saved",
                         wait_for(lambda: "so the server goes on" in server.log()), server.log())
            report.equal("the server serves", client.call("GET", "a"), b"1")
            report.equal("SHUTDOWN is refused", reply(client, "SHUTDOWN"),
                         "ERR Errors trying to SHUTDOWN. Check logs.")
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                             (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            report.check("with room it is tried again by itself",
                         wait_for(lambda: info(client, "rdb_last_bgsave_status") == "ok"))
        report.equal("and then SIGTERM ends it", server.stop(), 0)
        report.equal("with all data", value_after_restart(server, "a"), b"1")


def check_during_snapshot(report):
    """SIGTERM while a snapshot is being written: what changed since it began is kept too."""
    with Server(save="3600 1") as server:
        with server.client() as client:
            client.pipeline(("SET", f"key:{i}", "x" * 100) for i in range(200_000))
            client.call("BGSAVE")
            client.call("SET", "late", 1)
        server.stop()
        report.equal("SIGTERM during BGSAVE saves what came after it began", value_after_restart(server, "late"), b"1")


def main():
    report = Report()
    check_defaults(report)
    check_end(report)
    check_end_of_turn(report)
    check_due(report)
    check_failure(report)
    check_during_snapshot(report)
    report.finish()


main()
