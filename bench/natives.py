#!/usr/bin/env python3
"""Server CPU per decision: our own commands against the best Lua script for the same decision on
redis-server (EVALSHA), and against our own INCR.

As compare.py: both servers run at once without persistence, redis-benchmark loads one and then the
other, and only the time of the server's threads on a CPU counts. The scripts do no more than what
the decision needs: a list or a GCRA string where a sorted set or a hash would cost more.
"""

import argparse
import statistics
import sys
from dataclasses import dataclass

import harness
from compare import CONNECTIONS, measure
from workloads import RAND, Workload

COMMANDS = {1: 150_000, 16: 800_000}
TARGETS = {1: 0.60, 16: 0.15}
INCR_TARGET = {16: 1.5}

CLOCK = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "

# KEYS[1]; ARGV: window in ms. Hits in the window with this one.
HITS_SCRIPT = CLOCK + """
local w = tonumber(ARGV[1])
while true do
  local first = redis.call('LINDEX', KEYS[1], 0)
  if not first or tonumber(first) > now - w then break end
  redis.call('LPOP', KEYS[1])
end
local n = redis.call('RPUSH', KEYS[1], now)
redis.call('PEXPIRE', KEYS[1], w)
return n
"""

# KEYS[1]; ARGV: limit, period in ms. Allowed, limit, remaining, retry after, reset after.
FIXED_SCRIPT = """
local limit = tonumber(ARGV[1])
local n = tonumber(redis.call('GET', KEYS[1]) or '0')
if n >= limit then
  local left = redis.call('PTTL', KEYS[1])
  return {0, limit, 0, left, left}
end
if n == 0 then
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[2])
  return {1, limit, limit - 1, 0, tonumber(ARGV[2])}
end
redis.call('INCR', KEYS[1])
return {1, limit, limit - n - 1, 0, redis.call('PTTL', KEYS[1])}
"""

SLIDING_SCRIPT = CLOCK + """
local limit, w = tonumber(ARGV[1]), tonumber(ARGV[2])
local first
while true do
  first = redis.call('LINDEX', KEYS[1], 0)
  if not first or tonumber(first) > now - w then break end
  redis.call('LPOP', KEYS[1])
end
local n = redis.call('LLEN', KEYS[1])
if n >= limit then
  return {0, limit, 0, tonumber(first) + w - now, redis.call('PTTL', KEYS[1])}
end
redis.call('RPUSH', KEYS[1], now)
redis.call('PEXPIRE', KEYS[1], w)
return {1, limit, limit - n - 1, 0, w}
"""

# ARGV: capacity, refill, period in ms. The generic cell rate algorithm: one instant a key.
BUCKET_SCRIPT = CLOCK + """
local capacity, interval = tonumber(ARGV[1]), ARGV[3] / ARGV[2]
local full = tonumber(redis.call('GET', KEYS[1]) or '0')
if full < now then full = now end
local after = full + interval
local room = now + capacity * interval - after
if room < 0 then return {0, capacity, 0, math.ceil(-room), math.ceil(full - now)} end
redis.call('SET', KEYS[1], after, 'PX', math.ceil(after - now))
return {1, capacity, math.floor(room / interval), 0, math.ceil(after - now)}
"""

# KEYS[1]; ARGV: id, window in ms. Ids online now; no numbers, days or peaks.
ACTIVE_SCRIPT = CLOCK + """
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
return redis.call('ZCARD', KEYS[1])
"""


@dataclass
class Decision:
    name: str
    ours: list
    script: str
    key: str
    arguments: list


KEY = "k:" + RAND
DECISIONS = [
    Decision("HITS.ADD, many keys", ["HITS.ADD", KEY, "60s"], HITS_SCRIPT, KEY, [60_000]),
    Decision("HITS.ADD, one key", ["HITS.ADD", "hot", "60s"], HITS_SCRIPT, "hot", [60_000]),
    Decision("LIMIT.TAKE FIXED", ["LIMIT.TAKE", KEY, "FIXED", 100, "60s"], FIXED_SCRIPT, KEY,
             [100, 60_000]),
    Decision("LIMIT.TAKE SLIDING", ["LIMIT.TAKE", KEY, "SLIDING", 100, "60s"], SLIDING_SCRIPT, KEY,
             [100, 60_000]),
    Decision("LIMIT.TAKE BUCKET", ["LIMIT.TAKE", KEY, "BUCKET", 100, 10, "60s"], BUCKET_SCRIPT, KEY,
             [100, 10, 60_000]),
    Decision("ACTIVE.TOUCH", ["ACTIVE.TOUCH", "online", RAND], ACTIVE_SCRIPT, "online",
             [RAND, 300_000]),
]


def words(command):
    return [str(word) for word in command]


def compare_decision(ours, redis, decision, depth, count, rounds):
    """Medians: ours, the script, our INCR, ours over the script, ours over INCR."""
    sha = redis.client.call("SCRIPT", "LOAD", decision.script).decode()
    native = Workload(decision.name, words(decision.ours))
    script = Workload(decision.name,
                      words(["EVALSHA", sha, 1, decision.key, *decision.arguments]))
    incr = Workload("INCR", ["INCR", KEY])
    rows = []
    for _ in range(rounds):
        cost = measure(ours, native, [], depth, count)
        reference = measure(redis, script, [], depth, count)
        counter = measure(ours, incr, [], depth, count)
        rows.append((cost, reference, counter, cost / reference, cost / counter))
    return [statistics.median(column) for column in zip(*rows)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--pipelines", default="1,16", help="depths, with commas between")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="times the number of commands")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    return parser.parse_args()


def decision_rows(arguments):
    rows, missed = [], 0
    with harness.running("ours", arguments.ours, "--appendonly", "no") as ours, \
            harness.running("redis", arguments.redis, "--appendonly", "no") as redis:
        for depth in map(int, arguments.pipelines.split(",")):
            count = int(COMMANDS.get(depth, 400_000) * arguments.scale)
            for decision in DECISIONS:
                cost, script, incr, ratio, to_incr = compare_decision(
                    ours, redis, decision, depth, count, arguments.rounds)
                late = ratio > TARGETS.get(depth, 1) or to_incr > INCR_TARGET.get(depth, 100)
                missed += late
                rows.append([decision.name, str(depth), f"{cost:.0f}", f"{script:.0f}",
                             f"{incr:.0f}", f"{ratio:.2f}", f"{to_incr:.2f}",
                             "missed" if late else ""])
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows, missed


def main():
    arguments = parse_arguments()
    rows, missed = decision_rows(arguments)
    print(f"server CPU ns per decision, {CONNECTIONS} connections, median of {arguments.rounds}")
    print(harness.table(["decision", "pipeline", "ours", "script", "our INCR", "to script",
                         "to INCR", ""], rows))
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
