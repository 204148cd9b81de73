"""Runs programs against redis-server and against the server under test: they must print the same.

A program that prints the line "restart" has its server ended and started again, with what the
append-only file holds, and is then sent an empty line.
"""

import os
import subprocess
import threading

from lib.packages import OutOfReach
from lib.report import Report
from lib.server import Server, die_with_parent

REFERENCE = "redis-server"
RUN_SECONDS = 120
RESTART = "restart"


def difference(actual, expected):
    """The first line that is not as the reference's, or the whole output of a client that failed."""
    for ours, theirs in zip(actual.splitlines(), expected.splitlines()):
        if ours != theirs:
            return f"redis-server: {theirs}\nthis server:  {ours}"
    return actual


def run_program(server, command, environment):
    """What the program prints on an empty server, and how it ends."""
    with server.client() as client:
        client.call("FLUSHALL")
    process = subprocess.Popen(command(str(server.port)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace",
                               env=dict(os.environ, **environment), preexec_fn=die_with_parent)
    limit = threading.Timer(RUN_SECONDS, process.kill)
    limit.start()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.rstrip() == RESTART:
            server.stop()
            server.start()
            process.stdin.write("\n")
            process.stdin.flush()
    limit.cancel()
    return "".join(lines), process.wait()


def compare(report, servers, name, command, environment=None):
    """`servers`: the one under test and the reference. `command` takes a port."""
    (actual, ended), (expected, reference_ended) = (
        run_program(server, command, environment or {}) for server in servers)
    if not report.check(f"{name}: {len(expected.splitlines())} lines from {REFERENCE}",
                        reference_ended == 0 and expected, expected):
        return
    report.check(f"{name}: the same from this server", ended == 0 and actual == expected,
                 difference(actual, expected))


def compare_all(*groups):
    """Each group gives (name, command, environment) of its programs; what it needs is installed then."""
    report = Report()
    with Server(appendonly="yes") as server, Server(REFERENCE, appendonly="yes") as reference:
        for group in groups:
            try:
                for program in group():
                    compare(report, (server, reference), *program)
            except OutOfReach as failed:
                report.skip(f"{group.__name__}: {failed}")
    return report
