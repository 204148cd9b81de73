"""taskiq's receiver with its lists in Redis (BRPOP), or by pub/sub. It runs beside the caller: a worker of taskiq in a
process of its own takes five seconds to end. Usage: taskiq_worker.py port"""

import asyncio
import contextlib
import logging
import sys

from taskiq.api import run_receiver_task
from taskiq_redis import ListQueueBroker, PubSubBroker, RedisAsyncResultBackend

from worker import restart_server, show

logging.disable(logging.CRITICAL)  # what fails is shown by its result
URL = f"redis://127.0.0.1:{sys.argv[1]}"
WAIT = {"timeout": 30, "check_interval": 0.02}


def add(left, right):
    return left + right


def wrong():
    raise ValueError("wrong by design")


@contextlib.asynccontextmanager
async def receiver(broker):
    task = asyncio.create_task(run_receiver_task(broker))
    yield
    task.cancel()
    await asyncio.wait([task])


async def result(task):
    return (await task.wait_result(**WAIT)).return_value


async def steps(name, broker):
    """With a receiver that listens."""
    adding, failing = broker.register_task(add, "add"), broker.register_task(wrong, "wrong")
    show(name, "add", await result(await adding.kiq(1, 2)))
    show(name, "twenty", [await result(task) for task in [await adding.kiq(i, i) for i in range(20)]])
    failed = await (await failing.kiq()).wait_result(**WAIT)
    show(name, "wrong", failed.is_err, repr(failed.error))


async def main():
    results = RedisAsyncResultBackend(URL, result_ex_time=100)
    listed = ListQueueBroker(URL, queue_name="listed").with_result_backend(results)
    await listed.startup()
    waiting = await listed.register_task(add, "add").kiq(5, 6)
    show("before anybody works", await waiting.is_ready())
    restart_server()
    async with receiver(listed):
        show("then", await result(waiting))
        await steps("list", listed)
    published = PubSubBroker(URL, queue_name="published").with_result_backend(results)
    await published.startup()
    async with receiver(published):
        await asyncio.sleep(0.5)  # who does not listen yet gets nothing
        await steps("pub/sub", published)
    await published.shutdown()
    await listed.shutdown()


asyncio.run(main())
