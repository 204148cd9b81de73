"""Counts on whichever server the Sentinels call the primary. Usage: redis_py.py name port…"""

import sys
import time

from redis.exceptions import RedisError
from redis.sentinel import Sentinel

name, *ports = sys.argv[1:]
sentinel = Sentinel([("127.0.0.1", int(port)) for port in ports], socket_timeout=1)
primary = sentinel.master_for(name, socket_timeout=1)
while True:
    try:
        print("counted", primary.incr("redis-py"), flush=True)
    except RedisError as error:
        print("failed", repr(error), flush=True)
        time.sleep(0.1)
    time.sleep(0.01)
