"""taskiq's receiver with its lists in Redis (BRPOP), or by pub/sub. It runs beside the caller: a worker of taskiq in a
process of its own takes five seconds to end. Usage: taskiq_worker.py port"""

import asyncio
import contextlib
import logging
import sys

from taskiq import AsyncTaskiqTask
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


async def started(kind):
    broker = kind(URL, queue_name=kind.__name__)
    broker = broker.with_result_backend(RedisAsyncResultBackend(URL, result_ex_time=100))
    broker.register_task(add, "add")
    broker.register_task(wrong, "wrong")
    await broker.startup()
    return broker


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
    adding, failing = broker.find_task("add"), broker.find_task("wrong")
    show(name, "add", await result(await adding.kiq(1, 2)))
    show(name, "twenty", [await result(task) for task in [await adding.kiq(i, i) for i in range(20)]])
    failed = await (await failing.kiq()).wait_result(**WAIT)
    show(name, "wrong", failed.is_err, repr(failed.error))


async def main():
    listed = await started(ListQueueBroker)
    left = await listed.find_task("add").kiq(5, 6)
    show("before anybody works", await left.is_ready())
    await listed.shutdown()
    restart_server()
    listed = await started(ListQueueBroker)
    async with receiver(listed):
        show("after the restart", await result(AsyncTaskiqTask(left.task_id, listed.result_backend)))
        await steps("list", listed)
    await listed.shutdown()
    published = await started(PubSubBroker)
    async with receiver(published):
        await asyncio.sleep(0.5)  # who does not listen yet gets nothing
        await steps("pub/sub", published)
    await published.shutdown()


asyncio.run(main())
