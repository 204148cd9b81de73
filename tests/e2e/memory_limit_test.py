#!/usr/bin/env python3
"""A real process that gets no more memory: it ends and says so, and has lost nothing acknowledged."""

import pathlib
import resource
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import RespClient  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402

MIB = 1 << 20
ROOM = 150 * MIB


def address_space(pid):
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def limit_memory(server):
    """What the process has now, and some more."""
    limit = address_space(server.process.pid) + ROOM
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def write_until_it_ends(server, command, size):
    """Returns how many writes were acknowledged."""
    acknowledged = 0
    value = "x" * size
    with server.client() as client:
        try:
            while acknowledged < 10_000:
                client.call(*command(acknowledged, value))
                acknowledged += 1
        except (ConnectionError, OSError):
            pass
    return acknowledged


COMMANDS = {
    "small strings": (lambda n, value: ("SET", f"key{n}", value), 200_000),
    "large strings": (lambda n, value: ("SET", f"key{n}", value), 5 * MIB),
    "fields": (lambda n, value: ("HSET", "hash", f"field{n}", value), 300_000),
    "members": (lambda n, value: ("SADD", "set", f"{n}{value}"), 1_000_000),
    "a growing string": (lambda n, value: ("APPEND", "text", value), 1_000_000),
}
COUNTS = {"fields": ("HLEN", "hash"), "members": ("SCARD", "set")}


def count(server, name, size):
    with RespClient(server.port) as client:
        if name == "a growing string":
            return client.call("STRLEN", "text") // size
        return client.call(*COUNTS.get(name, ("DBSIZE",)))


def check(report, name, command, size):
    with Server(appendonly="yes", appendfsync="always") as server:
        limit_memory(server)
        acknowledged = write_until_it_ends(server, command, size)
        status = server.process.wait(timeout=60)
        report.check(f"{name}: some are acknowledged", acknowledged > 0)
        report.equal(f"{name}: the process aborts", status, -signal.SIGABRT)
        report.check(f"{name}: it says why", "memory" in server.log().lower(), server.log())
        examined = subprocess.run([tallyd(), "--check-aof", str(server.directory)],
                                  capture_output=True, text=True, check=False)
        report.check(f"{name}: the log is whole, or its last batch torn",
                     "DAMAGED" not in examined.stdout and "result: whole" in examined.stdout)
        server.start()
        found = count(server, name, size)
        # The last one may have been logged, and its reply not sent.
        report.check(f"{name}: all {acknowledged} acknowledged are there: {found}",
                     found in (acknowledged, acknowledged + 1))


def main():
    report = Report()
    for name, (command, size) in COMMANDS.items():
        check(report, name, command, size)
    report.finish()


main()
