#!/usr/bin/env python3
"""One huge element of a list, hash, set or sorted set: it comes back byte for byte, by every command and by every wire,
also if its reader is slow or stops and the value changes or goes meanwhile."""

# tests/run: also under asan

import hashlib
import json
import pathlib
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import RespClient, encode  # noqa: E402
from lib.server import Server, free_port  # noqa: E402
from lib.sockets import MIB, connect, receive  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

SIZE = 20 * MIB


class Resp3Client(RespClient):
    """Maps and sets are lists, doubles are bytes."""

    def __init__(self, port):
        super().__init__(port)
        self.call("HELLO", "3")

    def read(self):
        kind = self.stream.peek(1)[:1]
        if kind not in (b"%", b"~", b","):
            return super().read()
        line = self.stream.readline()
        if kind == b",":
            return line[1:-2]
        return [self.read() for _ in range(int(line[1:]) * (2 if kind == b"%" else 1))]


def element(first):
    """Bytes of which no two blocks are alike. Some first bytes mean something where elements are packed."""
    return first + hashlib.shake_128(first).digest(SIZE - len(first))


# What has one huge element E; how it is asked for, and the answer; how it changes.
KINDS = {
    "a field's value": (
        [["HSET", "k", "f", "E", "g", "1"]],
        [(["HGET", "k", "f"], "E"), (["HMGET", "k", "f", "g"], ["E", b"1"]), (["HVALS", "k"], {"E", b"1"}),
         (["HGETALL", "k"], {b"f", "E", b"g", b"1"}), (["HSCAN", "k", "0"], [b"0", {b"f", "E", b"g", b"1"}]),
         (["SORT", "one", "BY", "nosort", "GET", "*->f"], ["E"])],
        [["HSET", "k", "f", "x"], ["HSET", "k", "h", "x", "i", "y"], ["HDEL", "k", "f"], ["HINCRBY", "k", "g", "1"]]),
    "a field's name": (
        [["HSET", "k", "E", "1"]],
        [(["HKEYS", "k"], ["E"]), (["HGETALL", "k"], ["E", b"1"]), (["HRANDFIELD", "k"], "E"),
         (["HRANDFIELD", "k", "-2"], ["E", "E"])],
        [["HDEL", "k", "E"], ["HSET", "k", "f", "x"]]),
    "an element of a list": (
        [["RPUSH", "k", "a", "E", "b"]],
        [(["LINDEX", "k", "1"], "E"), (["LRANGE", "k", "0", "-1"], [b"a", "E", b"b"]),
         (["SORT", "k", "BY", "nosort"], [b"a", "E", b"b"])],
        [["LSET", "k", "1", "x"], ["LTRIM", "k", "0", "0"], ["LREM", "k", "0", "E"], ["LINSERT", "k", "BEFORE", "E", "x"]]),
    "a member of a set": (
        [["SADD", "k", "E", "a"]],
        [(["SMEMBERS", "k"], {"E", b"a"}), (["SRANDMEMBER", "k", "2"], {"E", b"a"}), (["SINTER", "k", "k"], {"E", b"a"}),
         (["SUNION", "k", "one"], {"E", b"a", b"k"}), (["SDIFF", "k", "one"], {"E", b"a"}),
         (["SSCAN", "k", "0"], [b"0", {"E", b"a"}])],
        [["SREM", "k", "E"], ["SADD", "k", "b", "c"]]),
    "a member of a sorted set": (
        [["ZADD", "k", "1", "a", "2", "E"]],
        [(["ZRANGE", "k", "0", "-1"], [b"a", "E"]), (["ZRANGEBYSCORE", "k", "2", "3"], ["E"]),
         (["ZREVRANGE", "k", "0", "0"], ["E"]), (["ZUNION", "1", "k"], [b"a", "E"]),
         (["ZRANDMEMBER", "k", "2"], {b"a", "E"}), (["ZSCAN", "k", "0"], [b"0", {b"a", b"1", "E", b"2"}])],
        [["ZREM", "k", "E"], ["ZINCRBY", "k", "5", "E"], ["ZREMRANGEBYRANK", "k", "0", "-1"]]),
}
# Those that take the element away.
TAKING = [
    ([["RPUSH", "k", "E", "b"]], ["LPOP", "k"], "E"),
    ([["RPUSH", "k", "b", "E"]], ["RPOP", "k", "1"], ["E"]),
    ([["RPUSH", "k", "E"]], ["LMPOP", "1", "k", "LEFT"], [b"k", ["E"]]),
    ([["RPUSH", "k", "E"]], ["LMOVE", "k", "k2", "LEFT", "RIGHT"], "E"),
    ([["SADD", "k", "E"]], ["SPOP", "k"], "E"),
    ([["SADD", "k", "E", "a"]], ["SPOP", "k", "2"], {"E", b"a"}),
    ([["ZADD", "k", "1", "E"]], ["ZPOPMIN", "k"], ["E", b"1"]),
    ([["SET", "k", "E"]], ["GETDEL", "k"], "E"),
    ([["SET", "k", "E"]], ["GETSET", "k", "x"], "E"),
    ([["SET", "k", "E"]], ["SET", "k", "x", "GET"], "E"),
    ([["SET", "k2", "E"], ["RENAME", "k2", "k"]], ["GET", "k"], "E"),
]


