#!/usr/bin/env python3
"""A name server that never answers holds nobody up but who asked for the name: not the other clients, and not the end of
the process. The test has a network of its own, in which the name servers of this machine are its own, and silent."""

import pathlib
import signal
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib import own_network  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import encode  # noqa: E402
from lib.server import Server  # noqa: E402

NAME = "slow.example.com"
SEARCH_S = 10  # what the system's resolver takes to give up: two tries of five seconds


def name_servers():
    lines = pathlib.Path("/etc/resolv.conf").read_text(encoding="utf-8").splitlines()
    return [line.split()[1] for line in lines if line.startswith("nameserver ")] or ["127.0.0.1"]


def silent_server(address):
    server = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    return server


def longest_ping(client, seconds):
    longest, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        client.call("PING")
        longest = max(longest, time.monotonic() - begin)
        time.sleep(0.01)
    return longest


def check_migrate(report, server):
    """MIGRATE gives up in its time, and what is left of the search afterwards is nobody's."""
    client = server.client()
    client.call("SET", "k", "v")
    with socket.create_connection(("127.0.0.1", server.port), 60) as caller:
        begin = time.monotonic()
        caller.sendall(encode(["MIGRATE", NAME, "6379", "k", "0", "300"]))
        longest = longest_ping(client, 2)
        reply = caller.makefile("rb").readline()
        took = time.monotonic() - begin
    report.equal("MIGRATE to a name that is not found in time", reply.split()[0], b"-IOERR")
    report.check("it ends before the search does", took < SEARCH_S / 2, f"{took:.1f} s")
    report.check("and others do not wait", longest < SEARCH_S / 2, f"{longest:.1f} s")
    report.equal("the key stays", client.call("GET", "k"), b"v")
    client.close()


def check_threads(report, server):
    """Many who ask, and give up at once, do not take all threads."""
    with socket.create_connection(("127.0.0.1", server.port), 60) as caller:
        replies = caller.makefile("rb")
        for _ in range(300):
            caller.sendall(encode(["MIGRATE", NAME, "6379", "k", "0", "1"]))
            replies.readline()
    threads = len(list(pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()))
    report.check("300 searches that were given up have left at most 64 threads", 32 < threads < 80, str(threads))


def check_end(report, server):
    """A replica that searches for its primary's name ends when it is told to."""
    client = server.client()
    client.call("REPLICAOF", NAME, "6379")
    report.check("REPLICAOF to a name that is not found: nobody waits", longest_ping(client, 1) < SEARCH_S / 2)
    client.close()
    begin = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(60)
    took = time.monotonic() - begin
    report.check("SIGTERM ends the process at once", code == 0 and took < SEARCH_S / 2, f"{code} after {took:.1f} s")


def main():
    report = Report()
    if not own_network.enter(*name_servers()):
        report.skip("no network of its own")
        report.finish()
    silent = [silent_server(address) for address in name_servers()]
    with Server() as server:
        check_migrate(report, server)
        check_threads(report, server)
        check_end(report, server)
    for one in silent:
        one.close()
    report.finish()


main()
