#!/usr/bin/env python3
"""tallyd --backup of a server that is written to and rewritten meanwhile: the copy starts, and has what was
acknowledged before it began, and nothing that was sent after it ended. One that fails leaves nothing, and one
that is killed nothing under its name."""

import os
import pathlib
import resource
import shutil
import signal
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
FILE_BYTES = 500_000  # less than the log has


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


def run_backup(*arguments, prepare=None):
    return subprocess.run([tallyd(), "--backup", *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          preexec_fn=prepare)


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


def no_room():
    """In the child: a file cannot grow beyond the limit, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def end_midway():
    """In the child: the write that reaches the limit ends the process, as kill does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def open_to_all():
    os.umask(0o022)


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())


def check_failures(report, server, folder, present):
    """Into a directory that is there, as the root of a disk, or into one that is not."""
    place = folder / f"failures-{present}"
    place.mkdir()
    to = place / "copy"
    if present:
        to.mkdir()
    kind = "into an empty directory" if present else "into a new directory"
    before, outer = names_in(place), to if present else place
    failed = run_backup(server.directory, to, prepare=no_room)
    report.check(f"{kind}: what has no room fails and says so",
                 failed.returncode == 1 and "the backup failed: write" in failed.stderr, failed)
    report.equal(f"{kind}: and leaves nothing", (names_in(place), list(outer.glob("**/*.aof"))), (before, []))
    killed = run_backup(server.directory, to, prepare=end_midway)
    report.equal(f"{kind}: one can be killed", killed.returncode, -signal.SIGXFSZ)
    left = names_in(outer)
    report.equal(f"{kind}: what it leaves is unfinished by its name", left,
                 ["appendonlydir.unfinished" if present else "copy.unfinished"])
    again = run_backup(server.directory, to)
    report.check(f"{kind}: the next one says so" , again.returncode == 1 and
                 (".unfinished is there" in again.stderr or "is not empty" in again.stderr), again)
    shutil.rmtree(outer / left[0])
    done = run_backup(server.directory, to, prepare=open_to_all)
    report.check(f"{kind}: and without it goes well", done.returncode == 0 and "unfinished" not in done.stdout, done)
    modes = {path.stat().st_mode & 0o077 for path in [to / "appendonlydir", *to.glob("**/*.*")]}
    report.equal(f"{kind}: the copy is its owner's alone", modes, {0})


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
            for present in (False, True):
                check_failures(report, server, folder, present)
    finally:
        shutil.rmtree(folder)
    report.finish()


if __name__ == "__main__":
    main()
