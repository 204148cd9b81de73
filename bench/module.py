#!/usr/bin/env python3
"""tally.so in a redis-server: CPU per decision against the best Lua script for the same decision on the same
server, memory per key against tallyd, and how long redis-server loads limits against as many strings.

The scripts are those of natives.py; only the time of the server's threads on a CPU counts. Beside each figure is
that of module_floor.so, which counts nothing: what redis-server takes for any module that answers in this way.
"""

import argparse
import statistics
import sys

import harness
from compare import CONNECTIONS, measure
from natives import COMMANDS, DECISIONS, KEY, Decision, words
from workloads import RAND, Workload

MODULE = harness.ROOT / "build/release/lib/tally.so"
FLOOR = harness.ROOT / "build/release/lib/module_floor.so"
TARGETS = {1: 0.65, 16: 0.25}
LOAD_TARGET = 1.0
USERS = 100_000

# KEYS: the limits' hash, the user's. ARGV: sku. What is left.
LEFT_SCRIPT = """
local limit = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '-1')
if limit < 0 then return -1 end
return math.max(0, limit - tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0'))
"""
LEFT = Decision("QUOTA.LEFT", ["QUOTA.LEFT", "book", RAND, 1], LEFT_SCRIPT, "limits", [KEY, 1])


def left_setup(_):
    yield ["QUOTA.SETLIMIT", "book", 1, 0, 5, "30d"]
    yield ["HSET", "limits", 1, 5]
    for user in range(USERS):
        yield ["QUOTA.BUY", "book", f"{user:012d}", user, "ITEMS", 1, 0, 1]
        yield ["HSET", f"k:{user:012d}", 1, 1]


def floor_of(decision):
    """The call of module_floor.so with the reply and the number of words of the decision's."""
    command, key, *rest = words(decision.ours)
    if command == "QUOTA.LEFT":
        return ["FLOOR.LEFT", key, *rest]
    return ["FLOOR.TAKE" if command == "LIMIT.TAKE" else "FLOOR.HIT", "floor:" + key, "60000", *rest[1:]]


def compare_decision(server, decision, depth, count, rounds):
    """Medians: the module's, the script's, the floor's, and the first and the last over the script's."""
    sha = server.client.call("SCRIPT", "LOAD", decision.script).decode()
    setup = list(harness.batches(left_setup(count), 100)) if decision is LEFT else []
    keys = [decision.key, *decision.arguments]
    native = Workload(decision.name, words(decision.ours))
    script = Workload(decision.name, words(["EVALSHA", sha, 2 if decision is LEFT else 1, *keys]))
    floor = Workload("the floor", floor_of(decision))
    rows = []
    for _ in range(rounds):
        cost, reference, least = [measure(server, work, setup, depth, count) for work in (native, script, floor)]
        rows.append((cost, reference, least, cost / reference, least / reference))
    return [statistics.median(column) for column in zip(*rows)]


def decisions(server, arguments):
    rows, missed = [], 0
    for depth in map(int, filter(None, arguments.pipelines.split(","))):
        count = int(COMMANDS.get(depth, 400_000) * arguments.scale)
        for decision in [*DECISIONS, LEFT]:
            cost, script, floor, ratio, least = compare_decision(server, decision, depth, count, arguments.rounds)
            late = ratio > TARGETS.get(depth, 1)
            missed += late
            rows.append([decision.name, str(depth), f"{cost:.0f}", f"{script:.0f}", f"{floor:.0f}",
                         f"{ratio:.2f}", f"{least:.2f}", "missed" if late else ""])
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"server CPU ns per decision, {CONNECTIONS} connections, median of {arguments.rounds}")
    print(harness.table(["decision", "pipeline", "module", "script", "floor", "ratio", "floor's", ""], rows))
    return missed


def limits(keys):
    return (["LIMIT.TAKE", f"limit:{i:010d}", "FIXED", 5, "30d"] for i in range(keys))


def hits(keys):
    return (["HITS.ADD", f"hits:{i:010d}", "30d"] for i in range(keys))


def bytes_per_key(name, binary, options, calls, keys):
    """In a server of its own: memory that another run has left would be used again."""
    with harness.running(name, binary, *options) as server:
        empty = server.used_memory()
        server.client.load(calls(keys))
        return (server.used_memory() - empty) / keys


def memory(arguments, keys):
    options = ["--loadmodule", arguments.module]
    for name, calls in (("limit FIXED", limits), ("HITS of one", hits)):
        module = bytes_per_key("module", arguments.redis, options, calls, keys)
        ours = bytes_per_key("ours", arguments.ours, ["--appendonly", "no"], calls, keys)
        print(f"bytes a key, {name}: {module:.0f} in the module, {ours:.0f} in tallyd")
    floor = bytes_per_key("floor", arguments.redis, ["--loadmodule", arguments.floor], floors, keys)
    string = bytes_per_key("redis", arguments.redis, [], strings, keys)
    print(f"bytes a key with a deadline: {floor:.0f} for the floor, {string:.0f} for a string of Redis")


def load_seconds(server, calls, keys):
    """CPU of a restart on a saved RDB with these keys."""
    server.client.call("FLUSHALL")
    server.client.load(calls(keys))
    server.client.call("SAVE")
    server.stop()
    server.start(300)
    return server.cpu_ns() / 1e9


def strings(keys):
    """As a counter of a script: a small number, for which Redis keeps no value of its own."""
    return (["SET", f"limit:{i:010d}", "1", "PX", 2_592_000_000] for i in range(keys))


def floors(keys):
    return (["FLOOR.TAKE", f"limit:{i:010d}", 2_592_000_000] for i in range(keys))


def texts(keys):
    """With as many bytes as a limit's value."""
    return (["SET", f"limit:{i:010d}", f"v{i:010d}", "PX", 2_592_000_000] for i in range(keys))


def loading(server, keys, rounds):
    """Whether the limits load slower than the counters of scripts."""
    rows = [[load_seconds(server, calls, keys) for calls in (limits, floors, strings, texts)] for _ in range(rounds)]
    limit, floor, string, text = [statistics.median(column) for column in zip(*rows)]
    print(f"CPU to load an RDB of {keys} keys with deadlines, median of {rounds}: "
          f"limits {limit:.2f} s, the floor {floor:.2f} s, strings of one digit {string:.2f} s, of 11 bytes {text:.2f} s")
    return limit > LOAD_TARGET * string


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--module", default=str(MODULE), help="path of tally.so")
    parser.add_argument("--floor", default=str(FLOOR), help="path of module_floor.so, a target of its own")
    parser.add_argument("--pipelines", default="1,16", help="depths, with commas between; '' for none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="times the number of commands and keys")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    arguments = parser.parse_args()
    keys = int(1_000_000 * arguments.scale)
    modules = ["--loadmodule", arguments.module, "--loadmodule", arguments.floor]
    with harness.running("module", arguments.redis, *modules) as module:
        missed = decisions(module, arguments)
        missed += loading(module, keys, arguments.rounds)
    memory(arguments, keys)
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
