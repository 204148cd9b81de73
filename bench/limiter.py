#!/usr/bin/env python3
"""The marketplace's limiter: 50 customers at a time, on redis-server in the way it was first written
(each decision is read, decoded, computed and written by the client) and with our quota commands.

At a hundredth of the full size: 60,000 limits, 100,000 users, 1,000,000 purchases. The clients are
written in Go, with Debian's redigo and msgpack, and share the machine with the server.
"""

import argparse
import pathlib
import subprocess

import harness
from lib.golang import build_service

HERE = pathlib.Path(__file__).resolve().parent
USERS = 100_000
PURCHASES = 1_000_000
TARGETS = {"LEFT of 3 SKUs": 3, "BUY of 2 or 3 SKUs": 10}


def measure(program, way, name, binary, scale, seconds):
    with harness.running(name, binary) as server:
        words = [program, str(server.port), way, str(int(USERS * scale)), str(int(PURCHASES * scale)), str(seconds)]
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
        return [float(word) for word in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--scale", type=float, default=1, help="times users and purchases")
    parser.add_argument("--seconds", type=int, default=10, help="of each load")
    arguments = parser.parse_args()
    program = build_service("limiter_bench", HERE / "limiter/main.go")
    ours = measure(program, "quota", "ours", arguments.ours, arguments.scale, arguments.seconds)
    redis = measure(program, "original", "redis", arguments.redis, arguments.scale, arguments.seconds)
    rows = [[name, f"{mine:.0f}", f"{theirs:.0f}", f"{mine / theirs:.1f}x", f"{target}x",
             "" if mine >= target * theirs else "missed"]
            for (name, target), mine, theirs in zip(TARGETS.items(), ours, redis)]
    print("calls a second of 50 customers")
    print(harness.table(["", "ours", "the original on redis", "times", "target", ""], rows))


if __name__ == "__main__":
    main()
