#!/usr/bin/env python3
"""Memory goes back to the system by itself, within seconds, after most of what was held has been
deleted: by DEL, by expiry and by FLUSHALL, while nobody asks anything of the server."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import Server  # noqa: E402

KEYS = 200_000
BATCH = 1000
MIB = 1 << 20
PATIENCE_SECONDS = 60


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def names():
    for begin in range(0, KEYS, BATCH):
        yield [f"key:{i}" for i in range(begin, begin + BATCH)]


def load(client):
    for batch in names():
        client.call("MSET", *[word for name in batch for word in (name, "v" * 200)])


def delete(client):
    for batch in names():
        client.call("DEL", *batch)


def expire(client):
    at = int(time.time() * 1000) + 1000
    for batch in names():
        client.pipeline([("PEXPIREAT", name, at) for name in batch])


def flush(client):
    client.call("FLUSHALL")


def check(report, remove):
    with Server(appendonly="no") as server:
        client = server.client()
        empty = resident(server)
        load(client)
        full = resident(server)
        remove(client)
        # The server has nothing to do meanwhile: no request comes.
        end = time.monotonic() + PATIENCE_SECONDS
        while (now := resident(server)) > empty + (full - empty) / 3 and time.monotonic() < end:
            time.sleep(0.2)
        report.check(f"{remove.__name__}: memory goes back", now <= empty + (full - empty) / 3,
                     f"{empty // MIB} MiB empty, {full // MIB} full, {now // MIB} afterwards")
        report.check(f"{remove.__name__}: no key is left", client.call("DBSIZE") == 0)


def main():
    report = Report()
    for remove in (delete, expire, flush):
        check(report, remove)
    report.finish()


main()
