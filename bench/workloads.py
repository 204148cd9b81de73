"""The commands that compare.py measures, in groups. `__rand_int__` is redis-benchmark's: a random
number below `keys`, in 12 digits."""

from dataclasses import dataclass
from typing import Callable, Iterable

RAND = "__rand_int__"
NOW = 1795230400


@dataclass
class Workload:
    """One command; `setup` gives what has to be there, for the number of commands to be sent."""
    name: str
    command: list
    keys: int = 100_000
    setup: Callable[[int], Iterable] = lambda count: ()


@dataclass
class Transaction:
    """A fixed sequence of commands, whose replies have the same length every time."""
    name: str
    commands: list
    setup: Callable[[int], Iterable] = lambda count: ()


def numbered(prefix, keys, *rest, command):
    return ([command, f"{prefix}:{i:012d}", *rest] for i in range(keys))


def strings(_):
    return numbered("k", 100_000, "value-of-a-key", command="SET")


def lists(_):
    return numbered("l", 10_000, *range(NOW, NOW + 100), command="RPUSH")


def lists_to_drain(count):
    """So long that popping `count` at random empties hardly any."""
    length = count // 1000 + 200
    return numbered("l", 1000, *range(NOW, NOW + length), command="RPUSH")


def hashes(_):
    fields = [word for i in range(10) for word in (f"f{i}", i)]
    return numbered("h", 10_000, *fields, command="HSET")


def sets(_):
    return numbered("s", 10_000, *(f"m{i}" for i in range(20)), command="SADD")


def zsets(_):
    members = [word for i in range(100) for word in (NOW + i, f"m{i}")]
    return numbered("z", 10_000, *members, command="ZADD")


def few_strings(_):
    return [["SET", "t", "value"]]


def purchases(_):
    yield ["QUOTA.SETLIMIT", "book", 1, 0, 5, "30d"]
    for user in range(100_000):
        yield ["QUOTA.BUY", "book", f"{user:012d}", user, "ITEMS", 1, 0, 1]


GROUPS = {
    "base": [
        Workload("PING", ["PING"]),
        Workload("INCR", ["INCR", f"c:{RAND}"]),
        Workload("GET", ["GET", f"k:{RAND}"], setup=strings),
        Workload("SET", ["SET", f"k:{RAND}", "value-of-a-key"]),
        Workload("SETEX", ["SETEX", f"k:{RAND}", "3600", "1"]),
        Workload("EXPIRE", ["EXPIRE", f"k:{RAND}", "3600"], setup=strings),
        Workload("RPUSH", ["RPUSH", f"l:{RAND}", str(NOW)], keys=10_000),
        Workload("LLEN", ["LLEN", f"l:{RAND}"], keys=10_000, setup=lists),
        Workload("LINDEX", ["LINDEX", f"l:{RAND}", "50"], keys=10_000, setup=lists),
        Workload("LPOP", ["LPOP", f"l:{RAND}"], keys=1000, setup=lists_to_drain),
    ],
    "hash": [
        Workload("HSET", ["HSET", f"h:{RAND}", "f3", "17"], keys=10_000, setup=hashes),
        Workload("HGET", ["HGET", f"h:{RAND}", "f3"], keys=10_000, setup=hashes),
        Workload("HINCRBY", ["HINCRBY", f"h:{RAND}", "f3", "1"], keys=10_000, setup=hashes),
        Workload("HGETALL(10)", ["HGETALL", f"h:{RAND}"], keys=10_000, setup=hashes),
    ],
    "set": [
        Workload("SADD", ["SADD", f"s:{RAND}", "m30"], keys=10_000, setup=sets),
        Workload("SISMEMBER", ["SISMEMBER", f"s:{RAND}", "m7"], keys=10_000, setup=sets),
    ],
    "zset": [
        Workload("ZADD", ["ZADD", f"z:{RAND}", str(NOW + 200), "m7"], keys=10_000, setup=zsets),
        Workload("ZSCORE", ["ZSCORE", f"z:{RAND}", "m7"], keys=10_000, setup=zsets),
        Workload("ZCOUNT", ["ZCOUNT", f"z:{RAND}", str(NOW + 20), "+inf"], keys=10_000,
                 setup=zsets),
        Workload("ZRANGEBYSCORE(10)", ["ZRANGEBYSCORE", f"z:{RAND}", str(NOW + 20),
                                       str(NOW + 29)], keys=10_000, setup=zsets),
        Workload("ZREMRANGEBYSCORE", ["ZREMRANGEBYSCORE", f"z:{RAND}", "-inf", str(NOW - 1)],
                 keys=10_000, setup=zsets),
        Workload("ZCARD", ["ZCARD", f"z:{RAND}"], keys=10_000, setup=zsets),
    ],
    "multi": [
        Transaction("MULTI+3+EXEC", [["MULTI"], ["SET", "t", "value"], ["EXPIRE", "t", "60"],
                                     ["GET", "t"], ["EXEC"]], setup=few_strings),
    ],
}

# Our own commands, for two builds of tallyd: a decision and, of LIMIT, a denial.
NATIVE = [
    Workload("HITS.ADD", ["HITS.ADD", f"k:{RAND}", "60s"]),
    Workload("LIMIT.TAKE FIXED", ["LIMIT.TAKE", f"k:{RAND}", "FIXED", "100", "60s"]),
    Workload("LIMIT.TAKE SLIDING", ["LIMIT.TAKE", f"k:{RAND}", "SLIDING", "100", "60s"]),
    Workload("LIMIT.TAKE BUCKET", ["LIMIT.TAKE", f"k:{RAND}", "BUCKET", "100", "10", "60s"]),
    Workload("LIMIT.TAKE DENIED", ["LIMIT.TAKE", f"k:{RAND}", "FIXED", "1", "1h"], keys=1000),
    Workload("ACTIVE.TOUCH", ["ACTIVE.TOUCH", "online", RAND]),
    Workload("QUOTA.LEFT", ["QUOTA.LEFT", "book", RAND, "1"], setup=purchases),
]
