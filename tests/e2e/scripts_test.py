#!/usr/bin/env python3
"""Scripts, on the server and on redis-server, in both protocols: the replies are compared byte for byte.

The corpus is tests/e2e/scripts/*.lua. A file holds scripts, parted by lines of "---". Each file runs
on fresh servers, its scripts one after the other, each with two keys and three arguments.
A script whose first line is "-- differs: why" only has to be answered by the server.

tests/run: also under asan
"""

import pathlib
import socket
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import encode  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.sockets import is_instrumented  # noqa: E402

KEYS = ["key:{one}", "key:{two}"]
ARGUMENTS = ["10", "-3.5", "some text"]
LAST = b"$6\r\n<last>\r\n"


class Wire:
    """A connection whose replies are their bytes."""

    def __init__(self, port, protocol):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.ask("HELLO", protocol)

    def ask(self, *words):
        self.socket.sendall(encode(words) + encode(["ECHO", "<last>"]))
        received = b""
        while not received.endswith(LAST):
            bytes_read = self.socket.recv(1 << 16)
            if not bytes_read:
                raise ConnectionError(f"the connection was closed by {words!r}")
            received += bytes_read
        return received[:-len(LAST)]

    def run(self, script):
        return self.ask("EVAL", script, len(KEYS), *KEYS, *ARGUMENTS)

    def close(self):
        self.socket.close()


def scripts_of(path):
    return [script.strip("\n") for script in path.read_text().split("\n---\n") if script.strip("\n")]


def compare(report, path, protocol):
    with Server() as ours, Server(REFERENCE) as theirs:
        left, right = Wire(ours.port, protocol), Wire(theirs.port, protocol)
        different, count = [], 0
        for script in scripts_of(path):
            count += 1
            mine = left.run(script)
            if script.startswith("-- differs:"):
                continue
            expected = right.run(script)
            if mine != expected:
                different.append(f"{script}\n   expected {expected!r}\n   but got  {mine!r}")
        left.close()
        right.close()
    report.check(f"{count} scripts of {path.stem} in RESP{protocol}", not different,
                 f"{len(different)} differ:\n" + "\n".join(different))


def check_endless(report):
    """A table that holds itself makes a reply without an end. It is an error once it is too large."""
    with Server() as server:
        wire = Wire(server.port, 2)
        for script in ["local t = {} t[1] = t t[2] = t return t",
                       "local t = {} for i = 1, 60 do t = {t, t} end return t",
                       "local t = {} t.map = {[1] = t, [2] = t} return t"]:
            report.check(f"{script} is an error", b"the reply is too large" in wire.ask("EVAL", script, "0"))
        report.check("the next script runs", wire.ask("EVAL", "return 1", "0").startswith(b":1\r\n"))
        wire.close()


def main():
    report = Report()
    if not is_instrumented():  # it would take minutes
        check_endless(report)
    for path in sorted((HERE / "scripts").glob("*.lua")):
        for protocol in (2, 3):
            compare(report, path, protocol)
    report.finish()


if __name__ == "__main__":
    main()
