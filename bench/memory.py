#!/usr/bin/env python3
"""Bytes a unit, everything included: the growth of used_memory and of the resident set over a load
that holds nothing else, ours and redis-server's."""

import argparse
import random
import time
from dataclasses import dataclass
from typing import Callable, Iterable

import harness

NOW = 1795230400


@dataclass
class Shape:
    """What is loaded; `units` is what the bytes are divided by, `target` what ours may take.
    `redis` loads what holds the same there, if the commands are our own."""
    name: str
    units: int
    target: float
    commands: Callable[[float], Iterable]
    redis: Callable[[float], Iterable] | None = None


def timestamps(count):
    """A list's entries: unix seconds, 0 to 10 apart."""
    now, entries = NOW, []
    for _ in range(count):
        now += random.randrange(11)
        entries.append(now)
    return entries


def hot_lists(scale):
    return (["RPUSH", f"message#{i}", *timestamps(1000)] for i in range(int(1000 * scale)))


def short_lists(scale):
    return (["RPUSH", f"message#{i}", *timestamps(10)] for i in range(int(100_000 * scale)))


def counters(scale):
    return (["SETEX", f"k{i:014d}", 3600 + i % 3600, i % 1000]
            for i in range(int(1_000_000 * scale)))


def hex_id():
    return f"{random.getrandbits(128):032x}"


def windowed_members(scale):
    return (["ZADD", "online", NOW + i // 100, hex_id()] for i in range(int(1_000_000 * scale)))


def id_map(scale):
    for i in range(int(1_000_000 * scale)):
        yield ["HSET", "ids", hex_id(), i]
        yield ["ZADD", "online", NOW + i // 100, i]


def instants(scale):
    """A million unix ms, spread over a day, in their order."""
    day_ms = 86_400_000
    return sorted(NOW * 1000 + random.randrange(day_ms) for _ in range(int(1_000_000 * scale)))


def seconds(ms):
    return f"{ms // 1000}.{ms % 1000:03d}"


def hits(scale):
    return (["HITS.ADD", "hot", "3650d", "AT", seconds(ms)] for ms in instants(scale))


def hits_in_a_list(scale):
    return (["RPUSH", "hot", ms] for ms in instants(scale))


def audience(scale):
    return (["ACTIVE.TOUCH", "online", hex_id()] for _ in range(int(1_000_000 * scale)))


def limits(*rule):
    return lambda scale: (["LIMIT.TAKE", f"k{i:014d}", *rule] for i in range(int(1_000_000 * scale)))


def buckets_in_hashes(scale):
    """Tokens and the instant of the last refill, as scripts for token buckets keep them."""
    for i in range(int(1_000_000 * scale)):
        yield ["HSET", f"k{i:014d}", "tokens", 99, "at", NOW * 1000 + i]
        yield ["EXPIRE", f"k{i:014d}", 86400]


def msgpack(**fields):
    """As Go's msgpack writes a struct of 64-bit integers."""
    packed = bytes([0x80 | len(fields)])
    for name, number in fields.items():
        packed += bytes([0xA0 | len(name)]) + name.encode() + b"\xd3" + number.to_bytes(8, "big")
    return packed


def purchases_in_hashes(scale):
    """The marketplace's users, of 7 to 10 SKUs each: by SKU an array of one purchase."""
    left, user = int(1_000_000 * scale), 0
    while left > 0:
        user += 1
        for _ in range(min(left, 7 + user % 4)):
            record = msgpack(Action=random.randrange(50), Qty=1, DateKill=NOW + user,
                             OrderID=random.getrandbits(40))
            yield ["HSET", user, random.randrange(6_000_000), b"\x91" + record]
            left -= 1
        yield ["EXPIREAT", user, NOW + 30 * 86400]


def limits_in_hashes(scale):
    for sku in range(1, int(1_000_000 * scale) + 1):
        yield ["HSET", -sku, random.randrange(50), msgpack(Limit=2, Sec=30 * 86400, Datestart=NOW)]


SHAPES = [
    Shape("list of timestamps, 1,000 a list", 1_000_000, 2.5, hot_lists),
    Shape("list of timestamps, 10 a list", 1_000_000, 12, short_lists),
    Shape("counter with TTL, 15-byte key", 1_000_000, 56, counters),
    Shape("sorted set, 32-hex ids", 1_000_000, 72, windowed_members),
    Shape("id map and sorted set of ints", 1_000_000, 90, id_map),
    Shape("purchase, msgpack in a user's hash", 1_000_000, 85, purchases_in_hashes),
    Shape("limit, msgpack in a SKU's hash", 1_000_000, 68, limits_in_hashes),
    Shape("hit of a hot key, against a list", 1_000_000, 2.5, hits, hits_in_a_list),
    Shape("ACTIVE id, 32 hex, against id map and set", 1_000_000, 48, audience, id_map),
    Shape("FIXED, 15-byte key, against SETEX", 1_000_000, 56, limits("FIXED", 100, "1d"), counters),
    Shape("BUCKET, 15-byte key, against a hash", 1_000_000, 64, limits("BUCKET", 100, 10, "1d"),
          buckets_in_hashes),
]


def measure(name, binary, commands, units, scale):
    """(used_memory, resident) bytes a unit, in a fresh server."""
    random.seed(1)
    with harness.running(name, binary, "--appendonly", "no") as server:
        used, resident = server.used_memory(), server.rss()
        server.client.load(commands(scale), batch=500)
        time.sleep(1)  # for tables that grow in slices
        units *= scale
        return (server.used_memory() - used) / units, (server.rss() - resident) / units


def main():
    parser = argparse.ArgumentParser(description="Bytes a unit, ours and redis-server's.")
    harness.add_server_arguments(parser)
    parser.add_argument("--scale", type=float, default=1, help="times the number of units")
    parser.add_argument("--only", default="", help="shapes whose name holds this")
    arguments = parser.parse_args()
    rows = []
    for shape in SHAPES:
        if arguments.only not in shape.name:
            continue
        used, resident = measure("ours", arguments.ours, shape.commands, shape.units,
                                 arguments.scale)
        redis_used, redis_resident = measure("redis", arguments.redis,
                                             shape.redis or shape.commands, shape.units,
                                             arguments.scale)
        rows.append([shape.name, f"{used:.1f}", f"{resident:.1f}", f"{redis_used:.1f}",
                     f"{redis_resident:.1f}", f"{shape.target:g}",
                     "missed" if max(used, resident) > shape.target else ""])
    print(harness.table(["bytes a unit", "ours", "resident", "redis", "resident", "target", ""],
                        rows))


if __name__ == "__main__":
    main()
