"""Runs a client program through kills of its server, and compares the server with a recount.

The program reads requests, one a line, on stdin, and on stdout it writes a line of JSON
  for each reply:     {"sent": [base64…], "from": ms, "at": ms, "got": integer, base64, list or null}
  for each request:   {"answer": anything}
  when it fails:      {"lost": [base64…], "from": ms}   the command that was not answered; then it exits
so what was acknowledged is known even when a kill cuts the program short.
"""

import base64
import json
import subprocess
import tempfile
import time

from lib.counter_model import CounterModel, dump
from lib.server import die_with_parent

CUT_SHORT = object()   # In place of an answer: a kill came before it.


class CrashRun:
    """`tolerated_ms`: how old acknowledged writes may be that a kill loses; 0 for appendfsync always."""

    def __init__(self, report, server, program, tolerated_ms):
        self.report = report
        self.server = server
        self.program = program
        self.tolerated_ms = tolerated_ms
        self.model = CounterModel()
        self.checkpoint = CounterModel()  # What the server held when it was last compared.
        self.history = []                 # The commands since: (command, sent at, answered at).
        self.commands = 0
        self.wrong_replies = []
        self.in_doubt = None              # The command that the last kill left without an answer.

    def run(self, requests, kill_after):
        """Yields (index, answer) for each request; the answer is CUT_SHORT where a kill came first.

        kill_after: the lines of the journal before each kill, counted from the kill before it.
        """
        kill_after = list(kill_after)
        index = 0
        while index < len(requests):
            limit = kill_after.pop(0) if kill_after else None
            for answer in self._run_program(requests[index:], limit):
                yield index, answer
                index += 1
            if self.server.process.poll() is not None:
                killed_at = time.time() * 1000
                self.server.start()
                self._settle(killed_at)
                if index < len(requests):
                    yield index, CUT_SHORT
                    index += 1

    def apply_directly(self, command):
        """Lets a plain client send a command, so that the recount knows of it."""
        with self.server.client() as client:
            start = time.time() * 1000
            client.call(*command)
            self._acknowledge(command, start, time.time() * 1000)

    def compare(self, what):
        """The server holds exactly what was acknowledged."""
        with self.server.client() as client:
            found = dump(client)
        wrong = self.model.differences(found)
        self.report.check(f"{what}: {len(found)} keys and their deadlines are as acknowledged", not wrong,
                          f"{len(wrong)} are not: {[(key, found.get(key)) for key in list(wrong)[:3]]}")

    def check_replies(self):
        self.report.check(f"{self.commands} replies are those of the recount", not self.wrong_replies,
                          f"{len(self.wrong_replies)} are not: {self.wrong_replies[:3]}")

    def _run_program(self, requests, limit):
        with tempfile.TemporaryFile() as lines:
            lines.write(b"".join(request + b"\n" for request in requests))
            lines.seek(0)
            process = subprocess.Popen(self.program, stdin=lines, stdout=subprocess.PIPE,
                                       preexec_fn=die_with_parent)
        killed = False
        for line in process.stdout:
            record = json.loads(line)
            if "answer" in record:
                yield record["answer"]
            elif "lost" in record:
                self.in_doubt = (decode_list(record["lost"]), record["from"])
            else:
                self._record(record)
            if limit is not None:
                limit -= 1
                if limit == 0:
                    self.server.kill()
                    killed = True
        if process.wait() != 0 and not killed:
            raise RuntimeError(f"{self.program} failed; the server's log:\n{self.server.log()}")

    def _record(self, record):
        command, got = decode_list(record["sent"]), decode(record["got"])
        expected = self._acknowledge(command, record["from"], record["at"])
        if expected != got:
            self.wrong_replies.append((command, got, expected))

    def _acknowledge(self, command, sent_at, answered_at):
        self.commands += 1
        self.history.append((command, sent_at, answered_at))
        return self.model.apply(command, sent_at, answered_at)

    def _settle(self, killed_at):
        """After a restart: finds how much of the history the server kept, and goes on from there."""
        acknowledged = len(self.history)
        if self.in_doubt and self.in_doubt[0]:
            self.history.append((*self.in_doubt, time.time() * 1000))
        self.in_doubt = None
        with self.server.client() as client:
            found = dump(client)
        kept = self._longest_match(found)
        what = f"kill -9 after {acknowledged} commands: {len(found)} keys and their deadlines are as acknowledged"
        if kept is None:
            self.report.check(what, False, "no prefix of the commands leads to what the server holds\n"
                              + self.server.log()[-1500:])
        else:
            lost = self.history[kept:acknowledged]
            tolerable = self.tolerated_ms and all(answered >= killed_at - self.tolerated_ms
                                                  for _, _, answered in lost)
            self.report.check(what, not lost or tolerable, f"{len(lost)} are lost, from {lost[:1]}")
            if lost:
                self.report.note(f"        the last {len(lost)} commands are lost")
            self.model = self._replay(kept)
        self.checkpoint, self.history = self.model.copy(), []

    def _replay(self, count):
        model = self.checkpoint.copy()
        for command, sent_at, answered_at in self.history[:count]:
            model.apply(command, sent_at, answered_at)
        return model

    def _longest_match(self, found):
        """The longest prefix of the history that leads to what was found, or None."""
        model = self.checkpoint.copy()
        wrong = model.differences(found)
        match = None if wrong else 0
        for length, (command, sent_at, answered_at) in enumerate(self.history, 1):
            model.apply(command, sent_at, answered_at)
            for key in command[1:]:
                if model.holds(key, found.get(key)):
                    wrong.discard(key)
                else:
                    wrong.add(key)
            if not wrong:
                match = length
        return match


def decode(value):
    if isinstance(value, str):
        return base64.b64decode(value)
    return decode_list(value) if isinstance(value, list) else value


def decode_list(values):
    return [decode(value) for value in values]
