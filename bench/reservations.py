#!/usr/bin/env python3
"""Server CPU of LIMIT.RESERVE and LIMIT.COMMIT, against the best Lua scripts for the same on redis-server.

Each of 50 connections reserves under an id of its own and commits it, again and again: at pipeline 1 one
request after the other, at 16 eight such pairs in one write. Both servers run without persistence; only the
time of their threads on a CPU counts. The scripts keep what the commands promise: what is held is free again
at its deadline, a retry changes nothing, and an id is remembered for ten minutes. An id is a key of its own
with a TTL, which costs less than a member of a hash that has to be swept.
"""

import argparse
import selectors
import socket
import statistics
import sys

import harness
from compare import CONNECTIONS

TARGETS = {1: 0.60, 16: 0.15}
PAIRS = {1: 60_000, 16: 300_000}
KEYS = 1_000
# The period is longer than a run: the scripts are not exact for a COMMIT after it.
LIMIT, PERIOD_MS, TTL_MS, COST, ACTUAL = 1_000_000_000, 3_600_000, 30_000, 400, 120
REMEMBERED_MS = 600_000

CLOCK = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "

# KEYS: what is used, deadlines of holds, the id. ARGV: id, ttl, cost, limit, period. As LIMIT.RESERVE.
RESERVE_SCRIPT = CLOCK + f"""
local cost, limit = tonumber(ARGV[3]), tonumber(ARGV[4])
local ended = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)
for _, hold in ipairs(ended) do
  redis.call('ZREM', KEYS[2], hold)
  redis.call('DECRBY', KEYS[1], hold:match('^%d+'))
end
local known = redis.call('GET', KEYS[3])
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if known then return {{1, limit, limit - used, 0, 0, 0, 0}} end
if used + cost > limit then
  local left = redis.call('PTTL', KEYS[1])
  return {{0, limit, limit - used, left, left, 1, 0}}
end
local left = ARGV[5]
if used == 0 then
  redis.call('SET', KEYS[1], cost, 'PX', left)
else
  redis.call('INCRBY', KEYS[1], cost)
  left = redis.call('PTTL', KEYS[1])
end
local deadline = now + ARGV[2]
redis.call('ZADD', KEYS[2], deadline, ARGV[3] .. ':' .. ARGV[1])
redis.call('SET', KEYS[3], ARGV[3] .. ':' .. deadline, 'PX', ARGV[2] + {REMEMBERED_MS})
return {{1, limit, limit - used - cost, 0, tonumber(left), 0, now}}
"""

# KEYS as above. ARGV: id, actual. As LIMIT.COMMIT.
COMMIT_SCRIPT = CLOCK + f"""
local known = redis.call('GET', KEYS[3])
if not known then return {{0, 0, 0}} end
local held, deadline = known:match('^(%d+):(%d+)$')
if not held then return {{2, 0, tonumber(known:sub(2))}} end
if tonumber(deadline) <= now then return {{3, 0, 0}} end
redis.call('ZREM', KEYS[2], held .. ':' .. ARGV[1])
if held ~= ARGV[2] then redis.call('INCRBY', KEYS[1], ARGV[2] - held) end
redis.call('SET', KEYS[3], 'c' .. ARGV[2], 'PX', {REMEMBERED_MS})
return {{1, tonumber(held), tonumber(ARGV[2])}}
"""


def native_pair(number):
    key, name = f"k:{number % KEYS}", f"id:{number}"
    return (harness.encode(["LIMIT.RESERVE", name, f"{TTL_MS}ms", key, "FIXED", LIMIT, f"{PERIOD_MS}ms", "COST", COST]),
            harness.encode(["LIMIT.COMMIT", name, key, "COST", ACTUAL]))


def script_pair(shas, number):
    key, name = f"k:{number % KEYS}", f"id:{number}"
    keys = (f"{key}:used", f"{key}:holds", f"{key}:{name}")
    return (harness.encode(["EVALSHA", shas[0], 3, *keys, name, TTL_MS, COST, LIMIT, PERIOD_MS]),
            harness.encode(["EVALSHA", shas[1], 3, *keys, name, ACTUAL]))


def requests(pair, first, count, depth):
    """What one connection sends: (bytes, lines of the replies), each after the replies to the one before.
    A reply of seven integers has 8 lines, one of three 4."""
    if depth == 1:
        for number in range(first, first + count):
            reserve, commit = pair(number)
            yield reserve, 8
            yield commit, 4
        return
    pairs = depth // 2
    for begin in range(first, first + count, pairs):
        parts = [part for number in range(begin, begin + pairs) for part in pair(number)]
        yield b"".join(parts), 12 * pairs


def run(server, pair, first, count, depth):
    """CPU time of the server for each pair, in ns."""
    each = count // CONNECTIONS // max(1, depth // 2) * max(1, depth // 2)
    with selectors.DefaultSelector() as selector:
        for place in range(CONNECTIONS):
            connection = socket.create_connection(("127.0.0.1", server.port))
            # Encoded before, so that the client keeps the server busy: one that sleeps between two
            # writes pays for being woken.
            stream = iter(list(requests(pair, first + place * each, each, depth)))
            selector.register(connection, selectors.EVENT_READ, [stream, 0])
        before = server.cpu_ns()
        for key in list(selector.get_map().values()):
            send_next(selector, key)
        while selector.get_map():
            for key, _ in selector.select():
                reply = key.fileobj.recv(1 << 20)
                if not reply or b"-" in reply:
                    raise SystemExit(f"{server.name}: {reply[:200]!r}")
                key.data[1] -= reply.count(b"\r\n")
                if key.data[1] == 0:
                    send_next(selector, key)
        return (server.cpu_ns() - before) / (each * CONNECTIONS)


def send_next(selector, key):
    request = next(key.data[0], None)
    if request is None:
        selector.unregister(key.fileobj)
        key.fileobj.close()
        return
    key.data[1] = request[1]
    key.fileobj.sendall(request[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="times the number of pairs")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    arguments = parser.parse_args()
    rows, missed, first = [], 0, 0
    with harness.running("ours", arguments.ours, "--appendonly", "no") as ours, \
            harness.running("redis", arguments.redis, "--appendonly", "no") as redis:
        shas = [redis.client.call("SCRIPT", "LOAD", script).decode() for script in (RESERVE_SCRIPT, COMMIT_SCRIPT)]
        for depth, target in TARGETS.items():
            count, measured = int(PAIRS[depth] * arguments.scale), []
            for _ in range(arguments.rounds):
                cost = run(ours, native_pair, first, count, depth)
                script = run(redis, lambda number: script_pair(shas, number), first, count, depth)
                measured.append((cost, script, cost / script))
                first += count
            cost, script, ratio = (statistics.median(column) for column in zip(*measured))
            missed += ratio > target
            rows.append([str(depth), f"{cost:.0f}", f"{script:.0f}", f"{ratio:.2f}", "missed" if ratio > target else ""])
    print(f"server CPU ns for a RESERVE and its COMMIT, {CONNECTIONS} connections, median of {arguments.rounds}")
    print(harness.table(["pipeline", "ours", "scripts", "to scripts", ""], rows))
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
