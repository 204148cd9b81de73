#!/usr/bin/env python3
"""kill -9 under load: what was acknowledged is there after the restart, command by command.

SCALE times 20 kills; CRASH_APPENDFSYNC (always) and CRASH_SEED can be set. Each connection works
on keys of its own, in pipelines, with commands of every type; a model beside it knows the state
after each command. What the next process holds must be the state after one of the commands from the
last acknowledged one to the last one sent. Rewrites go on meanwhile.
"""

import os
import pathlib
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient, encode  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402
from lib.write_model import WriteModel  # noqa: E402

CONNECTIONS = 10
DEPTHS = [1, 4, 16, 40]


class Worker:
    """One connection's keys: what was sent, what was acknowledged, and the state they make."""

    def __init__(self, number, seed):
        self.dice = random.Random(f"{seed}-{number}")
        self.model = WriteModel(f"w{number}:", self.dice)
        self.sent = []
        self.acknowledged = 0
        self.total = 0
        self.unexpected = None

    def load(self, port):
        """Sends pipelines until the server is gone."""
        self.sent, self.acknowledged = [], 0
        try:
            with RespClient(port) as client:
                while True:
                    batch = [self.model.random_command() for _ in range(self.dice.choice(DEPTHS))]
                    self.sent += batch
                    client.socket.sendall(b"".join(map(encode, batch)))
                    for _ in batch:
                        client.read()
                        self.acknowledged += 1
        except OSError:
            pass  # the kill
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.unexpected = error

    def settle(self, client):
        """True if nothing acknowledged is lost; the model then goes on from what is there."""
        self.total += self.acknowledged
        found = self.model.read(client)
        for command in self.sent[:self.acknowledged]:
            self.model.apply(command)
        for command in [None] + self.sent[self.acknowledged:]:
            if command is not None:
                self.model.apply(command)
            if self.model.expected() == found:
                return True
        return False


def begin_rewrite(client):
    """Unless the log's growth has begun one by itself."""
    try:
        client.call("BGREWRITEAOF")
    except ReplyError as error:
        if "already in progress" not in str(error):
            raise


def run_cycle(server, workers, dice):
    threads = [threading.Thread(target=worker.load, args=(server.port,)) for worker in workers]
    for thread in threads:
        thread.start()
    if dice.random() < 0.3:
        time.sleep(dice.uniform(0, 0.1))
        with server.client() as client:
            begin_rewrite(client)
    time.sleep(dice.uniform(0.02, 0.25))
    server.kill()
    for thread in threads:
        thread.join()


def check_files(server):
    """What --check-aof says between two processes."""
    done = subprocess.run([tallyd(), "--check-aof", str(server.directory / "appendonlydir")],
                          capture_output=True, text=True, check=False)
    return "DAMAGED" not in done.stdout and "result: whole" in done.stdout, done.stdout


def main():
    cycles = scaled(20)
    policy = os.environ.get("CRASH_APPENDFSYNC", "always")
    seed = int(os.environ.get("CRASH_SEED", time.time_ns() % 1_000_000))
    report = Report()
    report.note(f"CRASH_SEED={seed}, {cycles} kills, appendfsync {policy}")
    dice = random.Random(seed)
    workers = [Worker(number, seed) for number in range(CONNECTIONS)]
    losses, damaged = [], []
    with Server(appendonly="yes", appendfsync=policy, auto_aof_rewrite_min_size="300kb") as server:
        for cycle in range(cycles):
            run_cycle(server, workers, dice)
            whole, told = check_files(server)
            if not whole:
                damaged.append(told)
            server.start()
            with server.client() as client:
                losses += [(cycle, worker.model.prefix) for worker in workers if not worker.settle(client)]
            if losses:
                break
        rewrites = server.log().count("Rewrite done")
    total = sum(worker.total for worker in workers)
    errors = [worker.unexpected for worker in workers if worker.unexpected is not None]
    report.check(f"{total} acknowledged writes, {cycles} kills, none lost", not losses, losses)
    report.check("every reply was one", not errors, errors)
    report.check("--check-aof finds the files whole, but for torn tails", not damaged, damaged[:1])
    report.check(f"{rewrites} rewrites went on meanwhile", rewrites > 0)
    report.finish()


main()
