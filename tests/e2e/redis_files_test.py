#!/usr/bin/env python3
"""Files of Redis where tallyd starts: they are named, with what to do, and what that says works."""

import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402

WAIT_SECONDS = 30
STEPS = ["CONFIG SET aof-use-rdb-preamble no", "BGREWRITEAOF", "redis-cli --pipe"]


def fill(client):
    client.call("SET", "text", "value with blanks\r\n")
    client.call("SET", "leased", "1", "EX", "10000")
    client.call("RPUSH", "list", *range(1000))
    client.call("HSET", "hash", "field", "value")
    client.call("SADD", "set", *(f"member{n}" for n in range(1000)))
    client.call("SELECT", "3")
    client.call("ZADD", "scores", "1.5", "one", "inf", "two")
    client.call("SELECT", "0")


def contents(client):
    found = [client.call("DBSIZE"), client.call("GET", "text"), client.call("LRANGE", "list", 0, -1),
             client.call("HGETALL", "hash"), sorted(client.call("SMEMBERS", "set")),
             client.call("EXPIRETIME", "leased")]
    client.call("SELECT", "3")
    return found + [client.call("ZRANGE", "scores", 0, -1, "WITHSCORES")]


def run_in(directory, *directives):
    """Starts tallyd on files that it refuses."""
    return subprocess.run([tallyd(), "--port", "0", "--dir", str(directory), *directives],
                          capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)


def check_manifest(report, redis):
    for directives in (["--appendonly", "yes"], ["--appendonly", "no"]):
        done = run_in(redis.directory, *directives)
        said = done.stdout + done.stderr
        report.check(f"{' '.join(directives)}: files of Redis stop the start", done.returncode != 0)
        report.check(f"{' '.join(directives)}: and are named, with what to do",
                     "written by Redis" in said and all(step in said for step in STEPS), said)
    done = subprocess.run([tallyd(), "--check-aof", str(redis.directory)], capture_output=True,
                          text=True, check=False)
    report.check("--check-aof names them too", "written by Redis" in done.stdout, done.stdout)


def replay(redis, server):
    """The steps of the message."""
    with redis.client() as client:
        client.call("CONFIG", "SET", "aof-use-rdb-preamble", "no")
        client.call("BGREWRITEAOF")
    deadline = time.monotonic() + WAIT_SECONDS
    bases = []
    while not bases and time.monotonic() < deadline:
        bases = list((redis.directory / "appendonlydir").glob("*.base.aof"))
        time.sleep(0.1)
    with open(bases[0], "rb") as base:
        return subprocess.run(["redis-cli", "-p", str(server.port), "--pipe"], stdin=base,
                              capture_output=True, text=True, check=False).stdout


def check_snapshot(report, redis):
    server = Server(appendonly="no")
    shutil.copy(redis.directory / "dump.rdb", server.directory / "dump.rdb")
    with server:
        said = server.log()
    report.check("a dump.rdb is named, with what to do",
                 "dump.rdb" in said and all(step in said for step in STEPS), said)


def main():
    report = Report()
    if shutil.which("redis-server") is None:
        report.skip("redis-server is not installed")
        report.finish()
    with Server(binary="redis-server", appendonly="yes") as redis, Server(appendonly="yes") as server:
        with redis.client() as client:
            fill(client)
            client.call("SAVE")
            expected = contents(client)
        check_manifest(report, redis)
        report.check("what the message says can be done", "errors: 0" in replay(redis, server))
        with server.client() as client:
            report.equal("all of the data has come", contents(client), expected)
        check_snapshot(report, redis)
    report.finish()


main()
