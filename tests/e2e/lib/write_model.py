"""Random commands of every type under one prefix of keys, and a model of the state they make."""


class WriteModel:
    """Commands never fail, and their effect does not depend on the time at which they run."""

    FAR = 1_900_000_000_000  # unix ms
    # Of a number below 1,000 and one below 6, which choose what is written and where.
    MAKERS = [
        lambda m, n, i: ("SET", m.key(f"s{i}"), f"{n}" * m.dice.choice([1, 1, 40, 400])),
        lambda m, n, i: ("APPEND", m.key(f"s{i}"), f"+{n}"),
        lambda m, n, i: ("INCRBY", m.key(f"n{i}"), n),
        lambda m, n, i: ("PEXPIREAT", m.key(f"n{i}"), m.FAR + n),
        lambda m, n, i: ("DEL", m.key(f"n{i}")),
        lambda m, n, i: ("RPUSH", m.key("list"), n, n + 1),
        lambda m, n, i: ("LPUSH", m.key("list"), n),
        lambda m, n, i: ("LPOP", m.key("list")),
        lambda m, n, i: ("LTRIM", m.key("list"), 0, 29),
        lambda m, n, i: ("HSET", m.key("hash"), f"f{i}", n),
        lambda m, n, i: ("HDEL", m.key("hash"), f"f{i}"),
        lambda m, n, i: ("SADD", m.key("set"), f"m{i}", f"m{i + 1}"),
        lambda m, n, i: ("SREM", m.key("set"), f"m{i}"),
        lambda m, n, i: ("ZADD", m.key("zset"), n, f"m{i}"),
        lambda m, n, i: ("ZREM", m.key("zset"), f"m{i}"),
        lambda m, n, i: ("SETBIT", m.key("bits"), n, 1),
        lambda m, n, i: ("HITS.ADD", m.key("hits"), "365d"),
        lambda m, n, i: ("LIMIT.TAKE", m.key("limit"), "FIXED", 1_000_000, "365d"),
        lambda m, n, i: ("ACTIVE.TOUCH", m.key("page"), f"id{n}"),
        lambda m, n, i: ("QUOTA.BUY", m.key("book"), 1 + i, n, "ITEMS", 7, 0, 1),
        lambda m, n, i: ("QUOTA.RESET", m.key("book"), 1 + i),
    ]

    def __init__(self, prefix, dice):
        self.prefix = prefix
        self.dice = dice
        self.strings = {}    # key -> bytes
        self.counters = {}   # key -> int
        self.deadlines = {}  # key -> unix ms
        self.list = []
        self.hash = {}
        self.set = set()
        self.scores = {}
        self.bits = set()
        self.hits = 0
        self.taken = 0
        self.online = set()
        self.orders = {}     # user -> orders

    def key(self, name):
        return self.prefix + name

    def random_command(self):
        make = self.dice.choice(self.MAKERS)
        return make(self, self.dice.randrange(1000), self.dice.randrange(6))

    def apply(self, command):
        name, key, *rest = command
        getattr(self, "_" + name.replace(".", "_").lower())(key, *rest)

    def _set(self, key, value):
        self.strings[key] = value.encode()

    def _append(self, key, value):
        self.strings[key] = self.strings.get(key, b"") + value.encode()

    def _incrby(self, key, number):
        self.counters[key] = self.counters.get(key, 0) + number

    def _pexpireat(self, key, when):
        if key in self.counters:
            self.deadlines[key] = when

    def _del(self, key):
        self.counters.pop(key, None)
        self.deadlines.pop(key, None)

    def _rpush(self, _, *values):
        self.list += [b"%d" % value for value in values]

    def _lpush(self, _, value):
        self.list.insert(0, b"%d" % value)

    def _lpop(self, _):
        del self.list[:1]

    def _ltrim(self, _, __, last):
        del self.list[last + 1:]

    def _hset(self, _, field, value):
        self.hash[field.encode()] = b"%d" % value

    def _hdel(self, _, field):
        self.hash.pop(field.encode(), None)

    def _sadd(self, _, *members):
        self.set.update(member.encode() for member in members)

    def _srem(self, _, member):
        self.set.discard(member.encode())

    def _zadd(self, _, score, member):
        self.scores[member.encode()] = score

    def _zrem(self, _, member):
        self.scores.pop(member.encode(), None)

    def _setbit(self, _, offset, __):
        self.bits.add(offset)

    def _hits_add(self, *_):
        self.hits += 1

    def _limit_take(self, *_):
        self.taken += 1

    def _active_touch(self, _, member):
        self.online.add(member.encode())

    def _quota_buy(self, _, user, order, *__):
        self.orders.setdefault(user, []).append(order)

    def _quota_reset(self, _, user):
        self.orders.pop(user, None)

    def expected(self):
        """What read() finds on a server in this state."""
        strings = [self.strings.get(self.key(f"s{item}")) for item in range(6)]
        counters = [self.counters.get(self.key(f"n{item}")) for item in range(6)]
        deadlines = [self.deadlines.get(self.key(f"n{item}"),
                                        -1 if self.key(f"n{item}") in self.counters else -2)
                     for item in range(6)]
        return (strings, counters, deadlines, self.list, self.hash, self.set, self.scores,
                len(self.bits), self.hits, self.taken, self.online,
                [sorted(self.orders.get(1 + item, [])) for item in range(6)])

    def read(self, client):
        """The state of the keys in the form of expected()."""
        names = range(6)
        strings = client.call("MGET", *[self.key(f"s{item}") for item in names])
        counters = client.call("MGET", *[self.key(f"n{item}") for item in names])
        deadlines = client.pipeline(("PEXPIRETIME", self.key(f"n{item}")) for item in names)
        fields = client.call("HGETALL", self.key("hash"))
        ranked = client.call("ZRANGE", self.key("zset"), 0, -1, "WITHSCORES")
        limit = client.call("LIMIT.PEEK", self.key("limit"), "FIXED", 1_000_000, "365d", "COST", 0)
        return (strings, [None if value is None else int(value) for value in counters], deadlines,
                client.call("LRANGE", self.key("list"), 0, -1),
                dict(zip(fields[::2], fields[1::2])),
                set(client.call("SMEMBERS", self.key("set"))),
                dict(zip(ranked[::2], map(int, ranked[1::2]))),
                client.call("BITCOUNT", self.key("bits")),
                client.call("HITS.COUNT", self.key("hits")),
                limit[1] - limit[2],
                set(self._seen(client)),
                [sorted(int(line[0]) for line in client.call("QUOTA.HISTORY", self.key("book"), 1 + item))
                 for item in names])

    def _seen(self, client):
        cursor = b"0"
        while True:
            cursor, page = client.call("ACTIVE.SCAN", self.key("page"), cursor, "COUNT", 500)
            for entry in page:
                yield entry[0] if isinstance(entry, list) else entry
            if cursor == b"0":
                return
