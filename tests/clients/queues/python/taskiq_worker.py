"""taskiq's worker with its lists and pub/sub in Redis (BRPOP). Usage: taskiq_worker.py port"""

import asyncio
import os
import sys

from taskiq import InMemoryBroker
from taskiq_redis import ListQueueBroker, PubSubBroker, RedisAsyncResultBackend

from worker import restart_server, show, worker

PORT = os.environ.get("REDIS_PORT") or sys.argv[1]
URL = f"redis://127.0.0.1:{PORT}"
WAIT = {"timeout": 30, "check_interval": 0.02}


def with_results(broker):
    return broker.with_result_backend(RedisAsyncResultBackend(URL, result_ex_time=100))


listed = with_results(ListQueueBroker(URL, queue_name="listed"))


@listed.task(task_name="add")
async def add(left, right):
    return left + right


@listed.task(task_name="wrong")
async def wrong():
    raise ValueError("wrong by design")


async def steps():
    show("add", (await (await add.kiq(1, 2)).wait_result(**WAIT)).return_value)
    tasks = [await add.kiq(i, i) for i in range(20)]
    show("twenty", [(await task.wait_result(**WAIT)).return_value for task in tasks])
    result = await (await wrong.kiq()).wait_result(**WAIT)
    show("wrong", result.is_err, repr(result.error))


async def main():
    await listed.startup()
    before = await add.kiq(5, 6)
    show("before anybody works", await before.is_ready())
    with worker("taskiq", "worker", "taskiq_worker:listed", "--workers", "1", "--log-level", "ERROR",
                "--shutdown-timeout", "1", port=PORT):
        show("then", (await before.wait_result(**WAIT)).return_value)
        await steps()
    await listed.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
