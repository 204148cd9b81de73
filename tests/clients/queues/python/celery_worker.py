"""Celery's worker with its broker and results in Redis (BRPOP over its queues, pub/sub for control and results).
Usage: celery_worker.py port"""

import os
import sys

import celery
from celery.exceptions import TaskRevokedError

from worker import restart_server, show, worker

PORT = os.environ.get("REDIS_PORT") or sys.argv[1]
app = celery.Celery("queue", broker=f"redis://127.0.0.1:{PORT}/0", backend=f"redis://127.0.0.1:{PORT}/1")
app.conf.broker_connection_retry_on_startup = True
app.conf.result_backend_always_retry = True
WAIT = {"timeout": 30, "interval": 0.02}


@app.task(name="add")
def add(left, right):
    return left + right


@app.task(name="total")
def total(numbers):
    return sum(numbers)


@app.task(name="wrong")
def wrong():
    raise ValueError("wrong by design")


@app.task(name="third_time", bind=True, max_retries=5)
def third_time(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0.1)
    return self.request.retries


def steps():
    show("add", add.delay(1, 2).get(**WAIT))
    show("group", celery.group(add.s(i, i) for i in range(20))().get(**WAIT))
    show("chain", (add.s(1, 2) | add.s(4) | add.s(8))().get(**WAIT))
    show("chord", celery.chord([add.s(i, 1) for i in range(10)], total.s())().get(**WAIT))
    failed = wrong.delay()
    show("wrong", repr(failed.get(propagate=False, **WAIT)), failed.status)
    show("retried", third_time.delay().get(**WAIT))
    show("in half a second", add.apply_async((2, 3), countdown=0.5).get(**WAIT))
    show("priorities", [add.apply_async((i, 0), priority=i).get(**WAIT) for i in (0, 3, 6, 9)])
    revoked = add.apply_async((1, 1), countdown=1)
    revoked.revoke()
    try:
        show("revoked", revoked.get(**WAIT))
    except TaskRevokedError as error:
        show("revoked", str(error))


def main():
    # By a process of its own: who waits for results is not connected again when the server has restarted.
    with worker("celery", "-A", "celery_worker", "call", "add", "--args", "[20, 22]", port=PORT) as caller:
        left = caller.communicate()[0].strip()
    restart_server()
    with worker("celery", "-A", "celery_worker", "worker", "-c", "2", "-n", "one@host", "-l", "warning", port=PORT):
        show("after the restart", app.AsyncResult(left).get(**WAIT))
        steps()
        show("queues", [queue["name"] for queue in app.control.inspect().active_queues()["one@host"]])
    left = add.delay(5, 6)
    show("nobody works", left.ready(), app.control.purge())


if __name__ == "__main__":
    main()
    os._exit(0)  # results that are dropped while Python ends would call the server once more
