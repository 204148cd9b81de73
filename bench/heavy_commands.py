"""Commands with huge values, and with very many names, that pause.py has others wait beside."""

HUGE_BYTES = 150 << 20

# What one client does with a value of HUGE_BYTES while others wait: preparation, then the command.
HUGE = {
    "GET": ([], ["GET", "huge"]),
    "8 GETs": ([], *[["GET", "huge"]] * 8),
    "GETRANGE": ([], ["GETRANGE", "huge", 1, -2]),
    "MGET": ([], ["MGET", "huge", "huge"]),
    "SET": ([], ["SET", "other", "HUGE"]),
    "APPEND": ([["SET", "short", "x"]], ["APPEND", "short", "HUGE"]),
    "PUBLISH": ([], ["PUBLISH", "channel", "HUGE"]),
    "HGETALL": ([["HSET", "hash", "field", "MEMBER"]], ["HGETALL", "hash"]),
    "LRANGE": ([["RPUSH", "list", "MEMBER", "x"]], ["LRANGE", "list", 0, -1]),
    "SMEMBERS": ([["SADD", "set", "MEMBER", "x"]], ["SMEMBERS", "set"]),
}
PAYLOADS = {"HUGE": b"v" * HUGE_BYTES, "MEMBER": b"m" * (17 << 20)}


def with_payloads(words):
    return [PAYLOADS.get(word, word) for word in words]


NAMES = 100_000
SUM_UP = """local sum = 0
    for _, key in ipairs(KEYS) do sum = sum + redis.call('STRLEN', key) end
    return sum"""


def peek(keys):
    return ["LIMIT.PEEK", *[word for i in range(keys) for word in (
        *(["AND"] if i else []), f"user:{i}", "FIXED", 5, "10s")]]


def script(keys):
    return ["EVAL", SUM_UP, keys, *[f"user:{i}" for i in range(keys)]]


# The widest commands, and the nearest that Redis has, with as many names. Our PEEK of 64,000 and
# LEFTBYUSER of 100,000 are refused, because they are beyond what one command may have.
WIDE = {
    "PEEK 64": (peek(64), script(64)),
    "PEEK 64,000": (peek(64_000), script(64_000)),
    "LEFTBYUSER 1,000": (["QUOTA.LEFTBYUSER", "book", *range(1000)], script(1000)),
    "LEFTBYUSER 100,000": (["QUOTA.LEFTBYUSER", "book", *range(NAMES)], script(NAMES)),
    "TOUCH": (["ACTIVE.TOUCH", "page", *range(NAMES)],
              ["ZADD", "page", *[word for i in range(NAMES) for word in (1, i)]]),
    "MGET": (["MGET", *range(NAMES)], ["MGET", *range(NAMES)]),
}
