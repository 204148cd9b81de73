#!/usr/bin/env python3
"""CPU of one write to a value of each type, small and large: no write should cost the size of its value. Writes that
Redis has are measured on redis-server too."""

import argparse
import itertools
import random
import time

import harness
from large_values import rows

NOW_S = int(time.time()) - 3600
MB = 1 << 20


def numbered(*words):
    """An endless stream of commands; a callable word is called with the number of the command."""
    return lambda size: ([word(i) if callable(word) else word for word in words]
                         for i in itertools.count(size))


def any_of(count, *words):
    """The same, where a callable word is called with a random number below `count` of the value."""
    chance = random.Random(1)
    return lambda size: ([word(chance.randrange(count or size)) if callable(word) else word
                          for word in words] for _ in itertools.count())


def stamp(i):
    return f"{NOW_S + i / 1000:.3f}"


def purchases(size, orders=1):
    """A user's purchases; `orders` lines in each order."""
    for i in range(0, size, orders):
        lines = [word for j in range(orders) for word in ((i + j) % 1000, 0, 1)]
        yield ["QUOTA.RECORD", "book", "user", i, "ITEMS", *lines, "AT", stamp(i)]


def limits(size):
    return rows(["QUOTA.SETLIMIT", "book"], size, 1, lambda i: i, 1_000_000, "30d", step=500)


# Name, whether Redis has it, the small size and the large one, the commands that make a value of a size, the writes.
WRITES = [
    ("LIMIT.TAKE SLIDING", False, 100, 200_000,
     lambda n: (["LIMIT.TAKE", "limit", "SLIDING", 10**9, "24h", "AT", stamp(i)] for i in range(n)),
     numbered("LIMIT.TAKE", "limit", "SLIDING", 10**9, "24h", "AT", stamp)),
    ("LIMIT.FORCE SLIDING, late", False, 100, 200_000,
     lambda n: (["LIMIT.TAKE", "limit", "SLIDING", 10**9, "24h", "AT", stamp(i)] for i in range(n)),
     any_of(0, "LIMIT.FORCE", "limit", "SLIDING", 10**9, "24h", "AT", stamp)),
    ("HITS.ADD", False, 100, 1_000_000,
     lambda n: (["HITS.ADD", "hits", "24h", "AT", stamp(i)] for i in range(n)),
     numbered("HITS.ADD", "hits", "24h", "AT", stamp)),
    ("HITS.ADD, late", False, 100, 1_000_000,
     lambda n: (["HITS.ADD", "hits", "24h", "AT", stamp(i)] for i in range(n)),
     any_of(0, "HITS.ADD", "hits", "24h", "AT", stamp)),
    ("HITS.UNDO", False, 20_000, 1_000_000,
     lambda n: (["HITS.ADD", "hits", "24h", "AT", stamp(i)] for i in range(n)),
     numbered("HITS.UNDO", "hits", 1)),
    ("ACTIVE.TOUCH, new", False, 100, 1_000_000,
     lambda n: rows(["ACTIVE.TOUCH", "active"], n, lambda i: f"id:{i}"),
     numbered("ACTIVE.TOUCH", "active", lambda i: f"id:{i}")),
    ("ACTIVE.TOUCH, known", False, 100, 1_000_000,
     lambda n: rows(["ACTIVE.TOUCH", "active"], n, lambda i: f"id:{i}"),
     any_of(0, "ACTIVE.TOUCH", "active", lambda i: f"id:{i}")),
    ("QUOTA.BUY", False, 10, 1_000_000, purchases,
     numbered("QUOTA.BUY", "book", "user", lambda i: i, "ITEMS", 1, 0, 1)),
    ("QUOTA.RECORD, late", False, 10, 1_000_000, purchases,
     any_of(0, "QUOTA.RECORD", "book", "user", lambda i: 10**9 + i, "ITEMS", 1, 0, 1, "AT", stamp)),
    ("QUOTA.RETURN", False, 10, 1_000_000, purchases,
     any_of(0, "QUOTA.RETURN", "book", "user", lambda i: i, "ITEMS", lambda i: i % 1000, 1)),
    ("QUOTA.RETURN of one order", False, 10, 20_000,
     lambda n: [["QUOTA.RECORD", "book", "user", 1, "ITEMS", 1, 0, 10**9],
                *(["QUOTA.RETURN", "book", "user", 1, "ITEMS", 1, 1, "AT", stamp(i)] for i in range(n))],
     numbered("QUOTA.RETURN", "book", "user", 1, "ITEMS", 1, 1, "AT", stamp)),
    ("QUOTA.SETLIMIT, actions of a SKU", False, 10, 10_000, limits,
     any_of(0, "QUOTA.SETLIMIT", "book", 1, lambda i: i, 5, "30d")),
    ("QUOTA.BUY, actions of a SKU", False, 10, 10_000, limits,
     any_of(0, "QUOTA.BUY", "book", "user", lambda i: i, "ITEMS", 1, lambda i: i, 1)),
    ("POLICY.SET", False, 10, 10_000,
     lambda n: (["POLICY.SET", f"policy{i}", "FIXED", 5, "10s"] for i in range(n)),
     any_of(0, "POLICY.SET", lambda i: f"policy{i}", "FIXED", 6, "10s")),
    ("APPEND", True, 10, 512 * MB - 100_000,
     lambda n: [["SETRANGE", "text", n - 1, "x"]], numbered("APPEND", "text", "x")),
    ("SETRANGE", True, 10, 512 * MB, lambda n: [["SETRANGE", "text", n - 1, "x"]],
     any_of(0, "SETRANGE", "text", lambda i: i, "x")),
    ("SETBIT", True, 10, 512 * MB, lambda n: [["SETRANGE", "text", n - 1, "x"]],
     any_of(0, "SETBIT", "text", lambda i: 8 * i, 1)),
    ("PFADD", True, 10, 1_000_000, lambda n: rows(["PFADD", "hll"], n, lambda i: f"id:{i}"),
     numbered("PFADD", "hll", lambda i: f"id:{i}")),
    ("HINCRBY, packed", True, 10, 120, lambda n: rows(["HSET", "hash"], n, lambda i: f"f{i}", 1),
     any_of(0, "HINCRBY", "hash", lambda i: f"f{i}", 1)),
    ("HINCRBY", True, 10, 1_000_000, lambda n: rows(["HSET", "hash"], n, lambda i: f"f{i}", 1),
     any_of(0, "HINCRBY", "hash", lambda i: f"f{i}", 1)),
    ("ZINCRBY, packed", True, 10, 120, lambda n: rows(["ZADD", "zset"], n, lambda i: i, lambda i: f"m{i}"),
     any_of(0, "ZINCRBY", "zset", 3, lambda i: f"m{i}")),
    ("ZINCRBY", True, 10, 1_000_000, lambda n: rows(["ZADD", "zset"], n, lambda i: i, lambda i: f"m{i}"),
     any_of(0, "ZINCRBY", "zset", 3, lambda i: f"m{i}")),
    ("SADD, integers", True, 10, 1_000_000, lambda n: rows(["SADD", "set"], n, lambda i: i * 7),
     numbered("SADD", "set", lambda i: i * 7)),
    ("RPUSH", True, 10, 1_000_000, lambda n: rows(["RPUSH", "list"], n, lambda i: f"element:{i}"),
     numbered("RPUSH", "list", lambda i: f"element:{i}")),
    ("LSET", True, 10, 1_000_000, lambda n: rows(["RPUSH", "list"], n, lambda i: f"element:{i}"),
     any_of(0, "LSET", "list", lambda i: i, "other")),
    ("LINSERT, middle", True, 10, 100_000, lambda n: rows(["RPUSH", "list"], n, lambda i: f"element:{i}"),
     any_of(0, "LINSERT", "list", "BEFORE", lambda i: f"element:{i}", "new")),
]


