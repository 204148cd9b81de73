"""Data of all types of Redis: how a server is filled with it, and what it then holds."""

import random

FAR = 4102444800000  # 2100, in ms
DATABASES = [0, 3, 15]


def numbers(chooser, count):
    """Integers of every width, and their neighbours."""
    edges = [0, 1, 12, 13, 63, 64, 127, 128, 4095, 4096, 32767, 32768, 8388607, 8388608, 2**31 - 1, 2**31, 2**63 - 1]
    return [str(chooser.choice(edges) * chooser.choice([1, -1])) for _ in range(count)]


def texts(chooser, count):
    sizes = [1, 5, 12, 20, 63, 64, 65, 200, 300, 5000]
    made = []
    for _ in range(count):
        size = chooser.choice(sizes)
        made.append(chooser.choice([chooser.randbytes(size), b"a" * size, b"abc %d " % size * (size // 8 + 1)]))
    return made


def commands(chooser):
    """Writes of each type, in sizes around the limits of the encodings."""
    for n in range(60):
        yield ["SET", f"string:{n}", (numbers(chooser, 1) + texts(chooser, 1))[n % 2]]
        yield ["SET", f"leased:{n}", n, "PXAT", FAR + n]
    yield ["SET", "empty", ""]
    yield ["SET", "large", chooser.randbytes(300_000)]
    yield ["SET", "repeats", b"0123456789" * 100_000]
    for n, size in enumerate([1, 2, 30, 127, 128, 129, 512, 513, 2000]):
        words = [*numbers(chooser, size // 2), *texts(chooser, size - size // 2)]
        chooser.shuffle(words)
        yield ["RPUSH", f"list:{n}", *words]
        yield ["RPUSH", f"ints:{n}", *range(size)]
        yield ["SADD", f"set:{n}", *words]
        for width in (100, 100_000, 2**40):
            yield ["SADD", f"intset:{width}:{n}", *(i * width - 50 for i in range(size))]
        yield ["HSET", f"hash:{n}", *(part for i, word in enumerate(words) for part in (f"f{i}", word))]
        yield ["HSET", f"short:{n}", *(part for i in range(size) for part in (i, i * i))]
        scores = [chooser.choice([i, -i, i / 3, "inf", "-inf", 1e300, -2.5e-10]) for i in range(size)]
        yield ["ZADD", f"zset:{n}", *(part for score, i in zip(scores, range(size)) for part in (score, f"m{i}"))]
        yield ["PEXPIREAT", f"hash:{n}", FAR * 2 + n]
    yield ["PFADD", "log", *range(1000)]


def fill(server, seed):
    with server.client() as client:
        for database in DATABASES:
            client.call("SELECT", database)
            client.pipeline(commands(random.Random(seed + database)))


READS = {"string": ["GET"], "list": ["LRANGE", 0, -1], "set": ["SMEMBERS"], "hash": ["HGETALL"],
         "zset": ["ZRANGE", 0, -1, "WITHSCORES"]}


def value_of(kind, reply):
    if kind == "set":
        return sorted(reply)
    if kind == "zset":  # Redis 8 prints other digits of the same number.
        return [(member, float(score)) for member, score in zip(reply[::2], reply[1::2])]
    return sorted(zip(reply[::2], reply[1::2])) if kind == "hash" else reply


def contents(server, deadlines=True):
    """Every key of every database: its type, deadline and value. Without `deadlines` whether it has one, as no server
    before 7.0 says when."""
    found = {}
    with server.client() as client:
        for database in range(16):
            client.call("SELECT", database)
            keys = sorted(client.scan("COUNT", 1000))
            kinds = client.pipeline(["TYPE", key] for key in keys)
            ends = client.pipeline(["PEXPIRETIME" if deadlines else "PTTL", key] for key in keys)
            reads = [[READS[kind][0], key, *READS[kind][1:]] for key, kind in zip(keys, kinds)]
            values = client.pipeline(reads)
            found |= {(database, key): (kind, end if deadlines else end >= 0, value_of(kind, value))
                      for key, kind, end, value in zip(keys, kinds, ends, values)}
    return found


def same(report, what, found, expected):
    wrong = [key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)]
    report.check(f"{what}: {len(expected)} keys", not wrong and len(expected) > 0,
                 "\n".join(f"{key}: {str(found.get(key))[:200]} instead of {str(expected.get(key))[:200]}"
                           for key in wrong[:5]))


def churn(client, chooser):
    """Writes that a log holds in other words than they were given in."""
    for n in range(300):
        key = f"churn:{n % 40}"
        client.call("MULTI")
        client.call("INCRBY", key, chooser.randrange(1000))
        client.call("EXPIRE", key, 100_000)
        client.call("EXEC")
        client.call("SETEX", f"setex:{n % 10}", 100_000, n)
        client.call("RPUSH", "queue", n, n + 1)
        client.call("LPOP", "queue")
        client.call("SPOP", "set:5")
        client.call("ZADD", "zset:6", "INCR", 1.5, "m1")
        client.call("HINCRBYFLOAT", "floats", f"f{n % 7}", "0.1")
        client.call("EVAL", "redis.call('INCR', KEYS[1]) redis.call('APPEND', KEYS[2], 'x')", 2, "script", "longer")
        client.call("COPY", "string:1", f"copy:{n % 3}", "REPLACE")
        client.call("DEL", f"string:{n % 60}")
    client.call("SET", "short-lived", 1, "PX", 1)
    client.call("FLUSHDB") if chooser.randrange(1000) == 0 else client.call("SWAPDB", 1, 2)
