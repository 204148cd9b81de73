#!/usr/bin/env python3
"""Keys whose time has passed and that are still there, because nothing removes them unasked: which
commands remove them, as redis-server has it, and what else they answer, count, tell and log."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import Server  # noqa: E402

COMMANDS = """
    OBJECT ENCODING dead
    OBJECT REFCOUNT dead
    OBJECT IDLETIME dead
    OBJECT FREQ dead
    OBJECT ENCODING other
    SCAN 0
    SCAN 0 COUNT 100
    SCAN 0 MATCH de*
    SCAN 0 MATCH oth*
    SCAN 0 TYPE string
    SCAN 0 TYPE list
    SCAN 0 MATCH de* TYPE list
    SCAN 0 MATCH oth* TYPE string
    SCAN 0 NOSUCH
    TYPE dead
    KEYS *
    KEYS dead
    KEYS oth*
    EXISTS dead
    TTL dead
    PTTL dead
    EXPIRETIME dead
    PERSIST dead
    EXPIRE dead 100
    TOUCH dead
    COPY dead to
    COPY other dead
    COPY other dead REPLACE
    RENAME dead to
    RENAME other dead
    RENAMENX other dead
    MOVE dead 1
    DEL dead
    UNLINK dead
    DBSIZE
    WATCH dead
    GET dead
    GETEX dead
    MGET dead dead
    SET dead v XX
    SET dead v NX
    INCR dead
    STRLEN dead
    BITCOUNT dead
    LLEN dead
    LPOS dead v
    LMPOP 1 dead LEFT
    HSCAN dead 0
    SADD dead v
    SPOP dead
    SINTERCARD 1 dead
    SUNIONSTORE to dead
    ZCOUNT dead 0 1
    SORT dead
    PFCOUNT dead
    SWAPDB 0 1
"""


def ask(client, words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return f"-{error}"


def expired(client):
    for line in client.call("INFO", "stats").decode().splitlines():
        if line.startswith("expired_keys:"):
            return int(line.split(":")[1])
    raise KeyError("expired_keys")


def comparable(words, reply):
    """A page of SCAN is in no order."""
    return sorted(reply[1]) if words[0] == "SCAN" and isinstance(reply, list) else reply


def heard(listener):
    """The messages up to the mark, which the caller has published."""
    messages = []
    while True:
        message = listener.read()[1:]
        if message == [b"mark", b"end"]:
            return messages
        messages.append(message)


def outcome(server, words):
    """What the command does where one of two keys is dead."""
    with server.client() as client, server.client() as listener:
        client.call("FLUSHALL")
        client.call("SET", "other", "1")
        client.call("SET", "dead", "v", "PX", "1")
        time.sleep(0.003)
        listener.call("SUBSCRIBE", "__keyevent@0__:expired", "mark")
        listener.read()
        before = expired(client)
        reply = comparable(words, ask(client, words))
        size = client.call("DBSIZE")
        client.call("PUBLISH", "mark", "end")
        return reply, size, expired(client) - before, heard(listener)


def check_stored(report, ours, theirs):
    """These look at what is stored, dead or not; the numbers are each server's own."""
    for words in (["MEMORY", "USAGE", "dead"], ["DEBUG", "OBJECT", "dead"]):
        replies, rests = [], []
        for server in (ours, theirs):
            reply, *rest = outcome(server, words)
            replies.append(reply is not None and not str(reply).startswith("-"))
            rests.append(rest)
        report.check(f"{' '.join(words)}: it is found, and stays",
                     replies == [True, True] and rests[0] == rests[1], (replies, rests))


def check_logged(report, server):
    """Without deadlines that pass, only the log can tell that a key is gone."""
    looks = (["OBJECT", "ENCODING", "dead"], ["SCAN", "0", "MATCH", "de*"])
    for words in looks:
        outcome(server, words)
        log = b"".join(path.read_bytes() for path in server.directory.rglob("*.incr.aof"))
        report.check(f"{' '.join(words)}: the end of the key is logged",
                     log.rfind(b"\r\nDEL\r\n$4\r\ndead\r\n") > log.rfind(b"\r\nSET\r\n$4\r\ndead\r\n"))


def main():
    report = Report()
    options = {"enable_debug_command": "yes", "notify_keyspace_events": "Ex", "appendonly": "yes"}
    with Server(**options) as ours, Server(REFERENCE, **options) as theirs:
        for server in (ours, theirs):
            with server.client() as client:
                client.call("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        for words in (line.split() for line in COMMANDS.splitlines() if line.strip()):
            report.equal(" ".join(words), outcome(ours, words), outcome(theirs, words))
        check_stored(report, ours, theirs)
        check_logged(report, ours)
    report.finish()


if __name__ == "__main__":
    main()
