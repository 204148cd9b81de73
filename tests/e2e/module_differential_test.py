#!/usr/bin/env python3
"""redis-server with tally.so answers tallyd's own commands as tallyd does, reply for reply: one seeded stream
goes to both, in both protocols, in transactions and in scripts. MODULE_SEED is the seed."""

import os
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.module_server import RawClient, module_server  # noqa: E402
from lib.native_commands import NativeCommands  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server  # noqa: E402

BATCH = 100
# The server itself judges the number of words, and says so in its own way.
USAGE = re.compile(rb"\. Usage: .*")
# Valkey's errors do not name Redis.
NAME = re.compile(rb"(calling|Unknown) Redis command")
SCRIPT = "return redis.call(unpack(ARGV))"


def wrapped(calls, dice):
    """Commands as they are, in a transaction or in scripts."""
    kind = dice.random()
    if kind < 0.15:
        return [["MULTI"], *calls, ["EXEC"]]
    if kind < 0.25:
        return [["EVAL", SCRIPT, "0", *call] if call[0] != "EVAL" else call for call in calls]
    return calls


def comparable(reply):
    kind, value = reply
    if isinstance(value, list):
        return kind, [comparable(one) for one in value]
    if kind == b"-":
        return kind, NAME.sub(rb"\1 command", USAGE.sub(b"", value)).split(b" script: ")[0]
    return kind, value


def narrowed(calls, call, expected, actual):
    """Of a transaction the command whose replies differ."""
    both = [expected[1], actual[1]]
    if call != ["EXEC"] or not all(isinstance(one, list) for one in both):
        return call, expected, actual
    index = next(i for i, pair in enumerate(zip(*both)) if pair[0] != pair[1])
    return calls[1 + index], both[0][index], both[1][index]


def first_difference(clients, now_ms, commands, seed):
    """None, or (command, tallyd's reply, the module's)."""
    dice = random.Random(seed)
    stream = NativeCommands(seed, now_ms)
    # After a jump tallyd keeps books and audiences for a minute, but the module has no clock of its own.
    clients[0].call("DEBUG", "CLOCK", "SET", now_ms - 61_000)
    clients[0].call("DEBUG", "CLOCK", "ADVANCE", "61s")
    sent = 0
    while sent < commands:
        passed = dice.choice([0, 1, 7, 250, 1000, 30_000, 600_000, 3_600_000])
        stream.now += passed
        if dice.random() < 0.02:
            protocol = dice.choice([2, 3])
            for client in clients:
                client.call("HELLO", protocol)
        if passed > 0:
            clients[0].call("DEBUG", "CLOCK", "ADVANCE", f"{passed}ms")
        clients[1].call("TALLY.CLOCK", "SET", stream.now)
        calls = wrapped([stream.call() for _ in range(BATCH)], dice)
        for client in clients:
            client.send(calls)
        for call in calls:
            expected, actual = [comparable(client.read()) for client in clients]
            if expected != actual:
                return narrowed(calls, call, expected, actual)
        sent += len(calls)
    return None


def main():
    report = Report()
    commands = scaled(100_000)
    seed = int(os.environ.get("MODULE_SEED", "20260722"))
    # The module's clock must not be before that of redis-server, which ends keys by its own.
    begin = int(time.time() * 1000) + 86_400_000
    with Server(enable_debug_command="yes") as tallyd, module_server() as redis:
        clients = [RawClient(tallyd.port), RawClient(redis.port)]
        difference = first_difference(clients, begin, commands, seed)
        report.check(f"{commands} commands of seed {seed} have the same replies", difference is None,
                     difference and "%r\ntallyd: %r\nmodule: %r" % difference)
        report.check("redis-server is alive", redis.process.poll() is None, redis.log()[-3000:])
    report.finish()


if __name__ == "__main__":
    main()
