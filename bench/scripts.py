#!/usr/bin/env python3
"""Server CPU per script, ours against redis-server, in one run.

The scripts are those that rate limiters send: a fixed window, a sliding window on a sorted set and
a token bucket. redis-benchmark loads one server and then the other, several rounds with the order
turned round each time; what counts is the time that the server's threads spent on a CPU.
"""

import argparse
import statistics
import subprocess
import sys

import harness

CONNECTIONS = 50
KEYS = 1000
TARGETS = {1: 0.8, 16: 0.6}
CALLS = {1: 60_000, 16: 200_000}
EVAL_OVER_EVALSHA = 1.15

FIXED_WINDOW = """
local hits = redis.call('INCR', KEYS[1])
if hits == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {hits, redis.call('PTTL', KEYS[1])}
"""

SLIDING_WINDOW = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1] * 1000)
local hits = redis.call('ZCARD', KEYS[1])
if hits >= tonumber(ARGV[2]) then return {0, hits} end
redis.call('ZADD', KEYS[1], now, now)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {1, hits + 1}
"""

TOKEN_BUCKET = """
local capacity, rate = tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1]) or capacity
local at = tonumber(bucket[2]) or now
tokens = math.min(capacity, tokens + (now - at) * rate)
local allowed = 0
if tokens >= 1 then
  allowed = 1
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(now))
redis.call('EXPIRE', KEYS[1], math.ceil(capacity / rate))
return {allowed, tostring(tokens)}
"""

SCRIPTS = {"fixed window": FIXED_WINDOW, "sliding window": SLIDING_WINDOW,
           "token bucket": TOKEN_BUCKET}
ARGUMENTS = ["1", "key:__rand_int__", "60000", "100", "10"]  # the number of keys, the key, the rest


def measure(server, call, depth, count):
    """CPU nanoseconds per call."""
    server.client.call("FLUSHALL")
    before = server.cpu_ns()
    done = subprocess.run(
        ["redis-benchmark", "-p", str(server.port), "-c", str(CONNECTIONS), "-P", str(depth),
         "-n", str(count), "-r", str(KEYS), "-q", *call], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{server.name}: {done.stdout}{done.stderr}")
    return (server.cpu_ns() - before) / count


def compare(servers, call, depth, count, rounds):
    """Medians (ours, redis, ratio) over the rounds."""
    results = []
    for turn in range(rounds):
        order = servers if turn % 2 == 0 else servers[::-1]
        costs = {server.name: measure(server, call, depth, count) for server in order}
        results.append((costs["ours"], costs["redis"], costs["ours"] / costs["redis"]))
    return [statistics.median(column) for column in zip(*results)]


def compare_script(servers, body, depth, arguments):
    """(what, ours, redis, ratio, target) of EVALSHA, and ours of EVAL over ours of EVALSHA."""
    count = int(CALLS.get(depth, 200_000) * arguments.scale)
    sha = [server.client.call("SCRIPT", "LOAD", body).decode() for server in servers][0]
    by_sha = compare(servers, ["EVALSHA", sha, *ARGUMENTS], depth, count, arguments.rounds)
    by_body = compare(servers, ["EVAL", body, *ARGUMENTS], depth, count, arguments.rounds)
    yield "EVALSHA", *by_sha, TARGETS.get(depth)
    yield "EVAL", *by_body, None
    yield "EVAL / EVALSHA", by_body[0], by_sha[0], by_body[0] / by_sha[0], EVAL_OVER_EVALSHA


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--pipelines", default="1,16", help="depths, with commas between")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="times the number of calls")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rows, missed = [], 0
    with harness.running("ours", arguments.ours, "--appendonly", "no") as ours, \
            harness.running("redis", arguments.redis, "--appendonly", "no") as redis:
        for depth in map(int, arguments.pipelines.split(",")):
            for name, body in SCRIPTS.items():
                for row in compare_script([ours, redis], body, depth, arguments):
                    what, cost, reference, ratio, target = row
                    late = target is not None and ratio > target
                    missed += late
                    rows.append([f"{name}, {what}", str(depth), f"{cost:.0f}", f"{reference:.0f}",
                                 f"{ratio:.2f}", f"{target:.2f}" if target else "-",
                                 "missed" if late else ""])
    print(f"server CPU ns per script, {CONNECTIONS} connections, median of {arguments.rounds}")
    print(harness.table(["script", "pipeline", "ours", "redis", "ratio", "target", ""], rows))
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
