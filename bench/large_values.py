"""Values, and calls on them, of a size at which a command can stop a server.

A call is a list of words. A word "@name" is the key of a copy of the value `name`, made for this
call alone; the elements of a list are words of the call."""

import time

# All events are of the last hour.
NOW_S = int(time.time()) - 3600
TODAY = time.strftime("%Y-%m-%d")


def many(count, *words):
    """Words for each i below `count`: what is callable is called with it."""
    return [word(i) if callable(word) else word for i in range(count) for word in words]


def member(i):
    return f"member:{i}"


def field(i):
    return f"field:{i}"


def rows(head, count, *words, step=1000):
    """Commands that put `count` elements into a value, `step` a call."""
    for begin in range(0, count, step):
        yield [*head, *(word(i) if callable(word) else word
                        for i in range(begin, min(begin + step, count)) for word in words)]


def common_values(count, size):
    """The values that both servers hold: `count` elements, or `size` bytes."""
    yield ["SET", "text", b"x" * size]
    yield ["SETBIT", "bits", size * 8 - 1, 1]
    yield from rows(["RPUSH", "list"], count, lambda i: f"element:{i}")
    yield from rows(["RPUSH", "numbers"], count, lambda i: NOW_S + i)
    yield from rows(["HSET", "hash"], count, field, lambda i: i)
    yield from rows(["SADD", "set"], count, member)
    yield from rows(["SADD", "other"], count, lambda i: member(i * 2))
    yield from rows(["SADD", "ints"], count, lambda i: i * 7)
    yield from rows(["ZADD", "zset"], count, lambda i: i, member)
    yield from rows(["ZADD", "zother"], count, lambda i: i, lambda i: member(i * 2))
    yield from rows(["ZADD", "lex"], count, 0, lambda i: f"member:{i:08d}")
    yield from rows(["PFADD", "hll"], count, lambda i: f"id:{i}")
    yield from rows(["MSET"], count, lambda i: f"key:{i}", lambda i: i)


