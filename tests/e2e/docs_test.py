#!/usr/bin/env python3
"""Every transcript of the documents is what the server answers.

A transcript is a block of ```console lines: `$ redis-cli …` or `$ curl …` and what it prints. The blocks of a page
run in order against one server, whose clock is set to 2026-11-22 12:00 UTC; a comment of its own line
in the page, <!-- advance MS -->, moves it on. A block of ```python runs too, with the server's port in
place of the default one, and prints what its last comment says. UPDATE_DOCS=1 in the environment writes what the server answers into the pages.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import ROOT, Server, free_port  # noqa: E402

NOON_MS = 1795348800000
RUN_SECONDS = 60
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("server/commands/*.md")),
         "server/http/http.md",
         *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("conf/**/*.md"))]
STEP = re.compile(r"^```console\n(?P<console>\$ (?:redis-cli|curl) .*?)^```$|^```python\n(?P<python>.*?)^```$"
                  r"|^<!-- advance (?P<advance>\d+) -->$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n", re.MULTILINE)


class Shell:
    """A shell in which redis-cli and curl talk to the server as a person at a terminal sees it."""

    def __init__(self, server, http_port, directory):
        self.port = server.port
        wrapper = pathlib.Path(directory, "redis-cli")
        wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/redis-cli -p {server.port} --no-raw "$@"\n')
        wrapper.chmod(0o755)
        curl = pathlib.Path(directory, "curl")
        curl.write_text(f'#!/bin/sh\nexec /usr/bin/curl -s --connect-to ::127.0.0.1:{http_port} "$@"\n')
        curl.chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{directory}:{os.environ['PATH']}")

    def run(self, command):
        return self._print(["bash", "-c", command])

    def python(self, program):
        here = program.replace("redis.Redis(", f"redis.Redis(port={self.port}, ")
        return self._print(["/usr/bin/python3", "-c", here])

    def _print(self, words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
                              env=self.environment)
        return (done.stdout + done.stderr).rstrip("\n") + "\n"


def transcript(shell, text):
    """The block as the server answers it: each command, and what it prints."""
    return "".join(f"$ {command}\n{shell.run(command)}" for command in COMMAND.findall(text))


def check_page(report, page):
    text = (ROOT / page).read_text()
    answered = []
    http_port = free_port()
    with Server(enable_debug_command="yes", http_port=http_port) as server, tempfile.TemporaryDirectory() as directory, \
            server.client() as client:
        client.call("DEBUG", "CLOCK", "SET", NOON_MS)
        shell = Shell(server, http_port, directory)
        checked = end = 0
        for step in STEP.finditer(text):
            answered.append(text[end:step.start()])
            end = step.start()
            if step["advance"]:
                client.call("DEBUG", "CLOCK", "ADVANCE", f"{step['advance']}ms")
            elif step["python"]:
                checked += 1
                report.equal(f"{page}: the program prints what its comment says",
                             shell.python(step["python"]), promised(step["python"]))
            else:
                checked += 1
                said = transcript(shell, step["console"])
                line = text.count("\n", 0, step.start()) + 1
                if "UPDATE_DOCS" not in os.environ:
                    report.equal(f"{page}:{line}", said, step["console"])
                answered.append(f"```console\n{said}```")
                end = step.end()
        answered.append(text[end:])
    if "UPDATE_DOCS" in os.environ:
        (ROOT / page).write_text("".join(answered))
    return checked


def promised(program):
    """What a program's comment `# prints "one", "two"` says: a line each."""
    comment = re.search(r"^# prints (.*)$", program, re.MULTILINE)
    return "".join(f"{line}\n" for line in re.findall(r'"([^"]*)"', comment[1]))


def main():
    report = Report()
    checked = {page: check_page(report, page) for page in PAGES}
    report.check("the README has transcripts", checked["README.md"] > 2, checked)
    report.finish()


main()
