#!/usr/bin/env python3
"""A real process on a disk that takes no more, and on files that were damaged between two starts."""

import pathlib
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.disk import last_log, limit_files, reply_of  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import RespClient  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402

WAIT_SECONDS = 20


def write_status(client):
    rows = client.call("INFO", "persistence").decode().split("\r\n")
    return next(row for row in rows if row.startswith("aof_last_write_status:"))


def check_full_disk(report, policy):
    with Server(appendonly="yes", appendfsync=policy) as server, server.client() as reader:
        with server.client() as writer:
            acknowledged = [key for key in range(100) if reply_of(writer, "SET", key, key) == "OK"]
        report.equal(f"{policy}: writes are acknowledged", len(acknowledged), 100)
        limit_files(server, last_log(server).stat().st_size + 30)
        with server.client() as writer:
            report.equal(f"{policy}: a write that the disk does not take has no reply",
                         reply_of(writer, "SET", "big", "x" * 1000), "closed")
        with server.client() as writer:
            report.check(f"{policy}: later ones are told MISCONF",
                         reply_of(writer, "SET", "more", 1).startswith("MISCONF Errors writing to the AOF"))
        report.equal(f"{policy}: reads go on", reader.call("GET", 7), b"7")
        report.equal(f"{policy}: INFO says so", write_status(reader), "aof_last_write_status:err")
        limit_files(server, resource.RLIM_INFINITY)
        deadline = time.monotonic() + WAIT_SECONDS
        while reply_of(reader, "SET", "after", 1) != "OK" and time.monotonic() < deadline:
            time.sleep(0.1)
        report.equal(f"{policy}: writing resumes by itself", write_status(reader),
                     "aof_last_write_status:ok")
        server.kill()
        server.start()
        with server.client() as client:
            found = client.call("MGET", *acknowledged, "after")
        report.equal(f"{policy}: all that was acknowledged is there after kill -9", found,
                     [b"%d" % key for key in acknowledged] + [b"1"])


def check_aof(server, *options):
    done = subprocess.run([tallyd(), "--check-aof", str(server.directory / "appendonlydir"), *options],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def fill(server):
    with server.client() as client:
        for key in range(10):
            client.call("SET", key, key)
        client.call("BGREWRITEAOF")
        while b"aof_rewrite_in_progress:1" in client.call("INFO", "persistence"):
            time.sleep(0.01)
        for key in range(10, 20):
            client.call("SET", key, key)
    server.stop()


def check_torn_tail(report):
    with Server(appendonly="yes", appendfsync="always") as server:
        fill(server)
        log = last_log(server)
        whole = log.read_bytes()
        code, told = check_aof(server)
        # Ten keys and a record that says how many; in the log a place in the stream comes first.
        report.check("--check-aof: whole files, part by part", code == 0
                     and "11 records" in told and "11 batches" in told and "result: whole" in told, told)
        log.write_bytes(whole + b"*3\r\n$3\r\nSET\r\n$5\r\nhalfw")
        code, told = check_aof(server)
        report.check("--check-aof: a torn tail is shown, and changes nothing", code == 1
                     and f"at offset {len(whole)}" in told and "halfw" in told
                     and log.stat().st_size == len(whole) + 22, told)
        code, told = check_aof(server, "--fix")
        report.check("--check-aof --fix: the tail is shown, then cut", code == 0 and "halfw" in told
                     and told.index("halfw") < told.index("fixed:") and log.read_bytes() == whole, told)
        server.start()
        with server.client() as client:
            report.equal("the server starts from what was fixed", client.call("DBSIZE"), 20)


def check_damage(report):
    with Server(appendonly="yes", appendfsync="always") as server:
        fill(server)
        log = last_log(server)
        whole = log.read_bytes()
        offset = len(whole) // 2
        log.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1:])
        code, told = check_aof(server, "--fix")
        report.check("--check-aof --fix: damage is told with its offset and left", code == 1
                     and "first bad:" in told and "DAMAGED" in told and "truncate -s" in told
                     and log.read_bytes() != whole, told)
        server.launch()
        report.check("the server does not start from it", server.process.wait(WAIT_SECONDS) != 0)
        report.check("and names file and offset", f"{log.name} offset " in server.log(), server.log())
        log.write_bytes(whole)
        server.start()
        with RespClient(server.port) as client:
            report.equal("it does when the byte is right again", client.call("DBSIZE"), 20)


def main():
    report = Report()
    for policy in ("always", "everysec", "no"):
        check_full_disk(report, policy)
    check_torn_tail(report)
    check_damage(report)
    report.finish()


main()
