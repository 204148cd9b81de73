#!/usr/bin/env python3
"""What the loop costs: server CPU of a PING at pipeline 1, beside an empty server and redis-server.

The empty server (bench/empty_server) only receives, counts and sends on one epoll set; what it costs is the
kernel's part, with one thread, and with a second one that only sleeps. All servers run at once; for each number
of clients redis-benchmark loads one after the other, several rounds with the order turned round each time.
Printed are medians, in microseconds a request and as shares of the empty server with one thread, and requests a
second. Build the targets tallyd and empty_server before.
"""

import argparse
import statistics
import subprocess
import time

import harness

CLIENTS = (1, 50, 500)


def measure(server, clients, count):
    """(microseconds of server CPU a request, requests a second)."""
    before, begin = server.cpu_ns(), time.monotonic()
    subprocess.run(["redis-benchmark", "-p", str(server.port), "-c", str(clients), "-n", str(count), "-q",
                    "-t", "ping_mbulk"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return (server.cpu_ns() - before) / count / 1000, count / (time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_server_arguments(parser)
    parser.add_argument("--before", help="path of an older tallyd, to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=100_000)
    options = parser.parse_args()
    empty = harness.ROOT / "build/release/bin/empty_server"
    binaries = {"empty": empty, "empty, 2 threads": empty, "redis": options.redis, "tallyd": options.ours}
    if options.before:
        binaries["before"] = options.before
    own = {"tallyd": ("--http-port", "0"), "before": ("--http-port", "0"), "empty, 2 threads": ("--second-thread",)}
    servers = {name: harness.Server(name, binary, *own.get(name, ())) for name, binary in binaries.items()}
    try:
        rows = []
        for clients in CLIENTS:
            figures = {name: [] for name in servers}
            for number in range(options.rounds):
                for name in sorted(servers, reverse=number % 2 == 1):
                    figures[name].append(measure(servers[name], clients, options.requests))
            cpu = {name: statistics.median(one[0] for one in all_) for name, all_ in figures.items()}
            rate = {name: statistics.median(one[1] for one in all_) for name, all_ in figures.items()}
            rows += [[f"{clients} clients, {name}", f"{cpu[name]:.2f}", f"{cpu[name] / cpu['empty']:.2f}",
                      f"{rate[name]:.0f}"] for name in servers]
        print(harness.table(["", "us of CPU", "of empty", "requests/s"], rows))
    finally:
        for server in servers.values():
            server.close()


if __name__ == "__main__":
    main()
