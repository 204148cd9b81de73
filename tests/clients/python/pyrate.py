"""pyrate-limiter's bucket in Redis, with several rates. Usage: pyrate.py port"""

import sys
import threading

import redis
from pyrate_limiter import Duration, Limiter, Rate, RedisBucket

RATES = [Rate(3, Duration.MINUTE), Rate(5, Duration.HOUR)]


def limiter(client):
    bucket = RedisBucket.init(RATES, client, "bucket")
    return bucket, Limiter(bucket)


def main():
    # The limiter's thread may find the server away, or its bucket closed: what it does is asked for below.
    threading.excepthook = lambda _: None
    client = redis.Redis(port=int(sys.argv[1]))
    bucket, limits = limiter(client)
    print([limits.try_acquire("ann", blocking=False) for _ in range(5)], bucket.count(), flush=True)
    limits.close()
    print("restart", flush=True)
    sys.stdin.readline()
    bucket, limits = limiter(client)
    print(limits.try_acquire("ann", blocking=False), bucket.count(), bucket.failing_rate)
    print(bucket.leak(bucket.now()), bucket.leak(bucket.now() + 2 * Duration.HOUR), bucket.count())
    bucket.flush()
    print([limits.try_acquire("bob", weight=2, blocking=False) for _ in range(3)], bucket.count())
    print(bucket.peek(0).name.split(":")[0], bucket.peek(9))
    limits.close()


main()
