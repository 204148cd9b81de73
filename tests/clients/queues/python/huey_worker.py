"""huey's consumer with its queue in Redis: BLPOP, and BZPOPMIN where tasks have priorities.
Usage: huey_worker.py port"""

import os
import sys

import huey
from huey.exceptions import TaskException

from worker import reach, restart_server, show, worker

PORT = int(os.environ.get("REDIS_PORT") or sys.argv[1])
queue = huey.RedisHuey("queue", port=PORT)
ranked = huey.PriorityRedisHuey("ranked", port=PORT)
WAIT = {"blocking": True, "timeout": 30}


@queue.task()
def add(left, right):
    return left + right


@queue.task(retries=2)
def wrong():
    raise ValueError("wrong by design")


@ranked.task()
def mark(name):
    return ranked.storage.conn.rpush("marks", name)


@ranked.lock_task("one by one")
def locked():
    return "locked"


def consumer(instance):
    return worker("huey.bin.huey_consumer", f"huey_worker.{instance}", "-w", "4", "-q", port=PORT)


def failure(result):
    try:
        return result.get(**WAIT)
    except TaskException as error:
        return str(error)


def main():
    show("before anybody works", [add.schedule((1, 1), delay=1000).id is not None, len(queue.scheduled())])
    with consumer("queue"):
        show("add", add(1, 2).get(**WAIT))
        show("twenty", [result.get(**WAIT) for result in [add(i, i) for i in range(20)]])
        show("pipeline", queue.enqueue(add.s(1, 2).then(add, 3).then(add, 4)).get(**WAIT))
        show("later", add.schedule((3, 4), delay=1).get(**WAIT))
        show("wrong", failure(wrong()))
        restart_server()
        show("after the restart", add(20, 22).get(**WAIT))
    for priority in (1, 5, 3, 5, 2):
        mark(f"p{priority}", priority=priority)
    show("in the queue", ranked.storage.queue_size(), locked())
    with consumer("ranked"):
        reach("all are done", lambda: ranked.storage.conn.llen("marks") == 5)
        show("one more", mark("more").get(**WAIT))


if __name__ == "__main__":
    # By its own name, since a task is known by its module's.
    import huey_worker
    huey_worker.main()
