#!/usr/bin/env python3
"""Scripts that do not end: who is served meanwhile, how they are ended, and what the log then holds.

What clients are told is compared with redis-server.

tests/run: also under asan
"""

import http.client
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, encode  # noqa: E402
from lib.server import Server, free_port  # noqa: E402

THRESHOLD_MS = 100
WAIT_SECONDS = 30
FOREVER = "while true do end"
WRITES_FOREVER = "redis.call('set', KEYS[1], 'half') while true do end"


def ask(client, *words):
    """The reply, an error as its text; "closed" if the connection ends instead."""
    try:
        return client.call(*words)
    except ReplyError as error:
        return str(error)
    except (ConnectionError, OSError):
        return "closed"


def read(client):
    try:
        return client.read()
    except ReplyError as error:
        return str(error)
    except (ConnectionError, OSError):
        return "closed"


def send(client, *commands):
    client.socket.sendall(b"".join(map(encode, commands)))


def wait_until_busy(client):
    deadline = time.monotonic() + WAIT_SECONDS
    while not str(ask(client, "PING")).startswith("BUSY"):
        if time.monotonic() > deadline:
            raise SystemExit("the script is not found busy")
        time.sleep(0.01)


def conversation(server):
    """What one who comes while a script is busy is told."""
    said = []
    with server.client() as runner, server.client() as other:
        send(runner, ("EVAL", FOREVER, 0), ("SET", "later", 1), ("GET", "later"))
        wait_until_busy(other)
        said += [ask(other, *words) for words in (
            ("GET", "k"), ("INFO",), ("CLIENT", "LIST"), ("EVAL", "return 1", 0), ("SCRIPT", "FLUSH"),
            ("SHUTDOWN",), ("SHUTDOWN", "SAVE"), ("AUTH", "wrong"), ("NOSUCH",), ("GET",), ("SCRIPT", "NOSUCH"),
            ("MULTI",), ("SET", "k", 1), ("EXEC",), ("WATCH", "k"), ("UNWATCH",), ("DISCARD",), ("RESET",),
            ("CONFIG", "GET", "hz"), ("SUBSCRIBE", "x"))]
        with server.client() as late:
            said += [ask(late, "PING"), ask(late, "SCRIPT", "KILL")]
        said += [read(runner), read(runner), read(runner)]
        said += [ask(other, "SCRIPT", "KILL"), ask(other, "GET", "later")]

        send(runner, ("MULTI",), ("SET", "a", 1), ("EVAL", "pcall(function() while true do end end)", 0),
             ("INCR", "a"), ("EXEC",))
        wait_until_busy(other)
        said += [ask(other, "SCRIPT", "KILL")] + [read(runner) for _ in range(5)]

        send(runner, ("EVAL", "redis.call('set', 'w', 1) for i = 1, 2e8 do end return 'done'", 0))
        wait_until_busy(other)
        said += [ask(other, "SCRIPT", "KILL"), read(runner), ask(other, "GET", "w")]
    return said


def check_conversation(report):
    with Server(busy_reply_threshold=THRESHOLD_MS) as server:
        ours = conversation(server)
    with Server(REFERENCE, busy_reply_threshold=THRESHOLD_MS) as server:
        theirs = conversation(server)
    for mine, expected in zip(ours, theirs):
        report.equal(f"told {str(expected)[:70]!r}", mine, expected)
    report.equal("as often", len(ours), len(theirs))


def check_same_turn(report):
    """Those who ran before the script in its turn are answered, and what they wrote is logged."""
    with Server(appendonly="yes", appendfsync="always", busy_reply_threshold=THRESHOLD_MS) as server:
        before = [server.client() for _ in range(40)]
        runner = before[20]
        for number, client in enumerate(before):
            if client is runner:
                send(client, ("SET", "own", 1), ("EVAL", WRITES_FOREVER, 1, "half"), ("SET", "after", 1))
            else:
                send(client, ("SET", f"key:{number}", number))
        others = [client for client in before if client is not runner]
        told = [read(client) for client in others]
        busy = sum(str(reply).startswith("BUSY") for reply in told)
        report.equal("each of the others has a reply", told.count("OK") + busy, len(others))
        wait_until_busy(others[0])
        report.check("it cannot be killed", str(ask(others[0], "SCRIPT", "KILL")).startswith("UNKILLABLE"))
        report.equal("SHUTDOWN NOSAVE ends the server", ask(others[0], "SHUTDOWN", "NOSAVE"), "closed")
        report.equal("with the exit code 0", server.process.wait(timeout=WAIT_SECONDS), 0)
        replies = [read(runner) for _ in range(3)]
        report.check("the script's client is told nothing of it", "closed" in replies[:2], replies)
        server.start()
        with server.client() as client:
            kept = client.call("MGET", *(f"key:{number}" for number, one in enumerate(before) if one is not runner))
            acknowledged = [reply == "OK" for reply in told]
            report.equal("what was acknowledged is kept", [value is not None for value in kept], acknowledged)
            report.equal("of the script nothing is", client.call("MGET", "half", "after"), [None, None])
        for client in before:
            client.close()


