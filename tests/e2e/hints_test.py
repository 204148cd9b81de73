#!/usr/bin/env python3
"""redis-cli in a terminal shows the arguments of a command as one types it: of tallyd's own commands, and of
Redis's the same as beside redis-server."""

import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.server import Server  # noqa: E402

ROWS, COLUMNS = 24, 250
HANGS_SECONDS = 60
NATIVE = {
    "LIMIT.TAKE": "key rule [rule ...] [AND key rule [rule ...] [AND key rule [rule ...] ...]] [COST n] [ONCE id] [AT t]",
    "QUOTA.BUY": "book user order ITEMS sku action qty [sku action qty ...] [AT t] [ONCE] [HOLD ttl]",
    "HITS.ADD": "key window [COUNT n] [AT t] [CAP max]",
    "ACTIVE.TOUCH": "key id [id ...]",
    "ACTIVE.TOUCHAT": "key t id [id ...]",
}
SHARED = ["SET", "ZADD", "SORT", "EXPIRE", "OBJECT FREQ", "CLIENT KILL"]
CLEAR_LINE = b"\x15"


class Terminal:
    """redis-cli in a pseudo-terminal."""

    def __init__(self, port):
        self.file, screen = pty.openpty()
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = dict(os.environ, TERM="xterm", REDISCLI_HISTFILE="/dev/null")
        self.process = subprocess.Popen(["redis-cli", "-p", str(port)], stdin=screen, stdout=screen,
                                        stderr=screen, env=environment, start_new_session=True)
        os.close(screen)
        self.wait_for("> ")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.file)

    def hint(self, command):
        """What redis-cli shows after the command and a blank."""
        os.write(self.file, CLEAR_LINE + command.encode() + b" ")
        # It draws the line anew at each key, and then puts the cursor where it was.
        shown = self.wait_for(r"> " + re.escape(command) + r" ([^\r]*)\r\x1b\[\d+C")
        return re.sub(r"\x1b\[[0-9;]*m", "", shown).strip()

    def wait_for(self, pattern):
        """What the pattern's group, or all of it, matches in what is shown from now on."""
        shown = ""
        while not (found := re.search(pattern, shown)):
            if not select.select([self.file], [], [], HANGS_SECONDS)[0]:
                raise SystemExit(f"redis-cli hangs after {shown!r}")
            shown += os.read(self.file, 65536).decode(errors="replace")
        return found[found.lastindex or 0]


def hints(port, commands):
    with Terminal(port) as terminal:
        return {command: terminal.hint(command) for command in commands}


def main():
    report = Report()
    with Server() as server, Server(REFERENCE) as reference:
        shown = hints(server.port, [*NATIVE, *SHARED])
        expected = NATIVE | hints(reference.port, SHARED)
    for command, hint in expected.items():
        report.equal(command, shown[command], hint)
    report.check("redis-server has hints too", all(expected[command] for command in SHARED))
    report.finish()


main()