def filled(words, huge):
    """With the element in the place of E; a set of words stands for any order."""
    if isinstance(words, (list, set)):
        return type(words)(filled(word, huge) for word in words)
    return huge if words == "E" else words


def same(answer, expected):
    if isinstance(expected, set):
        return len(answer) == len(expected) and set(answer) == expected
    if isinstance(expected, list):
        return len(answer) == len(expected) and all(map(same, answer, expected))
    return answer == expected


def check_answers(report, server, huge):
    name = f"{huge[:1]!r}…"
    for kind, client in [("RESP2", RespClient(server.port)), ("RESP3", Resp3Client(server.port))]:
        with client:
            for what, (writes, questions, _) in KINDS.items():
                client.call("FLUSHALL")
                client.call("SADD", "one", "k")
                for write in writes:
                    client.call(*filled(write, huge))
                for question, expected in questions:
                    if kind == "RESP3" and "WITHVALUES" in question:
                        continue
                    report.check(f"{kind}: {what} {name}: {' '.join(question)}",
                                 same(client.call(*question), filled(expected, huge)))
            for writes, taking, expected in TAKING:
                client.call("FLUSHALL")
                for write in writes:
                    client.call(*filled(write, huge))
                answer = client.call(*taking)
                if answer and isinstance(answer[0], list) and taking[0] == "ZPOPMIN":
                    answer = answer[0]
                report.check(f"{kind}: {' '.join(taking)} {name}", same(answer, filled(expected, huge)))


def check_changes(report, server, huge):
    """A reply is what the value was, whatever becomes of it while nobody reads."""
    with server.client() as client:
        for what, (writes, questions, changes) in KINDS.items():
            for change in [*changes, ["DEL", "k"], ["SET", "k", "x"], ["FLUSHALL"], ["RENAME", "k", "k2"]]:
                client.call("FLUSHALL")
                client.call("SADD", "one", "k")
                for write in writes:
                    client.call(*filled(write, huge))
                question, expected = questions[0]
                reader = RespClient(server.port)
                begin = connect(server.port)
                begin.sendall(encode(question))
                receive(begin, MIB)
                reader.socket.sendall(encode(question))
                # It has been asked before the change, and has not been read.
                wait_for(lambda: sum(b"cmd=" + question[0].lower().encode() in line
                                     for line in client.call("CLIENT", "LIST").splitlines()) == 2)
                client.call(*filled(change, huge))
                begin.close()
                report.check(f"{what} outlives {change[0]}", same(reader.read(), filled(expected, huge)))
                reader.close()
        client.call("FLUSHALL")
        memory = client.call("INFO", "memory")
        if b"mem_allocator:jemalloc" not in memory:
            return  # ASan keeps what is freed for a while. At the end it finds what was never freed.
        report.check("what the replies held is free again", wait_for(
            lambda: int(client.call("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0]) < 100 * MIB))


def check_other_wires(report, server, http_port, text):
    with server.client() as client:
        client.call("HSET", "k", "f", text)
        for script, expected in [("return redis.call('HGET', 'k', 'f')", text),
                                 ("return redis.call('HGETALL', 'k')", [b"f", text]),
                                 ("return #redis.call('HVALS', 'k')[1]", len(text)),
                                 ("redis.call('SADD', 's', redis.call('HGET', 'k', 'f'))\n"
                                  "redis.call('DEL', 'k') return redis.call('SMEMBERS', 's')", [text])]:
            report.check(f"in a script: {script}", client.call("EVAL", script, "0") == expected)
        client.call("MULTI")
        client.call("SMEMBERS", "s")
        client.call("SPOP", "s")
        client.call("DEL", "s")
        report.check("in a transaction", client.call("EXEC") == [[text], text, 0])
        # One reply by HTTP has at most 1 MiB.
        shared = text[:900_000]
        client.call("DEL", "k")
        client.call("HSET", "k", "f", shared)
        request = urllib.request.Request(f"http://127.0.0.1:{http_port}/api", data=b'["HGET", "k", "f"]',
                                         headers={"Content-Type": "application/json"}, method="POST")
        with urllib.request.urlopen(request) as answer:
            report.check("by /api", json.load(answer) == shared.decode())
        listener = server.client()
        listener.call("SUBSCRIBE", "news")
        report.equal("a message has a receiver", client.call("PUBLISH", "news", text), 1)
        report.check("a message", listener.read() == [b"message", b"news", text])
        listener.close()


def main():
    report = Report()
    http_port = free_port()
    with Server(http_port=http_port) as server:
        for first in (b"a", b"\xf5", b"0"):
            check_answers(report, server, element(first))
        check_changes(report, server, element(b"a"))
        check_other_wires(report, server, http_port, element(b"b").hex()[:SIZE].encode())
        # Under ASan that says too that nothing was left that nobody owns.
        report.equal("the server ends well", server.stop(), 0)
    report.finish()


main()