def native_values(count):
    """Those of our own commands."""
    yield from (["HITS.ADD", "hits", "24h", "AT", f"{NOW_S + i / 1000:.3f}"] for i in range(count))
    yield from (["LIMIT.TAKE", "limit", "SLIDING", count * 2, "24h"] for _ in range(count))
    yield from rows(["ACTIVE.TOUCH", "active"], count, lambda i: f"id:{i}")
    yield from rows(["QUOTA.SETLIMIT", "book"], 1000, lambda i: i, 0, 100, "30d", step=100)
    for user in range(count // 5):
        yield ["QUOTA.BUY", "book", user, user,
               "ITEMS", *many(5, lambda i, u=user: (u + i) % 1000, 0, 1)]


def strings(size):
    big = b"y" * size
    return [
        ["APPEND", "@text", "x"], ["APPEND", "@text", big], ["APPEND", "@bits", "x"],
        ["SET", "@text", "x"], ["SET", "@text", big], ["SET", "new", big],
        ["SET", "@text", "x", "GET"], ["SET", "@text", "x", "XX", "KEEPTTL"],
        ["SETEX", "@text", 100, big], ["PSETEX", "@text", 100000, big], ["SETNX", "new", big],
        ["GET", "text"], ["GETSET", "@text", "x"], ["GETDEL", "@text"], ["GETEX", "@text", "EX", 9],
        ["GETRANGE", "text", 0, -1], ["GETRANGE", "text", 5, 15], ["SUBSTR", "text", 0, -1],
        ["STRLEN", "text"], ["SETRANGE", "@text", 5, "abc"], ["SETRANGE", "@text", size * 2, "x"],
        ["SETRANGE", "new", size * 4, "x"], ["SETBIT", "@text", 9, 1], ["SETBIT", "@bits", 9, 1],
        ["SETBIT", "new", size * 32, 1], ["GETBIT", "text", 9], ["BITCOUNT", "text"],
        ["BITCOUNT", "text", 5, 20], ["BITPOS", "bits", 1], ["BITPOS", "text", 0],
        ["BITOP", "AND", "new", "text", "bits"], ["BITOP", "XOR", "new", "text", "bits"],
        ["BITOP", "NOT", "new", "text"], ["MGET", *["text"] * 3],
        ["MGET", many(1_000_000, lambda i: f"key:{i}")], ["MGET", many(1_000_000, "none")],
        ["MSET", many(500_000, lambda i: f"made:{i}", "v")],
        ["MSETNX", many(500_000, lambda i: f"made:{i}", "v")],
        ["INCR", "text"], ["DECR", "text"], ["INCRBY", "text", 5], ["DECRBY", "text", 5],
        ["INCRBYFLOAT", "text", 5], ["INCREX", "text"],
        ["PFADD", "@hll", many(500_000, lambda i: f"more:{i}")], ["PFCOUNT", *["hll"] * 1000],
        ["PFCOUNT", "hll"], ["PFMERGE", "new", *["hll"] * 1000], ["PFADD", "text", "x"],
        ["PFADD", "@bits", "x"],
    ]


def lists(count):
    middle = count // 2
    return [call for key in ("list", "numbers") for call in [
        ["LPUSH", "@" + key, many(500_000, "pushed")], ["RPUSH", "@" + key, many(500_000, "pushed")],
        ["LPUSHX", "@" + key, "x"], ["RPUSHX", "@" + key, "x"], ["LPOP", "@" + key],
        ["RPOP", "@" + key], ["LPOP", "@" + key, count], ["RPOP", "@" + key, count],
        ["LPOP", "@" + key, 1000], ["LLEN", key], ["LINDEX", key, middle], ["LRANGE", key, 0, -1],
        ["LRANGE", key, middle, middle + 10], ["LTRIM", "@" + key, middle, -1],
        ["LTRIM", "@" + key, 0, middle], ["LTRIM", "@" + key, middle, middle + 10],
        ["LTRIM", "@" + key, 1, 0], ["LTRIM", "@" + key, 1, -1], ["LSET", "@" + key, middle, "x"],
        ["LSET", "@" + key, 0, "a longer element than any other"], ["LREM", "@" + key, 0, "none"],
        ["LREM", "@" + key, 0, "element:5"], ["LREM", "@" + key, -1, NOW_S + 10],
        ["LREM", "@" + key, 1, NOW_S + middle], ["LINSERT", "@" + key, "BEFORE", "none", "x"],
        ["LINSERT", "@" + key, "AFTER", f"element:{middle}", "x"],
        ["LINSERT", "@" + key, "AFTER", NOW_S + middle, "x"],
        ["LINSERT", "@" + key, "AFTER", NOW_S + 5, "x"], ["LPOS", key, "none"],
        ["LPOS", key, NOW_S + count - 1], ["LPOS", key, "none", "RANK", -1, "COUNT", 0],
        ["LMOVE", "@" + key, "@" + key, "LEFT", "RIGHT"], ["RPOPLPUSH", "@" + key, "new"],
        ["LMPOP", 1, "@" + key, "LEFT", "COUNT", count], ["SORT", key, "ALPHA", "LIMIT", 0, 10],
        ["SORT", "numbers", "DESC"], ["SORT", "numbers", "STORE", "new"],
        ["SORT_RO", "numbers", "LIMIT", 0, 10], ["SORT", "numbers", "BY", "nosort"],
        ["SORT", "numbers", "BY", "key:*", "GET", "key:*", "LIMIT", 0, 1],
    ]] + [["RPUSH", "@numbers", "text"], ["LPUSH", "@numbers", "text"],
          ["RPUSH", "new", many(500_000, lambda i: i)], ["RPUSH", "new", b"x" * 50_000_000]]


def hashes(count):
    half = count // 2
    return [
        ["HSET", "@hash", "a", "b"], ["HSET", "@hash", many(half, lambda i: f"new:{i}", "v")],
        ["HSET", "@hash", many(half, field, "another value")], ["HMSET", "@hash", "a", "b"],
        ["HSET", "new", many(half, field, "v")],
        ["HSETNX", "@hash", "a", "b"], ["HGET", "hash", field(5)],
        ["HMGET", "hash", many(count, field)], ["HGETALL", "hash"], ["HKEYS", "hash"],
        ["HVALS", "hash"], ["HDEL", "@hash", field(5)], ["HDEL", "@hash", many(count, field)],
        ["HDEL", "@hash", many(half, lambda i: f"none:{i}")], ["HLEN", "hash"],
        ["HEXISTS", "hash", field(5)], ["HSTRLEN", "hash", field(5)],
        ["HINCRBY", "@hash", field(5), 1], ["HINCRBYFLOAT", "@hash", field(5), 1],
        ["HSCAN", "hash", 0], ["HSCAN", "hash", 0, "COUNT", count],
        ["HSCAN", "hash", 0, "MATCH", "none", "COUNT", count], ["HRANDFIELD", "hash"],
        ["HRANDFIELD", "hash", half], ["HRANDFIELD", "hash", -half],
        ["HRANDFIELD", "hash", -half, "WITHVALUES"], ["HRANDFIELD", "hash", 1000],
        ["HRANDFIELD", "hash", count // 3 - 1], ["HRANDFIELD", "hash", -1000],
    ]


def sets(count):
    half = count // 2
    pairs = [["set", "other"], ["set", "ints"], ["ints", "set"], ["ints", "ints"]]
    algebra = [[command, *keys] for keys in pairs for command in ("SINTER", "SUNION", "SDIFF")]
    return algebra + [[call[0] + "STORE", "new", *call[1:]] for call in algebra] + [
        ["SADD", "@set", "x"], ["SADD", "@set", many(half, lambda i: f"new:{i}")],
        ["SADD", "new", many(half, member)], ["SADD", "new", many(half, lambda i: i * 3)],
        ["SADD", "new", many(half, lambda i: -i * 3)], ["SADD", "@ints", -1],
        ["SADD", "@ints", 10], ["SADD", "@ints", "text"], ["SREM", "@ints", 70],
        ["SREM", "@set", member(5)], ["SREM", "@set", many(count, member)],
        ["SREM", "@ints", many(count, lambda i: i * 7)], ["SCARD", "set"],
        ["SISMEMBER", "set", "x"], ["SMISMEMBER", "set", many(count, member)],
        ["SMEMBERS", "set"], ["SMEMBERS", "ints"], ["SPOP", "@set"], ["SPOP", "@ints"],
        ["SPOP", "@set", half], ["SPOP", "@set", 1000], ["SPOP", "@set", count - 1000],
        ["SPOP", "@set", count], ["SPOP", "@ints", half], ["SPOP", "@ints", 1000],
        ["SPOP", "@ints", count - 1000], ["SRANDMEMBER", "set"], ["SRANDMEMBER", "set", half],
        ["SRANDMEMBER", "set", -half], ["SRANDMEMBER", "set", 1000], ["SRANDMEMBER", "set", -1000],
        ["SRANDMEMBER", "ints", half], ["SRANDMEMBER", "ints", -half],
        ["SRANDMEMBER", "ints", 1000], ["SMOVE", "@set", "@other", member(1)],
        ["SMOVE", "@ints", "new", 7], ["SSCAN", "set", 0, "COUNT", count], ["SSCAN", "ints", 0],
        ["SSCAN", "ints", 0, "COUNT", 10], ["SSCAN", "set", 0],
        ["SINTERCARD", 2, "set", "other"], ["SINTERCARD", 2, "set", "other", "LIMIT", 1],
        ["SINTERCARD", 2, "ints", "ints"],
    ]


def sorted_sets(count):
    half = count // 2
    pair = ["2", "zset", "zother"]
    ranges = [
        ["ZRANGE", "zset", 0, -1], ["ZRANGE", "zset", 0, -1, "WITHSCORES"],
        ["ZRANGE", "zset", half, half + 10], ["ZRANGE", "zset", 0, -1, "REV"],
        ["ZRANGE", "zset", "-inf", "+inf", "BYSCORE"],
        ["ZRANGE", "zset", "-inf", "+inf", "BYSCORE", "LIMIT", count - 10, 10],
        ["ZRANGE", "lex", "-", "+", "BYLEX", "LIMIT", count - 10, 10],
        ["ZRANGESTORE", "new", "zset", 0, -1], ["ZREVRANGE", "zset", 0, -1],
        ["ZRANGESTORE", "new", "zset", "-inf", "+inf", "BYSCORE", "LIMIT", half, 10],
        ["ZRANGEBYSCORE", "zset", 0, half], ["ZREVRANGEBYSCORE", "zset", half, 0],
        ["ZRANGEBYLEX", "lex", "-", "+"], ["ZREVRANGEBYLEX", "lex", "+", "-"],
        ["ZCOUNT", "zset", 5, half], ["ZLEXCOUNT", "lex", "-", "[member:1"],
        ["ZREMRANGEBYSCORE", "@zset", 0, half], ["ZREMRANGEBYSCORE", "@zset", 5, 15],
        ["ZREMRANGEBYRANK", "@zset", 0, half], ["ZREMRANGEBYRANK", "@zset", 0, -1],
        ["ZREMRANGEBYRANK", "@zset", 0, -2], ["ZREMRANGEBYLEX", "@lex", "-", f"[member:{half:08d}"],
    ]
    algebra = [["ZUNION", *pair], ["ZINTER", *pair], ["ZDIFF", *pair],
               ["ZUNIONSTORE", "new", *pair], ["ZINTERSTORE", "new", *pair],
               ["ZDIFFSTORE", "new", *pair], ["ZUNIONSTORE", "new", "2", "set", "zset"],
               ["ZINTERSTORE", "new", "2", "ints", "zset"], ["ZINTERCARD", *pair],
               ["ZUNIONSTORE", "new", "1", "zset", "WEIGHTS", "-1"],
               ["ZUNIONSTORE", "new", "1", "zset", "WEIGHTS", "0"],
               ["ZUNIONSTORE", "new", "1", "ints"],
               ["ZINTERCARD", *pair, "LIMIT", 1]]
    return ranges + algebra + [
        ["ZADD", "@zset", 5, "x"], ["ZADD", "@zset", many(half, lambda i: -i, lambda i: f"new:{i}")],
        ["ZADD", "@zset", many(half, lambda i: -i, member)], ["ZADD", "@zset", half, member(5)],
        ["ZADD", "new", many(half, lambda i: i, member)], ["ZINCRBY", "@zset", half, member(1)],
        ["ZREM", "@zset", member(5)], ["ZREM", "@zset", many(count, member)], ["ZCARD", "zset"],
        ["ZSCORE", "zset", member(5)], ["ZMSCORE", "zset", many(count, member)],
        ["ZRANK", "zset", member(half)], ["ZREVRANK", "zset", member(half)],
        ["ZRANK", "lex", f"member:{half:08d}"], ["ZPOPMIN", "@zset"], ["ZPOPMAX", "@zset", count],
        ["ZPOPMIN", "@zset", count], ["ZMPOP", 1, "@zset", "MIN", "COUNT", count],
        ["ZRANDMEMBER", "zset"], ["ZRANDMEMBER", "zset", half], ["ZRANDMEMBER", "zset", -half],
        ["ZRANDMEMBER", "zset", 1000, "WITHSCORES"], ["ZRANDMEMBER", "zset", -1000],
        ["ZSCAN", "zset", 0, "COUNT", count], ["ZSCAN", "zset", 0],
    ]


MASTERS = ["text", "bits", "list", "numbers", "hash", "set", "ints", "zset", "lex", "hll"]
NATIVE = ["hits", "limit", "active", "book"]


def keys_of(value):
    """What is done with a key whatever it holds."""
    copy = "@" + value
    return [
        ["COPY", value, "new"], ["COPY", value, copy, "REPLACE"], ["DEL", copy], ["UNLINK", copy],
        ["RENAME", copy, "new"], ["RENAME", "key:1", copy], ["RENAMENX", copy, "new"],
        ["MOVE", copy, 2], ["SET", copy, "x"], ["EXPIRE", copy, 100], ["EXPIREAT", copy, 1],
        ["PEXPIRE", copy, 100000], ["PEXPIREAT", copy, 1], ["PERSIST", copy], ["TYPE", value],
        ["TTL", value], ["OBJECT", "ENCODING", value], ["OBJECT", "REFCOUNT", value],
        ["OBJECT", "IDLETIME", value], ["MEMORY", "USAGE", value], ["DEBUG", "OBJECT", value],
        ["MEMORY", "USAGE", value, "SAMPLES", 0], ["EXISTS", value], ["TOUCH", value],
        ["WATCH", value],
    ]


def keyspace(count):
    every = many(count, lambda i: f"key:{i}")
    return [call for value in MASTERS for call in keys_of(value)] + [
        ["EXISTS", every], ["TOUCH", every], ["KEYS", "*"], ["KEYS", "none*"],
        ["SCAN", 0, "COUNT", count], ["SCAN", 0, "MATCH", "none*", "COUNT", count],
        ["RANDOMKEY"], ["DBSIZE"], ["SWAPDB", 0, 1], ["SWAPDB", 1, 0], ["PEXPIRETIME", "text"],
        ["EXPIRETIME", "text"], ["PTTL", "text"], ["MEMORY", "STATS"], ["MEMORY", "DOCTOR"],
        ["MEMORY", "PURGE"], ["INFO"], ["INFO", "all"], ["COMMAND"], ["COMMAND", "DOCS"],
        ["COMMAND", "LIST"], ["CONFIG", "GET", "*"], ["CLIENT", "LIST"], ["PING", b"x" * 10_000_000],
        ["ECHO", b"x" * 10_000_000], ["PUBLISH", "channel", b"x" * 10_000_000],
        ["PUBSUB", "CHANNELS"], ["PUBSUB", "NUMSUB", many(100_000, lambda i: f"channel:{i}")],
        ["SUBSCRIBE", many(100_000, lambda i: f"channel:{i}")],
        ["EVAL", "return #redis.call('GET', KEYS[1])", 1, "text"],
        ["EVAL", "return #ARGV", 0, many(100_000, "x")],
        ["EVAL", "return #redis.call('SMEMBERS', KEYS[1])", 1, "set"],
        ["SCRIPT", "LOAD", "return 1 --" + "x" * 10_000_000],
        ["SCRIPT", "EXISTS", many(500_000, "ab" * 20)], ["SCRIPT", "FLUSH"],
        ["SLOWLOG", "GET", 128], ["LATENCY", "LATEST"], ["LATENCY", "HISTOGRAM"],
        ["COMMAND", "GETKEYS", "DEL", many(500_000, "x")], ["ACL", "LIST"],
    ]


def last(count):
    """Those that leave nothing to read."""
    every = many(count, lambda i: f"key:{i}")
    half = len(every) // 2
    return [["DEL", every[:half]], ["UNLINK", every[half:]], ["FLUSHDB"], ["FLUSHALL"]]


def native(count):
    half = count // 2
    ids = many(half, lambda i: f"id:{i}")
    late = NOW_S - 1
    return [call for value in NATIVE for call in keys_of(value)] + [
        ["HITS.ADD", "@hits", "24h"], ["HITS.ADD", "@hits", "24h", "COUNT", half],
        ["HITS.ADD", "@hits", "24h", "AT", late], ["HITS.ADD", "@hits", "1s"],
        ["HITS.COUNT", "hits"], ["HITS.COUNT", "hits", "WINDOW", "12h", "AT", late],
        ["HITS.UNDO", "@hits", half], ["HITS.UNDO", "@hits", count],
        ["HITS.RANGE", "hits", "FROM", NOW_S - 3600, "TO", NOW_S + 3600, "STEP", "1s"],
        ["LIMIT.TAKE", "@limit", "SLIDING", count * 2, "24h"],
        ["LIMIT.TAKE", "@limit", "SLIDING", count * 2, "24h", "COST", half],
        ["LIMIT.TAKE", "@limit", "SLIDING", count * 2, "48h"],
        ["LIMIT.PEEK", "limit", "SLIDING", 5, "24h"],
        ["LIMIT.PEEK", "limit", "SLIDING", count, "24h", "COST", half],
        ["LIMIT.FORCE", "@limit", "SLIDING", 5, "24h", "COST", half],
        ["LIMIT.GIVE", "@limit", half], ["LIMIT.SHOW", "limit"], ["LIMIT.RESET", "@limit"],
        ["LIMIT.TAKE", "new", "SLIDING", count * 2, "24h", "COST", count],
        ["LIMIT.TAKE", "limit:0", "FIXED", 5, "1m",
         many(60, "AND", lambda i: f"limit:{i}", "FIXED", 5, "1m")],
        ["ACTIVE.TOUCH", "@active", "id:5"], ["ACTIVE.TOUCH", "@active", ids],
        ["ACTIVE.TOUCHAT", "@active", late, ids], ["ACTIVE.TOUCH", "new", ids],
        ["ACTIVE.ONLINE", "active"], ["ACTIVE.ONLINE", "active", "AT", late],
        ["ACTIVE.SEEN", "active", "id:5"], ["ACTIVE.PEAK", "active"],
        ["ACTIVE.DAY", "active", "DAYS", 30], ["ACTIVE.USERS", "active", "FROM", TODAY, "TO", TODAY],
        ["ACTIVE.SERIES", "active", "FROM", NOW_S - 86400, "TO", NOW_S, "STEP", "1m"],
        ["ACTIVE.SCAN", "active", 0, "COUNT", count],
        ["ACTIVE.SCAN", "active", 0, "COUNT", count, "ONLINE"],
        ["ACTIVE.FORGET", "@active", "id:5"], ["ACTIVE.FORGET", "@active", ids],
        ["QUOTA.BUY", "@book", 5, 99, "ITEMS", 5, 0, 1],
        ["QUOTA.BUY", "@book", 5, 99, "ITEMS", many(1000, lambda i: i, 0, 1)],
        ["QUOTA.RETURN", "@book", 5, 5, "ITEMS", 5, 1],
        ["QUOTA.SETLIMIT", "@book", 5, 0, 7, "60d"], ["QUOTA.SETLIMIT", "@book", 5, 0, 7, "1d"],
        ["QUOTA.SETLIMIT", "@book", many(1000, lambda i: i, 1, 7, "60d")],
        ["QUOTA.LIMITS", "book", many(1000, lambda i: i)],
        ["QUOTA.DELLIMIT", "@book", many(1000, lambda i: i)],
        ["QUOTA.LEFT", "book", 5, many(1000, lambda i: i)], ["QUOTA.STATS", "book"],
        ["QUOTA.RESET", "@book", 5], ["QUOTA.HISTORY", "book", 5],
        ["QUOTA.RESET", "@book", many(1000, lambda i: i)],
        ["POLICY.LIST"],
    ]
