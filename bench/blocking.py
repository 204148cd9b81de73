#!/usr/bin/env python3
"""Commands that wait: the server's CPU for one element from LPUSH to a client that waits in BLPOP, and what many clients
cost that wait: in ten seconds in which nothing happens, and when one push serves all of them at once."""

import argparse
import contextlib
import select
import threading
import time

import harness

ROUNDS = 5


def blocked(server, count):
    while int(server.client.info("blocked_clients")) != count:
        time.sleep(0.01)


def serve(server, elements, timeout, pipeline):
    """Microseconds of the server's CPU for an element: LPUSH, BLPOP and both replies. So many LPUSH come at once."""
    workers = [server.connect() for _ in range(20)]
    by_descriptor = {worker.socket.fileno(): worker for worker in workers}
    readable = select.poll()
    for worker in workers:
        readable.register(worker.socket, select.POLLIN)
        worker.socket.sendall(harness.encode(["BLPOP", "other", "queue", timeout]))
    blocked(server, len(workers))
    begin = server.cpu_ns()
    for _ in range(elements // pipeline):
        server.client.socket.sendall(harness.encode(["LPUSH", "queue", "element"]) * pipeline)
        left = pipeline
        while left > 0:
            for descriptor, _ in readable.poll():
                by_descriptor[descriptor].read()
                by_descriptor[descriptor].socket.sendall(harness.encode(["BLPOP", "other", "queue", timeout]))
                left -= 1
        for _ in range(pipeline):
            server.client.read()
    spent = server.cpu_ns() - begin
    for worker in workers:
        worker.close()
    blocked(server, 0)
    return spent / elements / 1000


def crowd(server, count):
    """CPU ms of ten idle seconds; CPU ms of the push that serves all; the longest PING meanwhile in ms."""
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(count)]
        idle = spent_in(server, 10)
        for i, worker in enumerate(workers):
            worker.socket.sendall(harness.encode(["BLPOP", "queue", 0 if i % 2 else 3600]))
        blocked(server, count)
        waiting = spent_in(server, 10)
        longest, done = [0.0], threading.Event()
        other = stack.enter_context(contextlib.closing(server.connect()))
        thread = threading.Thread(target=ping_until, args=(done, other, longest))
        thread.start()
        begin = server.cpu_ns()
        server.client.call("RPUSH", "queue", *range(count))
        for worker in workers:
            worker.read()
        spent = (server.cpu_ns() - begin) / 1e6
        done.set()
        thread.join()
        return idle, waiting, spent, longest[0] * 1000


def spent_in(server, seconds):
    begin = server.cpu_ns()
    time.sleep(seconds)
    return (server.cpu_ns() - begin) / 1e6


def ping_until(done, client, longest):
    while not done.is_set():
        begin = time.perf_counter()
        client.call("PING")
        longest[0] = max(longest[0], time.perf_counter() - begin)
        time.sleep(0.001)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_server_arguments(parser)
    parser.add_argument("--elements", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=9_000)
    options = parser.parse_args()
    programs = (("tallyd", options.ours), ("redis-server", options.redis))
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(harness.running(name, path, "--maxclients", "20000")) for name, path in programs]
        rows = []
        for timeout, pipeline in ((0, 1), (5, 1), (0, 16), (5, 16)):
            best = [min(serve(server, options.elements, timeout, pipeline) for _ in range(ROUNDS)) for server in servers]
            rows.append([f"BLPOP timeout {timeout}, LPUSH in pipelines of {pipeline}", *(f"{value:.2f}" for value in best), f"{best[0] / best[1]:.2f}"])
        print(harness.table(["CPU us an element", "tallyd", "redis-server", "share"], rows), "\n")
        rows = [[server.name, *(f"{value:.1f}" for value in crowd(server, options.clients))] for server in servers]
        print(harness.table([f"{options.clients} clients, ms", "idle 10 s", "waiting 10 s", "push for all", "longest PING"],
                            rows))


main()
