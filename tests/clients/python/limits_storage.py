"""limits, which Flask-Limiter and SlowAPI are built on: its three strategies in Redis.
Usage: limits_storage.py port"""

import concurrent.futures
import sys
import time

import limits
from limits.storage import storage_from_string
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter

STRATEGIES = [FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter]
RATE = limits.parse("3/day")
DAY_SECONDS = 86400


class User:
    """One of a strategy's: each keeps a type of its own in its keys."""

    def __init__(self, limiter, name):
        self.limiter = limiter
        self.keys = type(limiter).__name__, name

    def hits(self, times, cost=1):
        return [self.limiter.hit(RATE, *self.keys, cost=cost) for _ in range(times)]

    def show(self, hits):
        stats = self.limiter.get_window_stats(RATE, *self.keys)
        left = stats.reset_time - time.time()
        near = -1 <= left <= DAY_SECONDS + 1  # 0 if asked in the same millisecond.
        print(*self.keys, hits, self.limiter.test(RATE, *self.keys), stats.remaining, near, flush=True)


def main():
    storage = storage_from_string(f"redis://127.0.0.1:{sys.argv[1]}")
    users = [[User(strategy(storage), name) for name in ("ann", "bob", "cid")] for strategy in STRATEGIES]
    for ann, bob, _ in users:
        ann.show(ann.hits(5))
        bob.show(bob.hits(1, cost=2))
    print("restart", flush=True)
    sys.stdin.readline()
    for ann, bob, cid in users:
        ann.show(ann.hits(1))
        bob.show(bob.hits(2))
        ann.limiter.clear(RATE, *ann.keys)
        ann.show(ann.hits(1))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            cid.show(sum(pool.map(lambda _, cid=cid: cid.hits(1)[0], range(20))))
    print(storage.check(), storage.reset())


main()
