#!/usr/bin/env python3
"""What an open page costs the server: its CPU while nobody looks, and while tabs read GET /events and, as
the page's view of limits does, ask for its tables every five seconds."""

import argparse
import json
import socket
import threading
import time

import harness

TABLES = [["POLICY.LIST"], ["INFO", "limits"], ["DENIALS", "WINDOW", "5m", "COUNT", "20"], ["HOTKEYS", "GET"], ["TIME"],
          ["INFO", "server"]]


def open_request(port, first_line, body=b""):
    """A connection on which one request has been sent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    head = f"{first_line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


def watch(port, stop):
    """Reads events until the time is over, as a tab does."""
    with open_request(port, "GET /events") as connection:
        while not stop.is_set():
            if not connection.recv(65536):
                raise SystemExit("the stream of events ended")


def ask(port, stop):
    body = json.dumps(TABLES).encode()
    while not stop.wait(5):
        with open_request(port, "POST /api", body) as connection:
            if not connection.recv(65536).startswith(b"HTTP/1.1 200"):
                raise SystemExit("the tables are refused")


def share(server, http_port, tabs, seconds, asks):
    """CPU of the server as a share of a core, with this many tabs open."""
    stop = threading.Event()
    threads = [threading.Thread(target=job, args=(http_port, stop), daemon=True)
               for job in [watch] * tabs + [ask] * (tabs if asks else 0)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    before = server.cpu_ns()
    time.sleep(seconds)
    used = (server.cpu_ns() - before) / 1e9 / seconds
    stop.set()
    for thread in threads:
        thread.join()
    return used


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--binary", default=str(harness.OURS))
    arguments = parser.parse_args()
    http_port = harness.free_port()
    with harness.running("tallyd", arguments.binary, "--appendonly", "no", "--http-port", str(http_port)) as server:
        server.client.load((["SET", f"key:{i}", i, "EX", 86400] for i in range(arguments.keys)), batch=1000)
        server.client.call("POLICY.SET", "api", "FIXED", 5, "10m")
        for tabs, asks in ((0, False), (1, False), (1, True), (10, True)):
            used = share(server, http_port, tabs, arguments.seconds, asks)
            print(f"{tabs:3} tabs, {'view of limits' if asks else 'overview':15} {100 * used:6.2f}% of a core", flush=True)


main()
