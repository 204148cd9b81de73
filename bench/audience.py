#!/usr/bin/env python3
"""ACTIVE at the size of a large audience: 10M ids known, 1M of them online, and how long an
ACTIVE.TOUCH takes while clients touch as fast as they can."""

import argparse
import subprocess
import time

import harness
from pause import idle_noise, percentile, ping_while

PREFIX = "3f9c2d7ab8e04c61a5d2"  # with redis-benchmark's 12 digits an id of 32 bytes
TARGET_MS = 2


def identity(number):
    return f"{PREFIX}{number:012d}"


def fill(client, known, online):
    """Those that are not online were last seen an hour ago."""
    hour_ago = int(time.time()) - 3600

    def touches(first, last, *command):
        for begin in range(first, last, 1000):
            yield [*command, *map(identity, range(begin, min(begin + 1000, last)))]

    client.load(touches(online, known, "ACTIVE.TOUCHAT", "page", hour_ago), batch=4)
    client.load(touches(0, online, "ACTIVE.TOUCH", "page"), batch=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--known", type=int, default=10_000_000, help="ids")
    parser.add_argument("--online", type=int, default=1_000_000, help="of them")
    parser.add_argument("--seconds", type=float, default=60, help="of load")
    arguments = parser.parse_args()
    with harness.running("ours", arguments.ours, "--appendonly", "no") as server:
        client = server.client
        empty = server.rss()
        noise = idle_noise(client)
        begin = time.monotonic()
        fill(client, arguments.known, arguments.online)
        print(f"{arguments.known} ids in {time.monotonic() - begin:.0f} s, "
              f"{(server.rss() - empty) / arguments.known:.1f} resident bytes each, "
              f"{client.call('ACTIVE.ONLINE', 'page')} online")
        # The load yields the CPU to the client that is timed, so that its own work is not measured.
        load = ["nice", "-n", "19", "redis-benchmark", "-p", str(server.port), "-q", "-c", "50",
                "-n", "1000000000", "-r", str(arguments.online), "ACTIVE.TOUCH", "page",
                PREFIX + "__rand_int__"]
        commands = int(client.info("total_commands_processed"))
        with subprocess.Popen(load, stdout=subprocess.DEVNULL) as process:
            end = time.monotonic() + arguments.seconds
            times = ping_while(client, lambda: time.monotonic() < end,
                               "ACTIVE.TOUCH", "page", identity(7))
            process.terminate()
        rate = (int(client.info("total_commands_processed")) - commands) / arguments.seconds
        online = client.call("ACTIVE.ONLINE", "page")
    print(f"ms of an ACTIVE.TOUCH each millisecond among {rate:.0f} a second; "
          f"target: p99.9 at most {TARGET_MS}")
    print(harness.table(["online", "idle max", "p50", "p99", "p99.9", "max"],
                        [[str(online), f"{noise:.2f}", *(f"{percentile(times, share):.2f}"
                                                         for share in (0.5, 0.99, 0.999, 1))]]))


if __name__ == "__main__":
    main()
