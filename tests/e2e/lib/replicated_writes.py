"""Writes of every family, in several databases, in and out of transactions and scripts: what a replica must follow."""

import random
import threading
import time

from lib.native_commands import NativeCommands
from lib.resp import ReplyError
from lib.write_model import WriteModel


class Writes:
    """A seeded stream of calls for one client."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.model = WriteModel(f"m{seed}:", self.dice)
        self.natives = NativeCommands(seed, int(time.time() * 1000))
        self.done = 0

    def step(self, client):
        choice = self.dice.random()
        self.natives.now = int(time.time() * 1000)
        if choice < 0.02:
            self._call(client, "SELECT", self.dice.choice([0, 0, 0, 3, 9]))
        elif choice < 0.05:
            self._transaction(client)
        elif choice < 0.08:
            self._call(client, "EVAL", "for i = 1, ARGV[1] do redis.call('INCR', KEYS[1]) end return redis.call("
                       "'RPUSH', KEYS[2], ARGV[1])", 2, f"script{self.dice.randrange(3)}", "scripted",
                       self.dice.randrange(1, 5))
        elif choice < 0.13:
            self._call(client, "SET", f"short{self.dice.randrange(200)}", "x" * self.dice.randrange(100), "PX",
                       self.dice.randrange(1, 1500))
        elif choice < 0.135:
            self._call(client, "SET", "large", "x" * self.dice.randrange(300_000))
        elif choice < 0.14:
            self._call(client, *self.dice.choice([("SWAPDB", 3, 9), ("FLUSHDB",), ("DEL", "large"), ("SPOP", "spopped", 2),
                                                  ("SADD", "spopped", *range(20)), ("RENAME", "large", "larger"),
                                                  ("PUBLISH", "news", "x" * self.dice.randrange(100_000))]))
        elif choice < 0.55:
            self._call(client, *self.natives.call())
        else:
            self._call(client, *self.model.random_command())
        self.done += 1

    def _call(self, client, *words):
        try:
            client.call(*words)
        except ReplyError:
            pass

    def _transaction(self, client):
        client.call("MULTI")
        for _ in range(self.dice.randrange(1, 6)):
            command = self.model.random_command() if self.dice.random() < 0.7 else self.natives.call()
            self._call(client, *command)
        self._call(client, "EXEC")


class Load:
    """A context manager: several clients write to what `server()` says, until it ends. Who is cut off comes again."""

    def __init__(self, server, seed, clients=4):
        self.server = server
        self.writers = [Writes(seed * 100 + i) for i in range(clients)]
        self.stopping = threading.Event()
        self.resumed = threading.Event()
        self.resumed.set()
        self.idle = threading.Semaphore(0)
        self.threads = [threading.Thread(target=self._run, args=(writes,), daemon=True) for writes in self.writers]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.resumed.set()
        for thread in self.threads:
            thread.join(60)

    @property
    def done(self):
        return sum(writes.done for writes in self.writers)

    def pause(self):
        """Returns when no client writes any more."""
        self.resumed.clear()
        for _ in self.threads:
            self.idle.acquire()

    def resume(self):
        self.resumed.set()

    def _run(self, writes):
        client = None
        while not self.stopping.is_set():
            if not self.resumed.is_set():
                self.idle.release()
                self.resumed.wait()
                continue
            try:
                if client is None:
                    client = self.server().client()
                writes.step(client)
            except (OSError, ReplyError):
                client = None
                time.sleep(0.05)
