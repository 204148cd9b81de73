#!/usr/bin/env python3
"""Server CPU per command, ours against redis-server or an older tallyd, in one run.

Both servers run at once, on loopback and without persistence (or with --aof). For each command and
pipeline depth redis-benchmark loads one and then the other, several rounds with the order turned
round each time; what counts is the time that the server's threads spent on a CPU, so that the load
generator's own cost and waiting stay out. Printed are the medians and the ratio's median.
"""

import argparse
import selectors
import socket
import statistics
import subprocess
import sys

import harness
from workloads import GROUPS, NATIVE, Transaction

CONNECTIONS = 50
TARGETS = {1: 0.85, 16: 0.45, 64: 0.35}
AOF_TARGETS = {16: 0.50}
COMMANDS = {1: 150_000, 16: 800_000, 64: 1_600_000}


def run_redis_benchmark(server, workload, depth, count):
    command = ["redis-benchmark", "-p", str(server.port), "-c", str(CONNECTIONS), "-P", str(depth),
               "-n", str(count), "-r", str(workload.keys), "-q", *workload.command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:  # as at the first error reply
        raise SystemExit(f"{server.name}, {workload.name}: {done.stdout}{done.stderr}")
    return count


def run_transactions(server, workload, depth, count):
    """Keeps `depth` transactions under way on each connection; `count` is of commands."""
    request = b"".join(harness.encode(command) for command in workload.commands) * depth
    probe = harness.Client(server.port)
    probe.socket.sendall(request)
    for _ in range(len(workload.commands) * depth):
        probe.read()
    reply_bytes = len(request_reply(probe.socket, request))
    probe.close()

    rounds = max(1, count // (len(workload.commands) * depth * CONNECTIONS))
    with selectors.DefaultSelector() as selector:
        for _ in range(CONNECTIONS):
            connection = socket.create_connection(("127.0.0.1", server.port))
            selector.register(connection, selectors.EVENT_READ, [rounds, reply_bytes])
            connection.sendall(request)
        while selector.get_map():
            for key, _ in selector.select():
                advance(selector, key, request, reply_bytes)
    return rounds * CONNECTIONS * len(workload.commands) * depth


def request_reply(connection, request):
    """The reply to a request that was sent before on this connection, so that its size is steady."""
    connection.sendall(request)
    connection.settimeout(0.2)
    reply = b""
    try:
        while True:
            reply += connection.recv(1 << 20)
    except TimeoutError:
        return reply


def advance(selector, key, request, reply_bytes):
    state = key.data
    state[1] -= len(key.fileobj.recv(1 << 20))
    if state[1] > 0:
        return
    state[0] -= 1
    if state[0] == 0:
        selector.unregister(key.fileobj)
        key.fileobj.close()
        return
    state[1] = reply_bytes
    key.fileobj.sendall(request)


def measure(server, workload, setup, depth, count):
    """CPU nanoseconds per command."""
    server.client.call("FLUSHALL")
    server.client.send_batches(setup)
    run = run_transactions if isinstance(workload, Transaction) else run_redis_benchmark
    before = server.cpu_ns()
    sent = run(server, workload, depth, count)
    return (server.cpu_ns() - before) / sent


def compare(servers, workload, depth, count, rounds):
    """Medians (ours, redis, ratio) over the rounds."""
    results = []
    setup = list(harness.batches(workload.setup(count), 100))
    for turn in range(rounds):
        order = servers if turn % 2 == 0 else servers[::-1]
        costs = {server.name: measure(server, workload, setup, depth, count)
                 for server in order}
        results.append((costs["ours"], costs["redis"], costs["ours"] / costs["redis"]))
    return [statistics.median(column) for column in zip(*results)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--before", help="path of an older tallyd to compare with, not redis-server")
    parser.add_argument("--groups", default="base",
                        help=f"of {','.join(GROUPS)}, or all; with --before also native")
    parser.add_argument("--commands", help="only these names, with commas between")
    parser.add_argument("--pipelines", help="depths, with commas between; 1,16,64, or 16 with --aof")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="times the number of commands")
    parser.add_argument("--aof", action="store_true", help="with appendonly yes, everysec")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    return parser.parse_args()


def chosen_workloads(arguments):
    known = {**GROUPS, "native": NATIVE} if arguments.before else GROUPS
    groups = list(known) if arguments.groups == "all" else arguments.groups.split(",")
    workloads = [workload for group in groups for workload in known[group]]
    if arguments.commands:
        names = arguments.commands.upper().split(",")
        workloads = [workload for workload in workloads if workload.name in names]
    return workloads


def main():
    arguments = parse_arguments()
    targets = AOF_TARGETS if arguments.aof else TARGETS
    depths = list(targets)
    if arguments.pipelines:
        depths = [int(depth) for depth in arguments.pipelines.split(",")]
    options = ["--appendonly", "yes" if arguments.aof else "no", "--appendfsync", "everysec"]
    rows, missed = [], 0
    with harness.running("ours", arguments.ours, *options) as ours, \
            harness.running("redis", arguments.before or arguments.redis, *options) as other:
        for depth in depths:
            count = int(COMMANDS.get(depth, 400_000) * arguments.scale)
            for workload in chosen_workloads(arguments):
                cost, reference, ratio = compare([ours, other], workload, depth, count,
                                                 arguments.rounds)
                has_target = workload in GROUPS["base"] and not arguments.before
                target = targets.get(depth) if has_target else None
                late = target is not None and ratio > target
                missed += late
                rows.append([workload.name, str(depth), f"{cost:.0f}", f"{reference:.0f}",
                             f"{ratio:.2f}", f"{target:.2f}" if target else "-",
                             "missed" if late else ""])
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"server CPU ns per command, {CONNECTIONS} connections, median of {arguments.rounds}"
          + (", appendonly everysec" if arguments.aof else ""))
    print(harness.table(["command", "pipeline", "ours", "before" if arguments.before else "redis",
                         "ratio", "target", ""], rows))
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
