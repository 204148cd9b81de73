#!/usr/bin/env python3
"""What it costs to be observed: how long a scrape of /metrics holds the loop while there are many keys, and
the instructions of a call, with those of another build beside them."""

import argparse
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import time

import harness

DECISIONS = 20_000
# A name, what is sent before, and the words of the i-th call.
CASES = [
    ("FIXED, allowed", [], lambda i: ["LIMIT.TAKE", f"user:{i % 100}", "FIXED", 1_000_000, "1h"]),
    ("SLIDING, allowed", [], lambda i: ["LIMIT.TAKE", f"user:{i % 100}", "SLIDING", 1_000_000, "1h"]),
    ("BUCKET, allowed", [], lambda i: ["LIMIT.TAKE", f"user:{i % 100}", "BUCKET", 1_000_000, 1, "1s"]),
    ("POLICY, allowed", [["POLICY.SET", "login", "FIXED", 1_000_000, "1h"]],
     lambda i: ["LIMIT.TAKE", f"user:{i % 100}", "POLICY", "login"]),
    ("SLIDING, denied, 100 keys", [], lambda i: ["LIMIT.TAKE", f"user:{i % 100}", "SLIDING", 0, "1h"]),
    ("SLIDING, denied, each another key", [], lambda i: ["LIMIT.TAKE", f"user:{i}", "SLIDING", 0, "1h"]),
    ("GET", [], lambda i: ["GET", f"user:{i % 100}"]),
    ("SET", [], lambda i: ["SET", f"user:{i % 100}", "value"]),
    ("SETEX", [], lambda i: ["SETEX", f"user:{i % 100}", 3600, "1"]),
    ("RPUSH", [], lambda i: ["RPUSH", f"list:{i % 100}", 1_795_230_400 + i]),
    ("LINDEX", [["RPUSH", "list", *range(100)]], lambda i: ["LINDEX", "list", 50]),
    ("HSET", [], lambda i: ["HSET", f"hash:{i % 100}", "f", i]),
    ("SADD", [], lambda i: ["SADD", "set", f"user:{i}"]),
    ("ZADD", [], lambda i: ["ZADD", "zset", i, f"user:{i}"]),
    ("QUOTA.BUY", [["QUOTA.SETLIMIT", "book", 1, 0, 5, "30d"]],
     lambda i: ["QUOTA.BUY", "book", f"user:{i}", i, "ITEMS", 1, 0, 1]),
]


def event_loop(client):
    text = client.call("INFO", "eventloop").decode()
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def fill(client, keys):
    """A quarter each of counters with deadlines, limits, lists and sets."""
    kinds = [lambda i: ["SETEX", f"key:{i}", 100_000, i],
             lambda i: ["LIMIT.TAKE", f"key:{i}", "FIXED", 5, "24h"],
             lambda i: ["RPUSH", f"key:{i}", i], lambda i: ["SADD", f"key:{i}", i]]
    client.load(kinds[i % len(kinds)](i) for i in range(keys))


class Scraper:
    """A connection that is kept, as Prometheus keeps its own."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.reader = self.socket.makefile("rb")

    def scrape(self):
        """The bytes of the body."""
        self.socket.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        size = 0
        while (line := self.reader.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return len(self.reader.read(size))


def scrapes(binary, keys, count):
    http_port = harness.free_port()
    with harness.running("tallyd", binary, "--http-port", str(http_port)) as server:
        fill(server.client, keys)
        for i in range(1000):
            server.client.call("POLICY.SET", f"policy:{i}", "FIXED", 5, "1h")
        connection = Scraper(http_port)
        server.client.call("CONFIG", "RESETSTAT")
        fill(server.client, 4)
        times, size, before = [], 0, event_loop(server.client)
        for _ in range(count):
            begin = time.perf_counter()
            size = connection.scrape()
            times.append(1000 * (time.perf_counter() - begin))
        after = event_loop(server.client)
        spent = int(after["eventloop_duration_sum"]) - int(before["eventloop_duration_sum"])
        print(f"{keys} keys, 1000 policies: {size} bytes a scrape; of {count} scrapes the longest turn took "
              f"{after['eventloop_longest_usec']} us ({after['eventloop_longest_part']}), 99% of all turns at most "
              f"{after['eventloop_usec_p99']} us, a turn with its scrape {spent / count:.0f} us, the client waited {statistics.median(times):.2f} ms")


def instructions(binary, before, call, count):
    """All that the process executes from its start to its end."""
    with tempfile.TemporaryDirectory() as directory:
        port = harness.free_port()
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/out", str(binary),
             "--port", str(port), "--bind", "127.0.0.1", "--dir", directory, "--save", "",
             "--appendonly", "no"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = connect(port)
        for words in before:
            client.call(*words)
        client.load((call(i) for i in range(count)), batch=1000)
        client.close()
        process.terminate()
        process.wait()
        return int(re.search(r"^(?:totals|summary): (\d+)", pathlib.Path(directory, "out").read_text(),
                             re.MULTILINE).group(1))


def connect(port, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        try:
            client = harness.Client(port)
            client.call("PING")
            return client
        except (OSError, harness.ReplyError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def costs(binary, other):
    """The calls of a longer run beyond those of a shorter one, so that start and end cancel out."""
    print(f"{'instructions of one call':36} {'this':>8} {'other':>8}")
    for name, before, call in CASES:
        row = []
        for one in filter(None, (binary, other)):
            # The timers of a run that was held up take instructions too.
            few, many = (min(instructions(one, before, call, count) for _ in range(2))
                         for count in (DECISIONS // 4, DECISIONS))
            row.append((many - few) / (DECISIONS - DECISIONS // 4))
        change = f"  {100 * (row[0] / row[1] - 1):+.1f}%" if len(row) == 2 else ""
        print(f"{name:36} " + " ".join(f"{count:8.0f}" for count in row) + change, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=harness.OURS)
    parser.add_argument("--other", help="a build to compare instructions with")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--scrapes", type=int, default=200)
    parser.add_argument("--only", choices=["scrapes", "instructions"])
    options = parser.parse_args()
    if options.only != "instructions":
        scrapes(options.binary, options.keys, options.scrapes)
    if options.only != "scrapes":
        costs(options.binary, options.other)


if __name__ == "__main__":
    main()
