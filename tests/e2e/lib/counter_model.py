"""A naive model of the commands that the counting systems send, to recount what a server acknowledged."""

import copy

NO_DEADLINE = -1
CLOCK_SLACK_MS = 1000  # A server reads its clock once a turn, before it reads the request.


class Between:
    """Equals every number from one to another."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __eq__(self, other):
        return isinstance(other, int) and self.low <= other <= self.high

    def __repr__(self):
        return f"{self.low}..{self.high}"


class AnyOrder:
    """Equals a list of the same parts, each of as many elements, in any order."""

    def __init__(self, elements, size=1):
        self.elements, self.size = elements, size

    def __eq__(self, other):
        return isinstance(other, list) and self._parts(other) == self._parts(self.elements)

    def __repr__(self):
        return repr(self.elements)

    def _parts(self, elements):
        return sorted(tuple(elements[at:at + self.size]) for at in range(0, len(elements), self.size))


class CounterModel:
    """Keys to int, bytes, a list of bytes, or for a hash or a sorted set a dict to bytes or to scores.

    Deadlines are intervals, for the server read its own clock.
    """

    def __init__(self):
        self.values = {}
        self.deadlines = {}  # key -> (earliest, latest) unix ms

    def copy(self):
        other = CounterModel()
        other.values = {key: copy.copy(value) for key, value in self.values.items()}
        other.deadlines = dict(self.deadlines)
        return other

    def apply(self, command, sent_at, answered_at):
        """Executes a command that the server ran at some time between the two; returns its reply."""
        name, *arguments = command
        return getattr(self, "_" + name.decode().lower())(*arguments, (sent_at, answered_at))

    def holds(self, key, found):
        """Whether the model has for the key what a server has: (value, deadline), or None if absent."""
        if found is None:
            return key not in self.values
        value, deadline = self.values.get(key), found[1]
        earliest, latest = self.deadlines.get(key, (NO_DEADLINE, NO_DEADLINE))
        if NO_DEADLINE not in (deadline, earliest):
            earliest, latest = earliest - CLOCK_SLACK_MS, latest + CLOCK_SLACK_MS
        same_value = found[0] == (str(value).encode() if isinstance(value, int) else value)
        return same_value and earliest <= deadline <= latest

    def differences(self, found):
        """The keys of which the model and a dump tell different things."""
        return {key for key in found.keys() | self.values.keys() if not self.holds(key, found.get(key))}

    def _drop(self, key):
        self.values.pop(key, None)
        self.deadlines.pop(key, None)

    def _get(self, key, _):
        value = self.values.get(key)
        return None if value is None else str(value).encode()

    def _mget(self, *arguments):
        *keys, now = arguments
        return [self._get(key, now) for key in keys]

    def _exists(self, key, _):
        return int(key in self.values)

    def _del(self, *arguments):
        *keys, _ = arguments
        existed = sum(self._exists(key, None) for key in keys)
        for key in keys:
            self._drop(key)
        return existed

    def _incr(self, key, _):
        self.values[key] = self.values.get(key, 0) + 1
        return self.values[key]

    def _setbit(self, key, offset, bit, _):
        offset = int(offset)
        bits = bytearray(self.values.get(key, b"").ljust(offset // 8 + 1, b"\0"))
        mask = 128 >> offset % 8
        old = int(bits[offset // 8] & mask != 0)
        bits[offset // 8] = bits[offset // 8] | mask if bit == b"1" else bits[offset // 8] & ~mask
        self.values[key] = bytes(bits)
        return old

    def _bitcount(self, key, _):
        return sum(byte.bit_count() for byte in self.values.get(key, b""))

    def _setex(self, key, seconds, value, now):
        self.values[key] = int(value)
        self._expire(key, seconds, now)
        return b"OK"

    def _expire(self, key, seconds, now):
        if key not in self.values:
            return 0
        self.deadlines[key] = tuple(at + int(seconds) * 1000 for at in now)
        return 1

    def _expireat(self, key, seconds, _):
        if key not in self.values:
            return 0
        self.deadlines[key] = (int(seconds) * 1000, int(seconds) * 1000)
        return 1

    def _ttl(self, key, now):
        if key not in self.deadlines:
            return -1 if key in self.values else -2
        (sent_at, answered_at), (earliest, latest) = now, self.deadlines[key]
        return Between(int(earliest - answered_at) // 1000, int(latest - sent_at) // 1000 + 1)

    def _hget(self, key, field, _):
        return self.values.get(key, {}).get(field)

    def _hset(self, key, field, value, _):
        fields = self.values.setdefault(key, {})
        fresh = int(field not in fields)
        fields[field] = value
        return fresh

    def _hsetnx(self, key, field, value, now):
        return 0 if self._hget(key, field, now) is not None else self._hset(key, field, value, now)

    def _hincrby(self, key, field, by, now):
        number = int(self._hget(key, field, now) or 0) + int(by)
        self._hset(key, field, b"%d" % number, now)
        return number

    def _hgetall(self, key, _):
        return AnyOrder([word for pair in self.values.get(key, {}).items() for word in pair], 2)

    def _hkeys(self, key, _):
        return AnyOrder(list(self.values.get(key, {})))

    def _hlen(self, key, _):
        return len(self.values.get(key, {}))

    def _hdel(self, *arguments):
        key, *fields, _ = arguments
        gone = [self.values[key].pop(field) for field in fields if field in self.values.get(key, {})]
        if key in self.values and not self.values[key]:
            self._drop(key)
        return len(gone)

    def _zadd(self, key, score, member, now):
        scores = self.values.setdefault(key, {})
        fresh = int(member not in scores)
        scores[member] = float(score)
        return fresh

    def _zcard(self, key, now):
        return self._hlen(key, now)

    def _zremrangebyscore(self, key, _, highest, now):
        """From -inf to a score, which is not included after a parenthesis."""
        bound = float(highest.lstrip(b"("))
        gone = [member for member, score in self.values.get(key, {}).items()
                if score < bound or score == bound and not highest.startswith(b"(")]
        return self._hdel(key, *gone, now)

    def _llen(self, key, _):
        return len(self.values.get(key, []))

    def _lindex(self, key, index, _):
        entries = self.values.get(key, [])
        return entries[int(index)] if int(index) < len(entries) else None

    def _lpush(self, key, value, _):
        self.values.setdefault(key, []).insert(0, value)
        return len(self.values[key])

    def _rpush(self, key, value, _):
        self.values.setdefault(key, []).append(value)
        return len(self.values[key])

    def _lpop(self, key, _):
        return self._pop(key, 0)

    def _rpop(self, key, _):
        return self._pop(key, -1)

    def _pop(self, key, index):
        if key not in self.values:
            return None
        value = self.values[key].pop(index)
        if not self.values[key]:
            self._drop(key)
        return value


READING = {"string": ("GET",), "list": ("LRANGE", 0, -1), "hash": ("HGETALL",),
           "zset": ("ZRANGE", 0, -1, "WITHSCORES")}


def read_value(kind, reply):
    if kind not in ("hash", "zset"):
        return reply
    pairs = zip(reply[::2], reply[1::2])
    return dict(pairs) if kind == "hash" else {member: float(score) for member, score in pairs}


def dump(client):
    """A server's keyspace, read without the client under test: key -> (value, deadline in unix ms)."""
    keys = sorted(client.scan())
    types = client.pipeline(("TYPE", key) for key in keys)
    replies = client.pipeline((READING[kind][0], key, *READING[kind][1:])
                              for key, kind in zip(keys, types))
    values = [read_value(kind, reply) for kind, reply in zip(types, replies)]
    deadlines = client.pipeline(("PEXPIRETIME", key) for key in keys)
    return dict(zip(keys, zip(values, deadlines)))
