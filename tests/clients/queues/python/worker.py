"""What the programs share: their output, the server's restart, and a worker in a process of its own."""

import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_SECONDS = 30
PR_SET_PDEATHSIG = 1


def show(what, *values):
    print(what, *map(repr, values), flush=True)


def restart_server():
    """The server is ended and started again by who started the program."""
    print("restart", flush=True)
    sys.stdin.readline()


def reach(what, condition):
    """Waits until it is true, and shows whether it is."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (reached := bool(condition())) and time.monotonic() < deadline:
        time.sleep(0.01)
    show(what, reached)


@contextlib.contextmanager
def worker(*command, port):
    """`python -m` with these arguments, for as long as the block runs; what it says is shown if it failed."""
    def die_with_parent():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    environment = dict(os.environ, REDIS_PORT=str(port), PYTHONPATH=str(HERE))
    process = subprocess.Popen([sys.executable, "-m", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env=environment, preexec_fn=die_with_parent)
    said = ""
    try:
        yield process
    except BaseException:
        process.kill()
        print(process.communicate()[0])
        raise
    process.terminate()
    try:
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    if process.returncode not in (0, -signal.SIGTERM):
        print(said)
    show("worker ended", process.returncode)
