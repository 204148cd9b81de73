#!/usr/bin/env python3
"""CLIENT TRACKING by chance, on tallyd and on redis-server: the same clients read, with tracking in every mode, and
others change what they have read, by every kind of command. After each command each client must have got the same
messages on both, as a set, and the same replies.

What is left out because it is not the same on purpose: SWAPDB (here everything counts as changed); and a client that
changes its own tracking within MULTI, after keys that it had read (Redis sends what that means at the end of EXEC).
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import RespClient, encode  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server  # noqa: E402

COMMANDS = 12_000
CLIENTS = 6
KEYS = [f"{prefix}{number}" for prefix in ("a", "ab", "b", "c:") for number in range(4)]
STRINGS, LISTS, HASHES, SETS, ZSETS = ([f"{kind}{key}" for key in KEYS[:6]] for kind in "slhtz")


class Push(tuple):
    """A message that is no reply."""


class Resp3Client(RespClient):
    """Also reads RESP3. `inside` are the messages that came within replies: Redis sends some within that of EXEC."""

    def __init__(self, port):
        super().__init__(port)
        self.inside = []

    def read(self):
        kind = self.stream.peek(1)[:1]
        if kind in b"$:+" and kind:
            return super().read()
        line = self.stream.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.element() for _ in range(int(rest))]
        if kind == b"-":  # An error in the reply of EXEC is one of its elements.
            return f"-{rest.decode()}"
        if kind == b">":
            return Push(self.read() for _ in range(int(rest)))
        if kind == b"~":
            return [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return [self.read() for _ in range(2 * int(rest))]
        if kind == b"_":
            return None
        if kind == b",":
            return float(rest)
        raise ValueError(f"not RESP: {line!r}")

    def element(self):
        while isinstance(element := self.read(), Push):
            self.inside.append(element)
        return element


class Caller:
    """A client of one server. Its PING comes back after all that the server had sent before it."""

    def __init__(self, port, protocol):
        self.client = Resp3Client(port)
        if protocol == 3:
            self.client.call("HELLO", "3")
        self.id = self.client.call("CLIENT", "ID")

    def send(self, words):
        """The reply, and the messages before it."""
        self.client.socket.sendall(encode(words))
        messages = []
        while True:
            reply = self.client.read()
            if not is_message(reply):
                messages += self.client.inside
                self.client.inside = []
                return reply, messages
            messages.append(reply)

    def received(self):
        """The messages that came since."""
        _, messages = self.send(["PING"])
        return messages


def is_message(reply):
    return isinstance(reply, Push) or (isinstance(reply, list) and reply[:1] == [b"message"])


def keys_of(messages):
    """The invalidations as a set: how keys are spread over the messages of a broadcast depends on the turns."""
    found = set()
    for message in messages:
        if message[0] == b"tracking-redir-broken":
            found.add("broken")
        elif message[-1] is None:
            found.add("all")
        else:
            found.update(message[-1])
    return found


def tracking_words(dice, ids):
    """CLIENT TRACKING with options that agree with one another, or not."""
    words = ["CLIENT", "TRACKING", dice.choice(["ON", "ON", "ON", "OFF"])]
    modes = [[], [], ["OPTIN"], ["OPTOUT"], ["BCAST"], ["BCAST", "PREFIX", "sa"], ["BCAST", "PREFIX", "s", "PREFIX", "h"],
             ["BCAST", "PREFIX", "sa", "PREFIX", "sab"], ["OPTIN", "OPTOUT"], ["PREFIX", "s"]]
    words += dice.choice(modes) + dice.choice([[], [], ["NOLOOP"]])
    if dice.random() < 0.3:
        words += ["REDIRECT", str(dice.choice(ids))]
    return words


def read_words(dice):
    return dice.choice([
        lambda: ["GET", dice.choice(STRINGS)], lambda: ["MGET", *dice.sample(STRINGS, 3)],
        lambda: ["STRLEN", dice.choice(STRINGS)], lambda: ["EXISTS", dice.choice(STRINGS + HASHES)],
        lambda: ["TYPE", dice.choice(LISTS + STRINGS)], lambda: ["LRANGE", dice.choice(LISTS), "0", "-1"],
        lambda: ["LLEN", dice.choice(LISTS)], lambda: ["HGETALL", dice.choice(HASHES)],
        lambda: ["HGET", dice.choice(HASHES), "f1"], lambda: ["SCARD", dice.choice(SETS)],
        lambda: ["SISMEMBER", dice.choice(SETS), "m1"], lambda: ["ZRANGE", dice.choice(ZSETS), "0", "-1"],
        lambda: ["ZSCORE", dice.choice(ZSETS), "m1"], lambda: ["SINTERCARD", "2", *dice.sample(SETS, 2)],
        lambda: ["PFCOUNT", dice.choice(STRINGS)], lambda: ["BITCOUNT", dice.choice(STRINGS)],
        lambda: ["GETRANGE", dice.choice(STRINGS), "0", "2"], lambda: ["SORT_RO", dice.choice(LISTS), "ALPHA"],
        lambda: ["OBJECT", "REFCOUNT", dice.choice(LISTS)], lambda: ["EXPIRETIME", dice.choice(STRINGS)],
        lambda: ["EVAL", "return redis.call('GET',KEYS[1])", "1", dice.choice(STRINGS)],
        lambda: ["EVAL_RO", "return redis.call('EXISTS',KEYS[2])", "2", *dice.sample(STRINGS, 2)],
        lambda: ["EVAL", "redis.call('GET',KEYS[1]) return redis.call('SET',KEYS[1],'9')", "1", dice.choice(STRINGS)],
    ])()


def write_words(dice):
    return dice.choice([
        lambda: ["SET", dice.choice(STRINGS), str(dice.randrange(9))], lambda: ["INCR", dice.choice(STRINGS)],
        lambda: ["SET", dice.choice(STRINGS), "1", dice.choice(["NX", "XX", "GET"])],
        lambda: ["MSET", dice.choice(STRINGS), "1", dice.choice(STRINGS), "2"],
        lambda: ["MSETNX", dice.choice(STRINGS), "1", dice.choice(STRINGS), "2"],
        lambda: ["APPEND", dice.choice(STRINGS), "x"], lambda: ["SETRANGE", dice.choice(STRINGS), "1", dice.choice(["", "y"])],
        lambda: ["GETDEL", dice.choice(STRINGS)], lambda: ["GETEX", dice.choice(STRINGS), dice.choice(["PERSIST", "EX"]),
                                                           *dice.choice([[], ["100"]])],
        lambda: ["SETBIT", dice.choice(STRINGS), "7", dice.choice("01")],
        lambda: ["BITOP", "OR", *dice.sample(STRINGS, 3)], lambda: ["BITFIELD", dice.choice(STRINGS), "INCRBY", "u8", "0", "1"],
        lambda: ["PFADD", "sa0", dice.choice("xyz")],
        lambda: [dice.choice(["DEL", "UNLINK"]), *dice.sample(STRINGS + LISTS + SETS, 2)],
        lambda: [dice.choice(["RENAME", "RENAMENX"]), *dice.sample(STRINGS, 2)],
        lambda: ["COPY", *dice.sample(STRINGS, 2), *dice.choice([[], ["REPLACE"]])],
        lambda: ["MOVE", dice.choice(STRINGS), "1"], lambda: ["COPY", dice.choice(STRINGS), dice.choice(STRINGS), "DB", "1"],
        lambda: ["EXPIRE", dice.choice(STRINGS), dice.choice(["100", "0", "-1"])],
        lambda: ["PERSIST", dice.choice(STRINGS)], lambda: ["TOUCH", dice.choice(STRINGS)],
        lambda: [dice.choice(["LPUSH", "RPUSH", "RPUSHX"]), dice.choice(LISTS), dice.choice("abc")],
        lambda: [dice.choice(["LPOP", "RPOP"]), dice.choice(LISTS)],
        lambda: ["LMOVE", dice.choice(LISTS), dice.choice(LISTS), "LEFT", "RIGHT"],
        lambda: ["LREM", dice.choice(LISTS), "0", "a"], lambda: ["LTRIM", dice.choice(LISTS), "0", "2"],
        lambda: ["LSET", dice.choice(LISTS), "0", "z"], lambda: ["LINSERT", dice.choice(LISTS), "BEFORE", "a", "q"],
        lambda: ["SORT", dice.choice(LISTS), "ALPHA", "STORE", dice.choice(LISTS)],
        lambda: ["HSET", dice.choice(HASHES), dice.choice(["f1", "f2"]), dice.choice("12")],
        lambda: ["HDEL", dice.choice(HASHES), "f1"], lambda: ["HINCRBY", dice.choice(HASHES), "n", "1"],
        lambda: ["SADD", dice.choice(SETS), dice.choice(["m1", "m2"])], lambda: ["SREM", dice.choice(SETS), "m1"],
        lambda: ["SMOVE", *dice.sample(SETS, 2), "m1"],
        lambda: [dice.choice(["SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"]), *dice.sample(SETS, 3)],
        lambda: ["ZADD", dice.choice(ZSETS), dice.choice("123"), dice.choice(["m1", "m2"])],
        lambda: ["ZADD", dice.choice(ZSETS), "XX", "CH", "5", "m1"],
        lambda: ["ZREM", dice.choice(ZSETS), "m2"], lambda: ["ZPOPMIN", dice.choice(ZSETS)],
        lambda: ["ZREMRANGEBYRANK", dice.choice(ZSETS), "5", "9"],
        lambda: ["ZRANGESTORE", dice.choice(ZSETS), dice.choice(ZSETS), "0", "-1"],
        lambda: ["ZUNIONSTORE", dice.choice(ZSETS), "2", *dice.sample(ZSETS, 2)],
        lambda: ["EVAL", "redis.call('SET',KEYS[1],'8') return redis.call('DEL',KEYS[2])", "2", *dice.sample(STRINGS, 2)],
        lambda: ["FLUSHDB"] if dice.random() < 0.1 else ["PING"],
        lambda: ["FLUSHALL"] if dice.random() < 0.1 else ["PING"],
        lambda: ["WRONG", "x"], lambda: ["GET"],
    ])()


class Pair:
    """The same clients on both servers."""

    def __init__(self, ports, protocol, subscribes):
        self.callers = [Caller(port, protocol) for port in ports]
        self.subscribes = subscribes
        if subscribes:
            for caller in self.callers:
                caller.client.call("SUBSCRIBE", "__redis__:invalidate")

    def send(self, words, pairs):
        """The replies; REDIRECT names the place of a client, which is another id on each server."""
        replies = []
        for which, caller in enumerate(self.callers):
            own = list(words)
            if "REDIRECT" in own:
                place = own.index("REDIRECT") + 1
                own[place] = pairs[int(own[place])].callers[which].id
            reply, messages = caller.send(own)
            replies.append((place_ids(reply, pairs, which), messages))
        return replies


def place_ids(reply, pairs, which):
    """The reply with the places of clients in place of their ids, also within the reply of EXEC."""
    if not isinstance(reply, list):
        return reply
    if b"redirect" in reply:
        place = reply.index(b"redirect") + 1
        ids = {pair.callers[which].id: index for index, pair in enumerate(pairs)}
        return [*reply[:place], f"client {ids.get(reply[place])}", *reply[place + 1:]]
    return [place_ids(part, pairs, which) for part in reply]


class Run:
    def __init__(self, report, ports, seed):
        self.report, self.ports, self.dice = report, ports, random.Random(seed)
        self.history = []
        # Here what was remembered is forgotten when nobody tracks. So somebody does.
        self.tracker = Pair(ports, 3, False)
        self.tracker.send(["CLIENT", "TRACKING", "ON"], [])
        self.pairs = []
        for place in range(CLIENTS):
            subscribes = place == CLIENTS - 1
            self.pairs.append(Pair(ports, 2 if subscribes or place == 0 else 3, subscribes))
        self.queueing = set()  # those in MULTI
        self.talkers = [place for place, pair in enumerate(self.pairs) if not pair.subscribes]

    def step(self):
        dice = self.dice
        place = dice.choice(self.talkers)
        kind = dice.random()
        if place in self.queueing and kind < 0.15:
            words = [dice.choice(["EXEC", "EXEC", "EXEC", "DISCARD", "MULTI"])]
        elif kind < 0.06 and place not in self.queueing:
            words = tracking_words(dice, range(CLIENTS))
        elif kind < 0.1:
            words = dice.choice([["CLIENT", "CACHING", "YES"], ["CLIENT", "CACHING", "NO"], ["CLIENT", "TRACKINGINFO"],
                                 ["SELECT", dice.choice("0001")]])
        elif kind < 0.13:
            words = [dice.choice(["MULTI", "MULTI", "EXEC", "DISCARD"])]
        elif kind < 0.6:
            words = read_words(dice)
        else:
            words = write_words(dice)
        if words == ["MULTI"]:
            self.queueing.add(place)
        elif words in (["EXEC"], ["DISCARD"]):
            self.queueing.discard(place)
        return self.send(place, words)

    def send(self, place, words):
        """Sends it on both servers, and compares the reply and what every client has got."""
        self.history.append((place, words))
        ours, theirs = self.pairs[place].send(words, self.pairs)
        got = []
        for which, (_, messages) in enumerate((ours, theirs)):
            all_got = []
            for other, pair in enumerate(self.pairs):
                own = messages if other == place else []
                all_got.append(keys_of(own + pair.callers[which].received()))
            got.append(all_got)
        if ours[0] == theirs[0] and got[0] == got[1]:
            return True
        shown = "\n".join(f"client {client}: {' '.join(map(str, sent))}" for client, sent in self.history[-25:])
        return self.report.check("the same messages", False,
                                 f"{shown}\ntallyd:       {got[0]}\nredis-server: {got[1]}\n"
                                 f"tallyd:       {ours[0]!r}\nredis-server: {theirs[0]!r}")


def compare(report, seed):
    with Server() as server, Server("redis-server") as reference:
        run = Run(report, (server.port, reference.port), seed)
        count = scaled(COMMANDS)
        done = next((number for number in range(count) if not run.step()), count)
        report.equal(f"seed {seed}: {count} commands of {CLIENTS} clients, the same messages after each", done, count)


def main():
    report = Report()
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1 << 32)
    compare(report, seed)
    report.finish()


main()
