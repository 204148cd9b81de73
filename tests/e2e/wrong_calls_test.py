#!/usr/bin/env python3
"""Calls with bad or unusual arguments, of what the rest of an application sends beside limits and counters: commands that
wait, CLIENT TRACKING, bit fields, RESTORE, subcommands with too many words. Byte for byte as redis-server answers them."""

import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import RespClient, encode  # noqa: E402
from lib.server import Server  # noqa: E402

TIMEOUTS = ["-1", "nan", "-nan", "abc", "", " 1", "1 ", "1x", "0x", "1,5"]
WAITING = ["BLPOP none {}", "BRPOP none other {}", "BLMOVE none b LEFT RIGHT {}", "BRPOPLPUSH none b {}",
           "BLMPOP {} 1 none LEFT", "BZPOPMIN none {}", "BZPOPMAX none {}", "BZMPOP {} 1 none MIN"]
# In one pipeline, each group on a connection of its own.
GROUPS = {
    "in MULTI nothing waits": ["MULTI", *(call.format("0") for call in WAITING), "EXEC"],
    "in a script nothing waits": [["EVAL", "return {redis.call('BLPOP', 'none', 0), redis.call('BLMOVE', 'none', 'b', "
                                   "'LEFT', 'LEFT', 0), redis.call('BZMPOP', 0, 1, 'none', 'MIN')}", "0"]],
    "counts and ends of those that wait": ["BLMPOP 0 0 none LEFT", "BLMPOP 0 -1 none LEFT", "BLMPOP 0 2 none LEFT",
                                           "BLMPOP 0 1 none MIDDLE", "BLMPOP 0 1 none LEFT COUNT 0",
                                           "BLMPOP 0 1 none LEFT COUNT 1 COUNT 1", "BLMOVE a b LEFT UP 0", "BZMPOP 0 1 none LEFT",
                                           "BLPOP string 0", "BZPOPMIN string 0", "BLMOVE string b LEFT LEFT 0"],
    "CLIENT UNBLOCK": ["CLIENT UNBLOCK 999999", "CLIENT UNBLOCK x", "CLIENT UNBLOCK 1 MAYBE", "CLIENT unblock 1 ERROR more"],
    "CLIENT TRACKING": ["CLIENT TRACKING ON PREFIX a", "CLIENT TRACKING ON OPTIN OPTOUT", "CLIENT TRACKING ON BCAST OPTIN",
                        "CLIENT TRACKING ON BCAST PREFIX a", "CLIENT TRACKING ON BCAST PREFIX ab", "CLIENT TRACKING ON",
                        "CLIENT TRACKINGINFO", "CLIENT CACHING YES", "CLIENT TRACKING OFF", "CLIENT CACHING YES",
                        "CLIENT TRACKING ON REDIRECT 999999", "CLIENT TRACKING ON REDIRECT x", "CLIENT TRACKING MAYBE",
                        "CLIENT TRACKING ON OPTIN", "CLIENT TRACKING ON OPTOUT", "CLIENT CACHING NO", "CLIENT CACHING YES",
                        "CLIENT CACHING PERHAPS", "CLIENT GETREDIR"],
    "bit fields": ["BITFIELD b GET u64 0", "BITFIELD b GET i65 0", "BITFIELD b GET u0 0", "BITFIELD b GET i64 #0",
                   "BITFIELD b GET u8 4294967288", "BITFIELD b GET u8 4294967289", "BITFIELD b SET u8 4294967289 1",
                   "BITFIELD b SET u8 -1 1", "BITFIELD b SET u8 #536870912 1", "BITFIELD b GET u8 #9223372036854775807",
                   "BITFIELD b OVERFLOW maybe", "BITFIELD b OVERFLOW FAIL INCRBY u2 0 9 OVERFLOW SAT INCRBY u2 0 9",
                   "BITFIELD b OVERFLOW WRAP INCRBY i8 #1 200", "BITFIELD b SET i8 0 x", "BITFIELD_RO b SET u8 0 1",
                   "BITFIELD_RO b", "BITFIELD b GET", "COMMAND GETKEYSANDFLAGS BITFIELD b GET u8"],
    "what tools ask": ["WAIT 0 0", "WAIT -1 0", "WAIT 0 -1", "WAIT 1 1", "READONLY", "READWRITE", "ASKING", "MODULE LIST",
                       "FUNCTION LIST", "FUNCTION LIST WITHCODE LIBRARYNAME x", "LCS string other IDX LEN", "LCS string list",
                       "SPUBLISH c m", "PUBSUB SHARDCHANNELS", "PUBSUB SHARDNUMSUB a b", "PUBSUB SHARDCHANNELS a b"],
    "errors that repeat line ends": [["FUNCTION", "LIST", "\r\n"], ["FUNCTION", "LIST", "x\r\n"], ["FUNCTION", "LIST", "\r\nx"],
                                     ["no\r\nsuch", "a\r\n"], ["CLIENT", "no\r\n"], ["CONFIG", "SET", "a\r\nb", "c\r\n"],
                                     ["EXPIRE", "none", "1", "\r\nx\r\n"], ["OBJECT", "\r\n", "k"]],
    "too many words": ["SLOWLOG GET 1 2", "CLIENT PAUSE 1 WRITE now", "MEMORY USAGE none SAMPLES 1 SAMPLES 2",
                       "MEMORY USAGE none SAMPLES 1 SAMPLES x", "MEMORY USAGE none SAMPLES", "ACL LOG 1 2", "ACL CAT read x",
                       "ACL CAT nosuch x", "COMMAND GETKEYS PFMERGE d", "COMMAND GETKEYS SORT l STORE a STORE b"],
    "read-only scripts": [["EVAL_RO", f"return redis.{how}('{command}')", "0"] for how in ("call", "pcall")
                          for command in ("PUBLISH', 'c', 'm", "SPUBLISH', 'c', 'm", "PFCOUNT', 'none", "SET', 'a', 'b")],
    "lines of scripts": [["EVAL", text, "0"] for text in (r"return redis.status_reply('a\0b')", r"return redis.error_reply('ERR a\0b')",
                                                          r"return {ok='a\r\nb'}", r"error({err='ERR a\0b'})", r"return 'a\0b'",
                                                          "return getmetatable(_G)", "getmetatable(_G).__index = nil",
                                                          "local t = {} for i = 1, 7990 do t[i] = i end "
                                                          "return redis.call('RPUSH', 'long', unpack(t))")],
}


