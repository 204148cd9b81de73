#!/usr/bin/env python3
"""Every block of conf/replication.md does what it says: the lines are run as they stand, for two servers of the test
in place of tally-a and tally-b, while a client writes to whichever of them takes its writes."""

import contextlib
import pathlib
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient  # noqa: E402
from lib.server import ROOT, Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

PAGE = ROOT / "conf/replication.md"
BLOCK = re.compile(r"^## (?P<section>[^\n]*)$|^```sh\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
RUN_SECONDS = 120


class Writer(threading.Thread):
    """Sets keys of its own on the server that takes writes, and keeps those that were acknowledged."""

    def __init__(self, servers):
        super().__init__(daemon=True)
        self.servers = servers
        self.acknowledged = []
        self.instants = []
        self.stopped = False

    def run(self):
        at = 0
        while not self.stopped:
            with contextlib.suppress(OSError, ReplyError), RespClient(self.servers[at % 2].port) as client:
                while not self.stopped:
                    key = f"key:{len(self.instants)}:{time.monotonic_ns()}"
                    client.call("SET", key, "1")
                    self.acknowledged.append(key)
                    self.instants.append(time.monotonic())
            at += 1
            time.sleep(0.01)

    def goes_on(self):
        before = len(self.acknowledged)
        return wait_for(lambda: len(self.acknowledged) > before + 100)

    def longest_pause(self):
        return max(later - earlier for earlier, later in zip(self.instants, self.instants[1:]))

    def lost(self, server):
        with server.client() as client:
            held = client.pipeline(["EXISTS", key] for key in self.acknowledged)
        return len(held) - sum(held)


class Shell:
    """Runs blocks with the two servers in place of the page's."""

    def __init__(self, report, servers):
        self.report = report
        self.servers = dict(zip(("tally-a", "tally-b"), servers))

    def run(self, section, lines):
        """Line by line, so that what is asked of systemd can be done here."""
        for line in lines.splitlines():
            restarted = re.fullmatch(r"ssh (tally-[ab]) systemctl restart tallyd", line)
            if restarted:
                server = self.servers[restarted[1]]
                server.stop()
                server.start()
                continue
            for name, server in self.servers.items():
                line = line.replace(f"-h {name}", f"-e -h 127.0.0.1 -p {server.port}")
                line = line.replace(f"{name} 6379", f"127.0.0.1 {server.port}")
            done = subprocess.run(["bash", "-c", "set -euo pipefail\n" + line], capture_output=True, text=True,
                                  timeout=RUN_SECONDS, check=False)
            self.report.equal(f"{section}: {line}", (done.returncode, done.stderr), (0, ""))


def role(server):
    with server.client() as client:
        return client.call("ROLE")[0]


def main():
    report = Report()
    blocks = {}
    section = ""
    for match in BLOCK.finditer(PAGE.read_text()):
        section = match["section"] or section
        if match["lines"]:
            blocks[section] = match["lines"]
    servers = [Server(config="# kept by CONFIG REWRITE\n", appendonly="yes", repl_diskless_sync_delay=0)
               for _ in range(2)]
    a, b = servers
    with a, b:
        shell = Shell(report, servers)
        with b.client() as client:
            client.call("SET", "of the replica", "1")
        writer = Writer(servers)
        writer.start()
        report.check("a client writes", writer.goes_on())
        for section, expected in (("Build a pair", (a, b)), ("Fail over by hand", (b, a)),
                                  ("Upgrade one after the other", (a, b))):
            shell.run(section, blocks.pop(section))
            report.check(f"{section}: writes go on", writer.goes_on())
            report.equal(f"{section}: the roles", [role(server) for server in expected], [b"master", b"slave"])
        writer.stopped = True
        writer.join()
        report.note(f"{len(writer.acknowledged)} writes, the longest pause {writer.longest_pause():.2f} s")
        report.equal("nothing that was acknowledged is lost", writer.lost(a), 0)
        with a.client() as client:
            report.equal("what the replica held before is gone", client.call("EXISTS", "of the replica"), 0)
            client.call("WAIT", 1, 60_000)
        a.kill()
        shell.run("The primary is gone", blocks.pop("The primary is gone"))
        report.equal("the other is the primary", role(b), b"master")
        report.equal("with all that was acknowledged", writer.lost(b), 0)
        report.equal("no block was left out", blocks, {})
    report.finish()


main()
