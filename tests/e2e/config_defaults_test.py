#!/usr/bin/env python3
"""CONFIG GET * of a redis-server that nobody has configured, beside that of this server: each parameter that one of
them lacks, whose default is another, or that only one of them lets CONFIG SET change, is named in
server/commands/differences.md; what only this server has may be in conf/tallyd.conf instead."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import ROOT, Server  # noqa: E402

PAGE = ROOT / "server/commands/differences.md"
SHIPPED = ROOT / "conf/tallyd.conf"
WORD = re.compile(r"[a-z][a-z0-9_-]+")
# What the test itself gives to each server.
GIVEN = {"port", "dir", "bind"}
LEAST = 190


class Unconfigured(Server):
    """Without the directives that other suites give."""

    def __init__(self, binary=None):
        super().__init__(binary)
        self.directives = {}


def parameters(server):
    with server.client() as client:
        reply = [word.decode() for word in client.call("CONFIG", "GET", "*")]
    return dict(zip(reply[::2], reply[1::2]))


def main():
    report = Report()
    named = set(WORD.findall(PAGE.read_text()))
    own = set(WORD.findall(SHIPPED.read_text()))
    with Unconfigured(REFERENCE) as theirs, Unconfigured() as ours:
        redis, tallyd = parameters(theirs), parameters(ours)
        report.check("redis-server has its parameters", len(redis) >= LEAST, len(redis))
        # A test listens on the loopback only, so that the default of Redis cannot be seen here.
        report.check("bind is named: Redis has '* -::*', this server '127.0.0.1 -::1'", "bind" in named)
        for name in sorted(redis.keys() | tallyd.keys()):
            if redis.get(name) == tallyd.get(name) or name in GIVEN:
                continue
            report.check(f"{name} is named: Redis has {redis.get(name)!r}, this server {tallyd.get(name)!r}",
                         name in named or (name not in redis and name in own))
        with theirs.client() as one, ours.client() as other:
            for name in sorted((redis.keys() & tallyd.keys()) - GIVEN):
                may, ours_may = sets(one, name, redis[name]), sets(other, name, redis[name])
                if may != ours_may:
                    report.check(f"{name} is named: CONFIG SET in Redis {may}, in this server {ours_may}", name in named)
    report.finish()


def sets(client, name, value):
    try:
        return client.call("CONFIG", "SET", name, value) in ("OK", b"OK")
    except ReplyError:
        return False


if __name__ == "__main__":
    main()
