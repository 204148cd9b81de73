#!/usr/bin/env python3
"""Calls that are seldom made, as redis-server answers them: cursors and counts of keys that are
hardly numbers, what a monitor may do, and WATCH by chance with expiry, flush and swap. SEED repeats
a run."""

import os
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, encode  # noqa: E402
from lib.server import Server  # noqa: E402

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
ROUNDS = int(os.environ.get("ROUNDS", "150"))
LIFE_MS = 60
SHOWN = re.compile(rb"\+\d+\.\d{6} \[")

CURSORS = ["", "0", "00", "+0", "-0", "+1", "-1", "- 1", "+-1", "+", "-", "x", "0x", "0x0", "1x", " 0", "0 ", "\t0",
           "\n0", "0\0", "0\0x", "1.0", "1e1", "18446744073709551615", "18446744073709551616",
           "-18446744073709551615", "-18446744073709551616", "99999999999999999999",
           "000000000000000000000000000000000000000"]
COUNTS = ["1", "2", "3", "4", "0", "-1", "+1", "01", "+01", " 1", "\t2", "1 ", "1x", "1.9", "1e1", "x", "", "+", "-",
          "+-1", "- 1", "0x1", "4294967297", "4294967296", "2147483648", "-4294967295", "9223372036854775807",
          "9223372036854775808", "99999999999999999999", "18446744073709551617"]
COUNTED = ["EVAL x {} a b c", "EVAL_RO x {} a b c", "EVALSHA x {} a b c", "ZUNION {} a b c", "ZINTER {} a b c",
           "ZDIFF {} a b c", "ZUNIONSTORE d {} a b c", "ZDIFFSTORE d {} a b c", "ZINTERCARD {} a b c",
           "SINTERCARD {} a b c", "LMPOP {} a b LEFT", "ZMPOP {} a b MIN"]

MONITORED = """MONITOR
GET k
SET k 1
PING
ECHO x
PUBLISH c x
SELECT 1
EVAL "" 0
EVAL_RO "" 0
EVALSHA x 0
SCRIPT EXISTS x
DBSIZE
KEYS *
EXISTS k
TYPE k
RANDOMKEY
OBJECT ENCODING k
MEMORY USAGE k
WATCH k
UNWATCH
FLUSHALL
PFCOUNT k
TOUCH k
CLIENT GETNAME
SWAPDB 0 1
ACL WHOAMI
NOSUCH
GET
MULTI
GET k
PING
EXEC
MULTI
PING
EXEC
MONITOR
RESET
GET k
MULTI
MONITOR
GET k
EXEC
GET k"""


