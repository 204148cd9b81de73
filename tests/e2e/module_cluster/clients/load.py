#!/usr/bin/env python3
"""Takes from limits of a cluster through redis-py, as an application does, until standard input is closed. Then
prints what was acknowledged, as JSON: {"taken": {key: hits}, "unknown": {key: calls without a reply}, "calls": n}.

    load.py PORT SEED LIMIT KEYS PREFIX
"""

import collections
import json
import random
import select
import sys
import time

from redis import exceptions
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.retry import Retry

MAYBE_DONE = (exceptions.ConnectionError, exceptions.TimeoutError, OSError)
RULES = {"fixed": ["FIXED"], "sliding": ["SLIDING"], "policy": ["POLICY", "hundred"]}


def words_of(dice, limit, keys, prefix):
    """A call and the keys that it takes from."""
    number = dice.randrange(keys)
    kind = dice.choice(list(RULES))
    rule = RULES[kind] if kind == "policy" else [*RULES[kind], limit, "10h"]
    key = f"{prefix}{kind}:{{{number}}}"
    if dice.random() < 0.2:
        both = f"{prefix}both:{{{number}}}"
        return ["LIMIT.TAKE", key, *rule, "AND", both, "FIXED", 100 * limit, "10h"], [key, both]
    return ["LIMIT.TAKE", key, *rule], [key]


def main():
    port, seed, limit, keys = map(int, sys.argv[1:5])
    dice = random.Random(seed)
    # Nothing is sent again by itself: what has no reply may have been done.
    cluster = RedisCluster(host="127.0.0.1", port=port, socket_timeout=5, retry=Retry(NoBackoff(), 0))
    taken, unknown = collections.Counter(), collections.Counter()
    calls = 0
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        words, names = words_of(dice, limit, keys, sys.argv[5])
        calls += 1
        try:
            reply = cluster.execute_command(*words)
        except (exceptions.RedisError, OSError) as error:
            if isinstance(error, MAYBE_DONE) and "refused" not in str(error):
                unknown.update(names)
            time.sleep(0.01)
            continue
        if reply[0] == 1:
            taken.update(names)
    json.dump({"taken": taken, "unknown": unknown, "calls": calls}, sys.stdout)


main()
