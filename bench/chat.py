#!/usr/bin/env python3
"""The chat counter's decision: HITS.ADD here against its original commands on redis-server.

A message asks how often its text was heard in the last 24 hours, and adds itself. Originally that is
LLEN, LPOP until an entry is fresh, LPUSH of that one and RPUSH of the new one, one reply awaited
before the next command. The clock is the message's own and goes on so that with each message one
entry expires, as in a text that is heard at a steady rate. Every client has a text of its own, since
the original's answers are wrong where two share one.
"""

import argparse
import selectors
import statistics
import sys
import time

import harness

WINDOW = 86_400
ENTRIES = 100  # of a text within the window
STEP = WINDOW // ENTRIES
BEGIN = 1_795_230_400
TARGET = 0.2


def native(text, messages):
    """Yields commands, gets their replies, returns the answers; as original()."""
    answers = []
    for i in range(messages):
        answers.append((yield "HITS.ADD", text, "24h", "AT", BEGIN + i * STEP) - 1)
    return answers


def original(text, messages):
    answers = []
    for i in range(messages):
        now = BEGIN + i * STEP
        length = yield "LLEN", text
        while length > 0:
            first = yield "LPOP", text
            if int(first) > now - WINDOW:
                yield "LPUSH", text, first
                break
            length -= 1
        yield "RPUSH", text, now
        answers.append(length)
    return answers


class Counting:
    """One client: its connection and the conversation it is in."""

    def __init__(self, port, conversation):
        self.client = harness.Client(port)
        self.conversation = conversation
        self.round_trips = 0
        self.answers = None
        self.send(next(conversation))

    def send(self, command):
        self.round_trips += 1
        self.client.socket.sendall(harness.encode(command))

    def go_on(self):
        """Reads a reply and sends what follows it; False when the conversation is over."""
        try:
            self.send(self.conversation.send(self.client.read()))
        except StopIteration as end:
            self.answers = end.value
            return False
        return True


def converse(server, conversation, clients, messages):
    """Microseconds and round trips a message."""
    server.client.call("FLUSHALL")
    begin = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        everybody = [Counting(server.port, conversation(f"message#{i}", messages))
                     for i in range(clients)]
        for one in everybody:
            selector.register(one.client.socket, selectors.EVENT_READ, one)
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.go_on():
                    selector.unregister(key.fileobj)
    elapsed = time.perf_counter() - begin
    right = [min(i, ENTRIES - 1) for i in range(messages)]
    for one in everybody:
        if one.answers != right:
            raise SystemExit(f"{server.name}: wrong answers: {one.answers[-3:]}")
        one.client.close()
    total = clients * messages
    return elapsed / total * 1e6, sum(one.round_trips for one in everybody) / total


def compare(ours, redis, clients, messages, rounds):
    rows = [(*converse(ours, native, clients, messages),
             *converse(redis, original, clients, messages)) for _ in range(rounds)]
    cost, trips, reference, reference_trips = [statistics.median(column) for column in zip(*rows)]
    ratio = statistics.median(row[0] / row[2] for row in rows)
    return [str(clients), f"{cost:.0f}", f"{reference:.0f}", f"{ratio:.2f}", f"{trips:.2f}",
            f"{reference_trips:.2f}", f"{trips / reference_trips:.2f}",
            "missed" if ratio > TARGET else ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--messages", type=int, default=20_000, help="of all clients")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="fail if the target is missed")
    arguments = parser.parse_args()
    with harness.running("ours", arguments.ours, "--appendonly", "no") as ours, \
            harness.running("redis", arguments.redis, "--appendonly", "no") as redis:
        rows = [compare(ours, redis, clients, arguments.messages // clients, arguments.rounds)
                for clients in (1, 50)]
    print(f"a message, median of {arguments.rounds}; target: {TARGET} of the wall time")
    print(harness.table(["clients", "us, ours", "redis", "ratio", "round trips, ours", "redis",
                         "ratio", ""], rows))
    return 1 if arguments.check and any(row[-1] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
