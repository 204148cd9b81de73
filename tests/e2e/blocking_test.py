#!/usr/bin/env python3
"""Commands that wait, on tallyd and on redis-server: the same clients wait, push, and end one another's waits, by chance.
After each command each client must have got the same replies on both. Then what only a real process shows: pipelines,
peers that hang up, timeouts, pauses, idle clients, a restart and kill -9 with clients that wait."""

import pathlib
import random
import re
import select
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import encode  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server  # noqa: E402

COMMANDS = 8_000
CLIENTS = 8
LISTS = ["a", "b", "c"]
SETS = ["x", "y"]
KEYS = LISTS + SETS
# A value that replaces one of another type wakes nobody. But if a transaction has created that other one, Redis wakes
# who waits for the key, provided that anybody waits for that other type, at whatever key. So not in transactions.
REPLACING = ("SORT", "ZUNIONSTORE", "ZRANGESTORE")


class Caller:
    """A client of one server: what it got is bytes, so that each form of reply is compared as it is."""

    def __init__(self, port, protocol=2):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.got = b""
        if protocol == 3:
            self.ask("HELLO", "3")
        self.id = self.ask("CLIENT", "ID")[1:-2].decode()

    def send(self, *words):
        self.socket.sendall(encode(words))

    def receive(self, seconds=10.0):
        """Waits for bytes; False if none came, or if the server has closed the connection."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        more = self.socket.recv(1 << 20)
        self.got += more
        return more != b""

    def take(self):
        taken, self.got = self.got, b""
        return taken

    def ask(self, *words):
        """Sends a command that is answered at once, when nothing else is on its way."""
        self.send(*words)
        while whole(self.got) is None:
            assert self.receive(), words
        return self.take()

    def wait_for(self, end):
        deadline = time.monotonic() + 20
        while not self.got.endswith(end):
            assert time.monotonic() < deadline, (self.got, end)
            if not self.receive(1) and self.got.endswith(end):
                break
        return self.take()

    def closed(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if select.select([self.socket], [], [], 1)[0] and self.socket.recv(1 << 16) == b"":
                return True
        return False


def whole(text, begin=0):
    """Where the reply that begins there ends; None if it is not whole."""
    end = text.find(b"\r\n", begin)
    if end < 0:
        return None
    kind, rest = text[begin:begin + 1], text[begin + 1:end]
    end += 2
    if kind in b"$=" and rest != b"-1":
        end += int(rest) + 2
        return end if end <= len(text) else None
    for _ in range({b"*": 1, b"%": 2}.get(kind, 0) * int(rest if rest.isdigit() else 0)):
        end = whole(text, end)
        if end is None:
            return None
    return end


def wait_words(dice):
    keys = dice.choices(LISTS, k=dice.randint(1, 3))
    sets = dice.choices(SETS, k=dice.randint(1, 2))
    end = dice.choice(["LEFT", "RIGHT"])
    return dice.choice([
        lambda: [dice.choice(["BLPOP", "BRPOP"]), *keys, "0"],
        lambda: [dice.choice(["BLPOP", "BRPOP"]), *dice.choices(KEYS, k=2), "0"],
        lambda: ["BLMOVE", dice.choice(LISTS), dice.choice(KEYS), end, dice.choice(["LEFT", "RIGHT"]), "0"],
        lambda: ["BRPOPLPUSH", dice.choice(LISTS), dice.choice(LISTS), "0"],
        lambda: ["BLMPOP", "0", str(len(keys)), *keys, end, *dice.choice([[], ["COUNT", str(dice.randint(0, 3))]])],
        lambda: [dice.choice(["BZPOPMIN", "BZPOPMAX"]), *sets, "0"],
        lambda: ["BZMPOP", "0", str(len(sets)), *sets, dice.choice(["MIN", "MAX"]), *dice.choice([[], ["COUNT", "2"]])],
    ])()


def change_words(dice):
    elements = [str(dice.randrange(100)) for _ in range(dice.randint(1, 3))]
    scored = [word for element in elements for word in (str(dice.randrange(9)), element)]
    return dice.choice([
        lambda: [dice.choice(["LPUSH", "RPUSH"]), dice.choice(LISTS), *elements],
        lambda: [dice.choice(["LPUSH", "RPUSH"]), dice.choice(KEYS), *elements],
        lambda: ["ZADD", dice.choice(SETS), *scored],
        lambda: ["ZADD", dice.choice(KEYS), *scored],
        lambda: [dice.choice(["LPOP", "RPOP"]), dice.choice(LISTS)],
        lambda: ["LMOVE", dice.choice(LISTS), dice.choice(LISTS), "LEFT", "RIGHT"],
        lambda: ["DEL", *dice.choices(KEYS, k=3)],
        lambda: ["SET", dice.choice(KEYS), "1"],
        lambda: [dice.choice(["RENAME", "RENAMENX"]), *dice.choices(KEYS, k=2)],
        lambda: ["COPY", *dice.choices(KEYS, k=2), *dice.choice([[], ["REPLACE"]])],
        lambda: ["SORT", dice.choice(LISTS), "STORE", dice.choice(LISTS)],
        lambda: ["ZUNIONSTORE", dice.choice(SETS), "2", *SETS],
        lambda: ["ZRANGESTORE", dice.choice(SETS), dice.choice(SETS), "0", "1"],
        lambda: ["LREM", dice.choice(LISTS), "0", elements[0]],
        lambda: ["LTRIM", dice.choice(LISTS), "0", "1"],
        lambda: ["EVAL", "redis.call('RPUSH',KEYS[1],1,2) redis.call('RPUSH',KEYS[2],3) return redis.call('LLEN',KEYS[1])",
                 "2", *dice.sample(LISTS, 2)],
        lambda: ["EVAL", "redis.call('DEL',KEYS[1]) redis.call('LPUSH',KEYS[1],1) return redis.call('DEL',KEYS[1])",
                 "1", dice.choice(LISTS)],
        lambda: ["EVAL", "return redis.call('BLMPOP',0,1,KEYS[1],'LEFT')", "1", dice.choice(LISTS)],
        lambda: ["EVAL", "redis.call('SELECT',1) redis.call('RPUSH',KEYS[1],'s','t') redis.call('SWAPDB',0,1) "
                 "return redis.call('FLUSHDB')", "1", dice.choice(LISTS)] if dice.random() < 0.3 else ["DBSIZE"],
        lambda: ["FLUSHALL"] if dice.random() < 0.3 else ["DBSIZE"],
        lambda: ["PEXPIRE", dice.choice(KEYS), "0"],
        lambda: ["LLEN", dice.choice(LISTS)],
    ])()


class Pairs:
    """The same clients on both servers. The last one of each never waits: its PING comes back when all that the
    commands before it have caused has been sent."""

    def __init__(self, ports):
        self.ports = ports
        self.pairs = [self.connect(3 if i % 2 else 2) for i in range(CLIENTS)]
        self.waits = [False] * CLIENTS
        self.queueing = [False] * CLIENTS

    def connect(self, protocol):
        return [Caller(port, protocol) for port in self.ports]

    def settle(self, who):
        """Until the client has got a reply on the first server, or is shown as blocked, and the same on the second."""
        for which in range(2):
            caller = self.pairs[who][which]
            while not caller.got and not self.blocked(which, caller.id):
                caller.receive(0.001)

    def blocked(self, which, identity):
        line = self.pairs[-1][which].ask("CLIENT", "LIST", "ID", identity)
        return re.search(rb"flags=\w*b", line) is not None

    def collect(self):
        """What all clients have got, by client, on each server."""
        got = []
        for which in range(2):
            self.pairs[-1][which].ask("PING")
            mine = []
            for pair in self.pairs[:-1]:
                while pair[which].receive(0):
                    pass
                mine.append(pair[which].take())
            got.append(mine)
        return got


def run_chance(report, ports):
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    pairs = Pairs(ports)
    blocks = serves = 0
    for step in range(scaled(COMMANDS)):
        free = [i for i in range(CLIENTS - 1) if not pairs.waits[i]]
        held = [i for i in range(CLIENTS - 1) if pairs.waits[i]]
        who = dice.choice(free) if free else None
        if held and (who is None or dice.random() < 0.05):
            target = dice.choice(held)
            mode = dice.choice([[], ["TIMEOUT"], ["ERROR"]])
            who, words = CLIENTS - 1, None
            for which in range(2):
                pairs.pairs[who][which].ask("CLIENT", "UNBLOCK", pairs.pairs[target][which].id, *mode)
            described = f"CLIENT UNBLOCK of {target} {mode}"
        else:
            if pairs.queueing[who]:
                words = dice.choice([["EXEC"], ["EXEC"], change_words(dice), change_words(dice), wait_words(dice)])
                if words[0] in REPLACING:
                    words = ["DBSIZE"]
            else:
                words = dice.choice([["MULTI"], *[change_words(dice)] * 5, *[wait_words(dice)] * 6])
            if words[0] in ("MULTI", "EXEC"):
                pairs.queueing[who] = words[0] == "MULTI"
            for which in range(2):
                pairs.pairs[who][which].send(*words)
            pairs.settle(who)
            described = f"{words} of {who}"
        ours, theirs = pairs.collect()
        if ours != theirs:
            report.check(f"seed {seed}, step {step}, {described}: {ours} and {theirs}", False)
            return
        if words and not ours[who] and words[0].startswith("B"):
            pairs.waits[who] = True
            blocks += 1
        for i in range(CLIENTS - 1):
            if pairs.waits[i] and ours[i]:
                pairs.waits[i] = False
                serves += 1
    report.check(f"{scaled(COMMANDS)} commands of {CLIENTS - 1} clients, {blocks} waits, {serves} of them ended: the same",
                 blocks > 500 and serves > 500)
    for pair in pairs.pairs:
        for caller in pair:
            caller.socket.close()


def run_pipelines(report, port):
    waiting, other = Caller(port), Caller(port)
    waiting.socket.sendall(encode(["SET", "p", "1"]) + encode(["BLPOP", "q", "0"]) + encode(["SET", "p", "2"])
                           + encode(["BLPOP", "r", "0"]) + encode(["GET", "p"]))
    report.equal("what comes before a command that waits is answered", waiting.wait_for(b"+OK\r\n"), b"+OK\r\n")
    report.equal("what comes behind it waits too", other.ask("GET", "p"), b"$1\r\n1\r\n")
    other.ask("RPUSH", "q", "e")
    report.equal("and is run in its order", waiting.wait_for(b"+OK\r\n"), b"*2\r\n$1\r\nq\r\n$1\r\ne\r\n+OK\r\n")
    # More than one read, behind a command that waits.
    waiting.socket.sendall(encode(["PING"]) * 20_000)
    report.equal("a long pipeline waits as well", waiting.receive(0.05), False)
    other.ask("RPUSH", "r", "f")
    expected = b"*2\r\n$1\r\nr\r\n$1\r\nf\r\n$1\r\n2\r\n" + b"+PONG\r\n" * 20_000
    while len(waiting.got) < len(expected) and waiting.receive():
        pass
    report.check("and is answered whole", waiting.take() == expected)


def run_hang_ups(report, port):
    other = Caller(port)
    for name, close in (("closes", lambda one: one.socket.close()),
                        ("sends no more", lambda one: one.socket.shutdown(socket.SHUT_WR)),
                        ("resets", lambda one: one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                         or one.socket.close())):
        one = Caller(port)
        one.socket.sendall(encode(["BLPOP", "gone", "0"]) + encode(["SET", "gone2", "1"]))
        until(lambda: b"blocked_clients:1" in other.ask("INFO", "clients"))
        close(one)
        until(lambda: b"blocked_clients:0" in other.ask("INFO", "clients"))
        other.ask("RPUSH", "gone", "e")
        report.equal(f"a peer that {name} while it waits takes nothing", other.ask("LPOP", "gone"), b"$1\r\ne\r\n")
        report.equal("and nothing behind it is run", other.ask("EXISTS", "gone2"), b":0\r\n")
    one = Caller(port)
    one.socket.sendall(encode(["SET", "half", "1"]) + encode(["BLPOP", "gone", "0"]))
    one.socket.shutdown(socket.SHUT_WR)
    report.check("a peer that has sent all gets what came before", one.receive() and one.take() == b"+OK\r\n" and one.closed())


def until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def run_time(report, port):
    waiting, other = Caller(port), Caller(port)
    for words, seconds in ((["BLPOP", "t", "0.2"], 0.2), (["BZPOPMIN", "t", "0.05"], 0.05),
                           (["BLMOVE", "t", "u", "LEFT", "LEFT", "1"], 1), (["BLPOP", "t", "0.0001"], 0.0005)):
        begin = time.monotonic()
        waiting.send(*words)
        reply = waiting.wait_for(b"*-1\r\n")
        report.check(f"{words}: nothing, not before its time", reply == b"*-1\r\n" and time.monotonic() - begin >= seconds * 0.9)
    # Many at once, in the order of their deadlines.
    many = [Caller(port) for _ in range(50)]
    for i, one in enumerate(many):
        one.send("BLPOP", "t", str(0.5 - i * 0.005))
    for one in reversed(many):
        one.wait_for(b"*-1\r\n")
    report.check("50 timeouts", b"clients_in_timeout_table:0" in other.ask("INFO", "clients"))
    other.ask("CONFIG", "SET", "timeout", "1")
    waiting.send("BLPOP", "t", "0")
    until(lambda: b"blocked_clients:1" in Caller(port).ask("INFO", "clients"))
    time.sleep(2.5)
    pusher = Caller(port)
    pusher.ask("CONFIG", "SET", "timeout", "0")
    pusher.ask("RPUSH", "t", "e")
    report.equal("who waits is not idle", waiting.wait_for(b"e\r\n"), b"*2\r\n$1\r\nt\r\n$1\r\ne\r\n")
    pusher.ask("CLIENT", "PAUSE", "300", "WRITE")
    waiting.send("BLPOP", "t", "0")
    until(lambda: b"blocked_clients:1" in pusher.ask("INFO", "clients"))
    until(lambda: b"clients_in_timeout_table:0" in pusher.ask("INFO", "clients"))
    pusher.send("RPUSH", "t", "f")
    report.check("a command held back by CLIENT PAUSE waits afterwards", waiting.wait_for(b"f\r\n") == b"*2\r\n$1\r\nt\r\n$1\r\nf\r\n")


def run_restarts(report):
    with Server(appendonly="yes", appendfsync="always") as server:
        def wait_and_push():
            waiting = [Caller(server.port) for _ in range(4)]
            waiting[0].send("BLPOP", "k", "0")
            waiting[1].send("BLMOVE", "l", "m", "LEFT", "RIGHT", "0")
            waiting[2].send("BZPOPMIN", "z", "0")
            waiting[3].send("BLPOP", "never", "0")
            other = Caller(server.port)
            until(lambda: b"blocked_clients:4" in other.ask("INFO", "clients"))
            other.ask("RPUSH", "k", "1", "2", "3")
            other.ask("RPUSH", "l", "1", "2")
            other.ask("ZADD", "z", "1", "one", "2", "two")
            for one in waiting[:3]:
                one.receive()
            return [other.ask("LRANGE", "k", "0", "-1"), other.ask("LRANGE", "l", "0", "-1"),
                    other.ask("LRANGE", "m", "0", "-1"), other.ask("ZRANGE", "z", "0", "-1")], waiting[3]

        before, waiting = wait_and_push()
        server.kill()
        report.check("kill -9 ends the wait", waiting.closed())
        server.start()
        other = Caller(server.port)
        after = [other.ask("LRANGE", key, "0", "-1") for key in "klm"] + [other.ask("ZRANGE", "z", "0", "-1")]
        report.equal("kill -9 with clients that wait: the same data, and nobody waits", after, before)
        other.ask("FLUSHALL")
        before, waiting = wait_and_push()
        server.stop()
        server.start()
        report.check("a restart ends the wait", waiting.closed())
        other = Caller(server.port)
        after = [other.ask("LRANGE", key, "0", "-1") for key in "klm"] + [other.ask("ZRANGE", "z", "0", "-1")]
        report.equal("a restart with clients that wait: the same data", after, before)


def main():
    report = Report()
    with Server() as server, Server("redis-server") as redis:
        run_chance(report, [server.port, redis.port])
        run_pipelines(report, server.port)
        run_hang_ups(report, server.port)
        run_time(report, server.port)
    run_restarts(report)
    report.finish()


main()