def check_signal(report):
    for script, name in ((FOREVER, "reads"), (WRITES_FOREVER, "has written")):
        with Server(appendonly="yes", busy_reply_threshold=THRESHOLD_MS) as server:
            with server.client() as runner, server.client() as other:
                other.call("SET", "before", 1)
                send(runner, ("MULTI",), ("SET", "with", 1), ("EVAL", script, 1, "half"), ("EXEC",))
                wait_until_busy(other)
                server.process.send_signal(signal.SIGTERM)
                report.equal(f"SIGTERM ends a server whose script {name}",
                             server.process.wait(timeout=WAIT_SECONDS), 0)
            server.start()
            with server.client() as client:
                report.equal("and its transaction is in the log whole or not at all",
                             client.call("MGET", "before", "with", "half"), [b"1", None, None])


def check_clock(report):
    """Commands of a script have one time, also of a busy one. TIME goes on, as in redis-server: some scripts wait by it."""
    with Server(busy_reply_threshold=THRESHOLD_MS) as server:
        with server.client() as runner, server.client() as other:
            send(runner, ("EVAL", "redis.call('set', 'k', '', 'px', 100000) local a = redis.call('time') "
                          "for i = 1, 2e8 do end local b = redis.call('time') "
                          "return {redis.call('pttl', 'k'), (b[1] - a[1]) * 1e6 + b[2] - a[2] > 1000}", 0))
            wait_until_busy(other)
            report.equal("the clock of a busy script does not move, but TIME goes on", read(runner), [100000, 1])


def check_clients_leave(report):
    with Server(busy_reply_threshold=THRESHOLD_MS, timeout=1) as server:
        runner = server.client()
        send(runner, ("EVAL", FOREVER, 0), ("SET", "unsent", 1))
        with server.client() as other:
            wait_until_busy(other)
            runner.close()
            for _ in range(50):
                server.client().close()
            time.sleep(1.2)
            report.equal("SCRIPT KILL, its client gone", ask(other, "SCRIPT", "KILL"), "OK")
            report.equal("the server lives", ask(other, "PING"), "PONG")
            other.call("CONFIG", "SET", "timeout", 0)


def check_memory(report):
    with Server() as server, server.client() as client:
        for script in ("local t = {} for i = 1, 1e9 do t[i] = {i} end",
                       "local s = 'x' while true do s = s .. s end",
                       "local t = {} while true do t[#t + 1] = string.rep('x', 2^20) .. #t end",
                       "return string.rep('x', 2^31 - 1)"):
            reply = ask(client, "EVAL", script, 0)
            report.check(f"too much for {script[:40]}", "not enough memory" in str(reply), reply)
            report.equal("the next one runs", ask(client, "EVAL", "return 1", 0), 1)


def check_without(report):
    with Server(scripting="no") as server, server.client() as client:
        for words in (("EVAL", "return 1", 0), ("EVALSHA", "0" * 40, 0), ("SCRIPT", "LOAD", "return 1")):
            reply = str(ask(client, *words))
            report.check(f"scripting no: {words[0]}", reply.startswith(f"ERR unknown command '{words[0]}'"), reply)


def http_status(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
    connection.request(method, path, body)
    response = connection.getresponse()
    said = response.read()
    connection.close()
    return response.status, b'"code":"BUSY"' in said


def check_http(report):
    """A script that answers nobody else makes the server not ready, and no proxy takes that for a denial."""
    port = free_port()
    asked = [("GET", "/readyz"), ("POST", "/api", '["GET", "k"]'), ("GET", "/check/p?key=k"), ("GET", "/healthz")]
    with Server(http_port=port, busy_reply_threshold=THRESHOLD_MS) as server, \
            server.client() as runner, server.client() as other:
        other.call("POLICY.SET", "p", "FIXED", 1, "1h")
        report.equal("http: ready before", http_status(port, "GET", "/readyz"), (200, False))
        send(runner, ("EVAL", FOREVER, 0))
        wait_until_busy(other)
        report.equal("http: while a script is busy", [http_status(port, *words) for words in asked],
                     [(503, True)] * 3 + [(200, False)])
        ask(other, "SCRIPT", "KILL")
        read(runner)
        report.equal("http: and after it", [http_status(port, *words)[0] for words in asked], [200] * 4)


def main():
    report = Report()
    check_conversation(report)
    check_same_turn(report)
    check_signal(report)
    check_clock(report)
    check_clients_leave(report)
    check_memory(report)
    check_without(report)
    check_http(report)
    report.finish()


main()
