#!/usr/bin/env python3
"""SORT as redis-server has it, reply by reply, also after both have loaded what they stored.

It is in no random stream: Redis's answers to numbers out of range depend on what an earlier
command left in errno, and those to texts end at a NUL."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import Server  # noqa: E402

DATA = """
    RPUSH numbers 3 1 2 -5 2.5 1e2 0 10
    RPUSH words pear apple fig date "a b" B a
    RPUSH mixed 1 two 3
    SADD ids 5 3 9 12 7
    SADD names c a b
    ZADD board 3 x 1 y 2 z 2 w
    MSET weight:3 30 weight:5 10 weight:7 20 weight:9 0.5 weight:12 -1
    MSET name:3 three name:5 five name:7 seven name:9 nine name:12 twelve
    HSET user:3 age 31 city Ufa
    HSET user:5 age 25
    HSET user:7 age 64 city Oslo
    HSET user:9 age x
    SET text plain
    SET fixed 1
"""

COMMANDS = """
    SORT numbers
    SORT numbers DESC
    SORT numbers ALPHA
    SORT numbers ALPHA DESC
    SORT numbers LIMIT 0 3
    SORT numbers LIMIT 2 100
    SORT numbers LIMIT 100 2
    SORT numbers LIMIT -1 2
    SORT numbers LIMIT 1 -1
    SORT numbers LIMIT 1 0
    SORT numbers DESC LIMIT 1 2
    SORT words
    SORT words ALPHA
    SORT words ALPHA DESC LIMIT 1 3
    SORT words BY nosort
    SORT words BY nosort DESC
    SORT words BY nosort LIMIT 1 2
    SORT mixed
    SORT ids
    SORT ids DESC
    SORT names ALPHA
    SORT board ALPHA
    SORT board BY nosort
    SORT board BY nosort DESC
    SORT board BY nosort DESC LIMIT 1 2
    SORT ids BY weight:*
    SORT ids BY weight:* DESC
    SORT ids BY weight:* GET name:*
    SORT ids BY weight:* GET # GET name:* GET user:*->age GET nosuch:*
    SORT ids BY name:*
    SORT ids BY name:* ALPHA
    SORT ids BY name:* ALPHA DESC GET #
    SORT ids BY user:*->city ALPHA LIMIT 0 0
    SORT ids BY user:*->age
    SORT ids BY nosuch:*
    SORT ids BY nosuch:* DESC
    SORT ids BY fixed GET name:* STORE unordered
    SORT ids GET user:*->
    SORT ids GET user:*->city GET *->x GET user:*
    SORT ids GET fixed
    SORT nosuch
    SORT nosuch BY weight:* GET #
    SORT text
    SORT user:3
    SORT
    SORT ids LIMIT 1
    SORT ids LIMIT x 1
    SORT ids LIMIT 1 x
    SORT ids BY
    SORT ids GET
    SORT ids STORE
    SORT ids NOSUCH
    SORT ids ASC DESC
    SORT ids DESC ASC
    SORT ids BY weight:* BY name:* ALPHA
    SORT ids LIMIT 0 1 LIMIT 1 2
    SORT ids STORE to
    TYPE to
    LRANGE to 0 -1
    SORT ids BY weight:* GET name:* GET nosuch:* STORE to
    LRANGE to 0 -1
    SORT numbers STORE numbers
    LRANGE numbers 0 -1
    SORT nosuch STORE to
    EXISTS to
    SET to x
    SORT names ALPHA DESC STORE to
    LRANGE to 0 -1
    EXPIRE to 1000
    SORT names ALPHA STORE to
    TTL to
    SORT mixed STORE to
    LRANGE to 0 -1
    SORT ids STORE a STORE b
    EXISTS a b
    SORT_RO ids
    SORT_RO ids BY weight:* GET # DESC LIMIT 1 2
    SORT_RO ids STORE to
    SORT_RO ids GET
    COMMAND GETKEYS SORT ids STORE a STORE b
    COMMAND GETKEYS SORT ids BY weight:* GET # STORE a LIMIT 0 1 store b STORE c DESC
    COMMAND GETKEYS SORT ids LIMIT STORE STORE STORE y
    COMMAND GETKEYS SORT ids GET STORE x
    COMMAND GETKEYS SORT ids STORE
    COMMAND GETKEYSANDFLAGS SORT ids STORE a STORE b
    COMMAND GETKEYS SORT_RO ids STORE a
"""


def split(line):
    """Words, of which one in quotes may hold spaces."""
    words, quoted = [], False
    for part in line.strip().split('"'):
        words.extend([part] if quoted else part.split())
        quoted = not quoted
    return words


def ask(client, words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return f"-{error}"


RIGHTS = ["~*", "%R~*", "%W~* ~numbers", "~numbers ~weight:* ~to", "%R~numbers"]
OF_USERS = """
    SORT numbers
    SORT numbers GET #
    SORT numbers BY nosort GET #
    SORT numbers BY nosort
    SORT numbers BY weight:*
    SORT numbers GET weight:*
    SORT numbers BY weight:* GET # GET weight:*
    SORT_RO numbers GET #
    SORT numbers GET # STORE to
    SORT numbers STORE to
"""


def check_rights(report, left, right):
    """What a user without the right to read every key is told, to the full stop."""
    for number, rights in enumerate(RIGHTS):
        for client in (left, right):
            client.call("AUTH", "default", "")
            client.call("ACL", "SETUSER", f"u{number}", "on", "nopass", "+@all", *rights.split())
            client.call("AUTH", f"u{number}", "")
        for words in map(split, OF_USERS.split("\n")):
            if words:
                report.equal(f"{rights}: " + " ".join(words), ask(left, words), ask(right, words))


def main():
    report = Report()
    with Server(appendonly="yes") as ours, Server(REFERENCE, appendonly="yes") as theirs:
        with ours.client() as left, theirs.client() as right:
            for words in map(split, (DATA + COMMANDS).split("\n")):
                if words:
                    report.equal(" ".join(words), ask(left, words), ask(right, words))
            check_rights(report, left, right)
        for server in (ours, theirs):
            server.stop()
            server.start()
        with ours.client() as left, theirs.client() as right:
            for words in (["LRANGE", "to", "0", "-1"], ["LRANGE", "b", "0", "-1"],
                          ["LRANGE", "numbers", "0", "-1"], ["LLEN", "unordered"]):
                report.equal("after a restart: " + " ".join(words), ask(left, words), ask(right, words))
    report.finish()


if __name__ == "__main__":
    main()