def ask(client, words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return f"-{error}"
    except ConnectionError:
        return "closed"


def compare(report, what, clients, calls, shape=lambda reply: reply):
    wrong = []
    for call in calls:
        theirs, ours = (shape(ask(client, call)) for client in reversed(clients))
        if ours != theirs:
            wrong.append(f"{call}\nredis-server: {theirs}\nthis server:  {ours}")
    report.check(f"{len(calls)} {what}", not wrong, "\n".join(wrong))


def in_order(reply):
    """Where a count is no number, redis-server names the target last."""
    return sorted(reply) if isinstance(reply, list) else reply


def check_monitor(report, servers):
    """All that a client gets which becomes a monitor, but for what it is shown."""
    calls = MONITORED.splitlines()
    got = []
    for server in servers:
        with server.client() as client:
            client.socket.sendall(b"".join(encode(call.replace('""', "").split(" ")) for call in [*calls, "QUIT"]))
            got.append([line for line in client.stream.read().split(b"\r\n") if not SHOWN.match(line)])
    report.equal(f"{len(calls)} calls of a monitor", *got)


def some_step(dice):
    """(client, call); a client of None is a pause in which keys expire."""
    keys = [f"k{dice.randrange(3)}" for _ in range(2)]
    call = dice.choice([["WATCH", *keys], ["WATCH", keys[0]], ["WATCH", keys[0]], ["UNWATCH"],
                        ["SET", keys[0], "v", "PX", LIFE_MS], ["SET", keys[0], "v", "PX", LIFE_MS],
                        ["SET", keys[0], "v"], ["DEL", keys[0]], ["GET", keys[0]], ["RENAME", *keys],
                        ["PEXPIRE", keys[0], LIFE_MS], ["FLUSHDB"], ["FLUSHALL"], ["SWAPDB", 0, 1], ["SWAPDB", 0, 1],
                        ["SELECT", dice.randrange(2)], ["MULTI"], None, None])
    return dice.randrange(2), call


def play(server, steps):
    """Each MULTI is a whole transaction. The database is emptied first."""
    clients = [server.client(), server.client()]
    told = [ask(clients[0], ["FLUSHALL"])]
    for who, call in steps:
        if call is None:
            time.sleep((LIFE_MS + 20) / 1000)
        elif call == ["MULTI"]:
            told.append([ask(clients[who], [word]) for word in ("MULTI", "PING", "EXEC")])
        else:
            told.append(ask(clients[who], call))
    for client in clients:
        client.close()
    return told


def check_watch(report, servers, dice, active):
    """What differs has to do so each time: a slow machine may let a key expire early."""
    for server in servers:
        with server.client() as client:
            client.call("DEBUG", "SET-ACTIVE-EXPIRE", active)
    wrong = []
    for _ in range(ROUNDS):
        steps = [some_step(dice) for _ in range(dice.randrange(3, 14))]
        steps += [(0, ["MULTI"]), (1, ["MULTI"])]
        for _ in range(5):
            told = [play(server, steps) for server in servers]
            if told[0] == told[1]:
                break
        else:
            wrong.append(f"{steps}\nredis-server: {told[1]}\nthis server:  {told[0]}")
    report.check(f"{ROUNDS} stories of WATCH, active expiry {active}", not wrong, "\n".join(wrong[:3]))


def check_unknown(report, clients):
    """Redis's own text, and after it where the commands of a family are listed."""
    for name in ("nosuch", "LIMITS.X", "CL.X", ".LIMIT", "GET.X", "x\0y", "x" * 200):
        for rest in ([], ["a"], ["a", "b c", "\0"], ["y" * 200, "z"]):
            compare(report, f"unknown: {name[:9]!r}, {len(rest)} arguments", clients, [[name, *rest]])
    for family in ("HITS", "LIMIT", "POLICY", "ACTIVE", "QUOTA", "HOTKEYS"):
        for call in ([family + ".NOSUCH"], [family.lower() + ".show.all", "a", "b"], [family + ".", "y" * 200]):
            ours, theirs = (ask(client, call) for client in clients)
            report.equal(f"unknown: {call[0]}", ours, f"{theirs}(try {family} HELP)")
            report.check(f"{family} HELP lists them", isinstance(ask(clients[0], [family, "HELP"]), list))
    report.equal("HOTKEYS alone shows what it has", ask(clients[0], ["HOTKEYS"]),
                 "-ERR wrong number of arguments for 'hotkeys' command. Usage: HOTKEYS <GET | HELP | RESET | START | STOP>")


def main():
    report = Report()
    report.note(f"SEED={SEED}")
    dice = random.Random(SEED)
    debug = {"enable_debug_command": "yes"}
    with Server(**debug) as server, Server(REFERENCE, **debug) as reference:
        clients = [server.client(), reference.client()]
        for client in clients:
            client.call("SET", "k", 1)
        # What is found from a cursor on is each server's own matter.
        compare(report, "cursors of SCAN", clients, [["SCAN", cursor] for cursor in CURSORS],
                shape=lambda reply: "a page" if isinstance(reply, list) else reply)
        compare(report, "cursors of elements", clients,
                [[command, "none", cursor] for command in ("SSCAN", "HSCAN", "ZSCAN") for cursor in CURSORS])
        compare(report, "options of scans of nothing, and of another type", clients,
                [[command, key, "0", *options] for command in ("SSCAN", "HSCAN", "ZSCAN") for key in ("none", "k")
                 for options in (["x"], ["COUNT", "0"], ["COUNT", "x"], ["MATCH"], ["TYPE", "set"], ["NOVALUES"])])
        calls = [[word.format(count) for word in call.split(" ")] for call in COUNTED for count in COUNTS]
        compare(report, "counts of COMMAND GETKEYS", clients, [["COMMAND", "GETKEYS", *call] for call in calls],
                shape=in_order)
        compare(report, "counts of the commands themselves", clients, calls)
        check_unknown(report, clients)
        check_monitor(report, (server, reference))
        for active in (0, 1):
            check_watch(report, (server, reference), dice, active)
    report.finish()


main()