COUNTER_RULES = {
    "windows": lambda i: ["FIXED", 1_000_000, f"{3600 + i}s"],
    "rolling windows": lambda i: ["ROLLING", 1_000_000, f"{3600 + i}s"],
    "buckets": lambda i: ["BUCKET", 1_000_000, 1, f"{3600 + i}s"],
    "logs": lambda i: ["SLIDING", 1_000_000, f"{3600 + i}s"],
}


def limit_counters(rule):
    """A LIMIT key with so many counters: as many commands of 64 rules."""
    def make(size):
        for begin in range(0, size, 64):
            words = []
            for i in range(begin, min(begin + 64, size)):
                words += ["AND"] if words else []
                words += ["limit", *rule(i)]
            yield ["LIMIT.TAKE", *words]
    return make


WRITES[:0] = [(f"LIMIT.TAKE, {name} of a key", False, 1, 1000, limit_counters(rule),
               lambda n, rule=rule: itertools.repeat(["LIMIT.TAKE", "limit", *rule(n - 1)]))
              for name, rule in COUNTER_RULES.items()]


def cost(binary, name, size, make, writes, seconds):
    """Microseconds of CPU of a write, less those of a PING."""
    with harness.running(name, binary, "--appendonly", "no") as server:
        server.client.load(make(size), batch=200)
        stream = writes(size)
        spent, count, began = 0, 0, time.time()
        while time.time() - began < seconds and count < 100_000:
            commands = list(itertools.islice(stream, 100))
            before = server.cpu_ns()
            server.client.load(commands, batch=100)
            spent += server.cpu_ns() - before
            count += len(commands)
        before = server.cpu_ns()
        server.client.load((["PING"] for _ in range(2000)), batch=100)
        return (spent / count - (server.cpu_ns() - before) / 2000) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--seconds", type=float, default=1, help="of each kind of write")
    parser.add_argument("--only", default="", help="writes whose names contain this")
    arguments = parser.parse_args()
    table = []
    for name, is_redis, small, large, make, writes in WRITES:
        if arguments.only not in name:
            continue
        row = [name, f"{small:,} / {large:,}"]
        for server, binary in (("ours", arguments.ours), ("redis", arguments.redis)):
            for size in (small, large):
                if server == "redis" and not is_redis:
                    row.append("")
                    continue
                row.append(f"{cost(binary, server, size, make, writes, arguments.seconds):.1f}")
        table.append(row)
        print(name, row[2:], flush=True)
    print("us of CPU of a write to a small and a large value; target: at most 20")
    print(harness.table(["", "sizes", "small", "large", "redis small", "redis large"], table))


if __name__ == "__main__":
    main()
