#!/usr/bin/env python3
"""tallyd --backup of a server that is written to and rewritten meanwhile: the copy starts, and has what was
acknowledged before it began, and nothing that was sent after it ended."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402

WRITERS = 4
BACKUPS = 5
PIPELINE = 50


class Writer(threading.Thread):
    """Counts its own key up, and knows what was sent and what was acknowledged."""

    def __init__(self, port, name):
        super().__init__(daemon=True)
        self.client = RespClient(port)
        self.key = f"count:{name}"
        self.sent = self.acknowledged = 0
        self.goes_on = True

    def run(self):
        while self.goes_on:
            self.sent += PIPELINE
            # A long text beside each count, so that the files have some length.
            replies = self.client.pipeline([("INCR", self.key), ("SET", f"{self.key}:{self.sent % 997}", "x" * 2000)]
                                           * PIPELINE)
            self.acknowledged = max(reply for reply in replies if isinstance(reply, int))


def run_backup(*arguments):
    return subprocess.run([tallyd(), "--backup", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def counts_in(directory, writers):
    with Server(appendonly="yes") as server:
        server.stop()
        shutil.rmtree(server.directory / "appendonlydir")
        shutil.copytree(directory / "appendonlydir", server.directory / "appendonlydir")
        server.start()
        with server.client() as client:
            return [int(client.call("GET", writer.key) or 0) for writer in writers]


def begin_rewrite(server):
    with server.client() as client:
        try:
            client.call("BGREWRITEAOF")
        except ReplyError as error:
            assert "already in progress" in str(error), error


def back_up_under_load(report, server, writers, attempt, folder):
    to = folder / f"backup-{attempt}"
    if attempt % 2 == 1:
        begin_rewrite(server)
    before = [writer.acknowledged for writer in writers]
    done = run_backup(server.directory, to)
    after = [writer.sent for writer in writers]
    report.equal(f"backup {attempt} succeeds", (done.returncode, done.stderr), (0, ""))
    report.check("and says what it holds", "result: whole" in done.stdout, done.stdout)
    held = counts_in(to, writers)
    report.check("it has all that was acknowledged before, and nothing from after",
                 all(low <= count <= high for low, count, high in zip(before, held, after)), (before, held, after))


def check_refusals(report, server, folder):
    (folder / "full").mkdir()
    (folder / "full/notes").write_text("mine")
    refused = run_backup(server.directory, folder / "full")
    report.check("a directory with anything in it is refused",
                 refused.returncode == 1 and "is not empty" in refused.stderr, refused.stderr)
    report.equal("and left alone", [path.name for path in (folder / "full").iterdir()], ["notes"])
    nothing = run_backup(folder / "full", folder / "other")
    report.check("what is no data of a server is said", nothing.returncode == 1 and "no manifest" in nothing.stderr,
                 nothing.stderr)
    usage = run_backup(server.directory)
    report.check("and how it is called", usage.returncode == 1 and "--backup takes" in usage.stderr, usage.stderr)


def main():
    report = Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="backup-"))
    try:
        with Server(appendonly="yes", auto_aof_rewrite_percentage=50, auto_aof_rewrite_min_size="4mb") as server:
            writers = [Writer(server.port, i) for i in range(WRITERS)]
            for writer in writers:
                writer.start()
            for attempt in range(BACKUPS):
                back_up_under_load(report, server, writers, attempt, folder)
            for writer in writers:
                writer.goes_on = False
                writer.join()
            report.check("there was load all the time", all(writer.acknowledged > 1000 for writer in writers))
            check_refusals(report, server, folder)
    finally:
        shutil.rmtree(folder)
    report.finish()


if __name__ == "__main__":
    main()
