"""python-redis-lock: those that wait for a lock do so by BLPOP. Usage: redis_lock_wait.py port"""

import sys
import threading
import time

import redis
import redis_lock

from worker import restart_server, show

THREADS, ROUNDS = 8, 10


def contend(client):
    """Many take the lock in turn: nobody is beside another in it, and nobody is left waiting."""
    inside, together, count = [], [], [0]

    def work(name):
        for _ in range(ROUNDS):
            with redis_lock.Lock(client, "contended", expire=30):
                inside.append(name)
                together.append(len(inside))
                value = count[0]
                time.sleep(0.001)
                count[0] = value + 1
                inside.remove(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show("in turn", count[0], max(together))


def main():
    client = redis.Redis(port=int(sys.argv[1]), retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.1), 50))
    first, second = redis_lock.Lock(client, "lock", expire=20, id="first"), redis_lock.Lock(client, "lock", id="second")
    show("first", first.acquire(), second.acquire(blocking=False), second.get_owner_id(), first.locked())
    start = time.monotonic()
    show("second in vain", second.acquire(timeout=1), 1 <= time.monotonic() - start < 10)
    waiting = threading.Timer(0.3, first.release)
    waiting.start()
    show("second after it", second.acquire(timeout=30), second.get_owner_id())
    waiting.join()
    second.release()
    contend(client)
    short = redis_lock.Lock(client, "short", expire=6, auto_renewal=True)  # renewed each four seconds
    with short:
        time.sleep(7)
        show("renewed", redis_lock.Lock(client, "short").acquire(blocking=False))
    kept = redis_lock.Lock(client, "kept", expire=100, id="kept")
    show("kept", kept.acquire())
    restart_server()
    show("after the restart", redis_lock.Lock(client, "kept").get_owner_id(), kept.release(), kept.locked())
    try:
        kept.release()
    except redis_lock.NotAcquired as error:
        show("not held", str(error))
    redis_lock.Lock(client, "a").acquire()
    redis_lock.reset_all(client)
    show("all are reset", redis_lock.Lock(client, "a").acquire(blocking=False))


main()
