#!/usr/bin/env python3
"""CLIENT TRACKING: bytes for a key that a client has read, and the server's CPU for a GET that is remembered, for one
that is remembered already, and for a SET that tells the client."""

import argparse
import contextlib
import threading

import harness

BATCH = 500


def run(server, client, commands):
    """Microseconds of the server's CPU for a command."""
    begin, count = server.cpu_ns(), 0
    for encoded, size in harness.batches(commands, BATCH):
        client.socket.sendall(encoded)
        for _ in range(size):
            client.read()
        count += size
    return (server.cpu_ns() - begin) / count / 1000


def drain(messages):
    with contextlib.suppress(OSError):  # it is closed first
        while messages.recv(1 << 16):
            pass


def measure(server, keys):
    names = [f"user:{i}:profile" for i in range(keys)]
    with contextlib.closing(server.connect()) as reader, contextlib.closing(server.connect()) as listener:
        run(server, server.client, (["SET", name, "v"] for name in names))
        untracked = run(server, reader, (["GET", name] for name in names))
        identity = listener.call("CLIENT", "ID")
        listener.call("SUBSCRIBE", "__redis__:invalidate")
        threading.Thread(target=drain, args=(listener.socket,), daemon=True).start()
        reader.call("CLIENT", "TRACKING", "ON", "REDIRECT", identity)
        used, resident = server.used_memory(), server.rss()
        first = run(server, reader, (["GET", name] for name in names))
        used, resident = server.used_memory() - used, server.rss() - resident
        again = run(server, reader, (["GET", name] for name in names))
        told = run(server, server.client, (["SET", name, "w"] for name in names))
        return [f"{used / keys:.1f}", f"{resident / keys:.1f}", *(f"{cost:.2f}" for cost in (untracked, first, again, told))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_server_arguments(parser)
    parser.add_argument("--keys", type=int, default=1_000_000)
    options = parser.parse_args()
    rows = []
    for name, path in (("tallyd", options.ours), ("redis-server", options.redis)):
        with harness.running(name, path, "--tracking-table-max-keys", "0") as server:
            rows.append([name, *measure(server, options.keys)])
    print(harness.table([f"{options.keys} keys", "used bytes a key", "resident", "GET us", "remembered", "again", "SET that tells"],
                        rows))


main()
