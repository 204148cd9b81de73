#!/usr/bin/env python3
"""How fast a server loads what it stored: a base snapshot, and a log, ours against redis-server.

Each server is filled over its socket, told to rewrite or not, stopped and started again on its
files, several times, in turns. What counts is the time that the process spent on a CPU until it
served, less that of a start without data; a load runs on one core. Printed is the best of the
rounds: the files come from the page cache.
"""

import argparse

import harness

ROUNDS = 3


def counters(count):
    """Counters of ten digits under keys of 15 bytes, half of them with a deadline."""
    for number in range(count):
        key = b"counter:%07d" % number
        if number % 2:
            yield ("SET", key, 1_000_000_000 + number)
        else:
            yield ("SET", key, 1_000_000_000 + number, "PXAT", 1_900_000_000_000 + number)


def increments(count):
    """What a busy counter service logs."""
    for number in range(count):
        yield ("INCR", b"counter:%07d" % (number * 7919 % 100_000))


def pushes(count):
    """Lists of timestamps."""
    for number in range(count):
        yield ("RPUSH", b"list:%05d" % (number * 7919 % 10_000), 1_700_000_000 + number)


def load_seconds(server):
    """CPU seconds of a start, until the server serves."""
    server.stop()
    server.start(seconds=120)
    return server.cpu_ns() / 1e9


def rewrite(server):
    server.client.call("BGREWRITEAOF")
    while server.client.info("aof_rewrite_in_progress") == "1":
        pass


def measure(name, binary, options, commands, rewritten):
    with harness.running(name, binary, "--appendonly", "yes", "--appendfsync", "no",
                         "--auto-aof-rewrite-percentage", "0", *options) as server:
        empty = min(load_seconds(server) for _ in range(ROUNDS))
        server.client.load(commands)
        if rewritten:
            rewrite(server)
        keys = server.client.call("DBSIZE")
        seconds = min(load_seconds(server) for _ in range(ROUNDS)) - empty
        if server.client.call("DBSIZE") != keys:
            raise SystemExit(f"{name} has not loaded its {keys} keys")
        return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_server_arguments(parser)
    parser.add_argument("--count", type=int, default=2_000_000, help="keys or commands")
    arguments = parser.parse_args()
    cases = [("base: counters, half with a deadline", counters, True),
             ("log: SET of counters", counters, False),
             ("log: INCR of 100,000 counters", increments, False),
             ("log: RPUSH to 10,000 lists", pushes, False)]
    rows = []
    for name, commands, rewritten in cases:
        ours = measure("tallyd", arguments.ours, [], commands(arguments.count), rewritten)
        theirs = measure("redis-server", arguments.redis, [], commands(arguments.count), rewritten)
        rows.append([name, f"{arguments.count / ours / 1e6:.2f}", f"{arguments.count / theirs / 1e6:.2f}",
                     f"{ours / theirs:.2f}"])
    header = [f"{arguments.count:,} each, million a CPU second", "tallyd", "redis", "ours/theirs, time"]
    print(harness.table(header, rows))


if __name__ == "__main__":
    main()