def ask(port, calls):
    """All that comes back, up to the reply to a last word of our own."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(30)
        words = [call if isinstance(call, list) else call.split(" ") for call in [*calls, "ECHO the-end"]]
        connection.sendall(b"".join(map(encode, words)))
        got = b""
        while not got.endswith(b"$7\r\nthe-end\r\n"):
            more = connection.recv(1 << 16)
            if not more:
                break
            got += more
        return got


def run_groups(report, ports):
    groups = dict(GROUPS)
    groups["timeouts"] = [call.format(timeout).split(" ") if timeout.strip() == timeout and timeout else
                          [timeout if word == "{}" else word for word in call.split(" ")] for call in WAITING for timeout in TIMEOUTS]
    for name, calls in groups.items():
        for port in ports:
            with RespClient(port) as client:
                client.call("FLUSHALL")
                client.call("SET", "string", "ohmytext")
                client.call("SET", "other", "mynewtext")
                client.call("RPUSH", "list", "1")
        ours, theirs = (ask(port, calls) for port in ports)
        report.equal(name, ours, theirs)


def run_restore(report, ports):
    """RESTORE ... REPLACE makes the key anew: who waits for it is served, as by any command that creates it."""
    got = []
    for port in ports:
        with RespClient(port) as client, socket.create_connection(("127.0.0.1", port)) as waiting, \
                socket.create_connection(("127.0.0.1", port)) as events:
            waiting.settimeout(30)
            events.settimeout(30)
            client.call("CONFIG", "SET", "notify-keyspace-events", "EAn")
            client.call("DEL", "k", "l")
            client.call("RPUSH", "l", "a", "b")
            payload = client.call("DUMP", "l")
            client.call("SET", "k", "text")
            events.sendall(encode(["PSUBSCRIBE", "*"]))
            events.recv(1 << 16)
            waiting.sendall(encode(["BLPOP", "k", "0"]))
            replies = [waiting.recv(1 << 16)]  # it holds a text
            client.call("DEL", "k")
            waiting.sendall(encode(["BLPOP", "k", "0"]))
            while b"blocked_clients:1" not in client.call("INFO", "clients"):
                pass
            client.call("RESTORE", "k", "0", payload)
            replies.append(waiting.recv(1 << 16))
            for words in (("k", "0", payload, "REPLACE"), ("k", "1", payload, "REPLACE", "ABSTTL"), ("new", "1", payload, "ABSTTL")):
                client.call("RESTORE", *words)
            client.call("PUBLISH", "end", "the-end")
            heard = b""
            while b"the-end" not in heard:
                heard += events.recv(1 << 16)
            got.append([replies, heard, client.call("EXISTS", "k", "new")])
    report.equal("RESTORE over a key, and with a deadline that has passed", got[0], got[1])


def main():
    report = Report()
    with Server() as server, Server(REFERENCE) as reference:
        ports = [server.port, reference.port]
        run_groups(report, ports)
        run_restore(report, ports)
    report.finish()


main()
