#!/usr/bin/env python3
"""What clients feel of a rewrite, or of an RDB that is written: the longest wait of a PING each
millisecond, and the memory that the server takes for it, while random keys, or elements of one
large value, are being written. One client (--clients 1) is about half of what a server can do: it
waits while the client works."""

import argparse
import subprocess
import threading
import time

import harness
import pause

MIB = 1 << 20
PER_COMMAND = 500


def name(number):
    """As redis-benchmark writes its random numbers."""
    return f"{number:012d}"


def element_commands(count, head, element):
    for begin in range(0, count, PER_COMMAND):
        words = [*head]
        for i in range(begin, min(begin + PER_COMMAND, count)):
            words += element(i)
        yield words


# What is filled with how many elements, and what redis-benchmark runs meanwhile.
SCENES = {
    "keys": (lambda n: (["SET", "key:" + name(i), i] for i in range(n)),
             ["SET", "key:__rand_int__", "1"]),
    "hash": (lambda n: element_commands(n, ["HSET", "v"], lambda i: ["f:" + name(i), i]),
             ["HSET", "v", "f:__rand_int__", "1"]),
    "set": (lambda n: element_commands(n, ["SADD", "v"], lambda i: ["m:" + name(i)]),
            ["SREM", "v", "m:__rand_int__"]),
    "zset": (lambda n: element_commands(n, ["ZADD", "v"], lambda i: [i, "m:" + name(i)]),
             ["ZADD", "v", "__rand_int__", "m:__rand_int__"]),
    "list": (lambda n: element_commands(n, ["RPUSH", "v"], lambda i: ["e:" + name(i)]),
             ["LPUSH", "v", "e:__rand_int__"]),
    "integers": (lambda n: element_commands(n, ["RPUSH", "v"], lambda i: [1795230400 + i]),
                 ["RPUSH", "v", "1795230400"]),
}


def is_saving(client):
    return "1" in (client.info("aof_rewrite_in_progress"), client.info("rdb_bgsave_in_progress"))


class Watch(threading.Thread):
    """Follows the rewrite from a connection of its own, and the server's resident memory."""

    def __init__(self, server):
        super().__init__()
        self.server = server
        self.client = harness.Client(server.port)
        self.peak = 0

    def run(self):
        while is_saving(self.client):
            self.peak = max(self.peak, self.server.rss())
            time.sleep(0.02)
        self.client.close()


LOGGED = ["--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"]


def measure(server_name, binary, scene, count, arguments):
    fill, writes = SCENES[scene]
    options = ["--appendonly", "no", "--save", ""] if arguments.rdb else LOGGED
    if arguments.rdb and server_name == "ours":
        options += ["--rdb-format", "redis"]
    with harness.running(server_name, binary, *options) as server:
        server.client.load(fill(count), batch=2000 if scene == "keys" else 20)
        while is_saving(server.client):
            time.sleep(0.1)
        loader = ["nice", "-n", "19", "redis-benchmark", "-p", str(server.port), "-q",
                  "-c", str(arguments.clients), "-P", "16", "-n", "1000000000", "-r", str(count), *writes]
        with subprocess.Popen(loader, stdout=subprocess.DEVNULL) as process:
            end = time.monotonic() + arguments.seconds
            without = pause.ping_while(server.client, lambda: time.monotonic() < end)
            before, started = server.rss(), time.monotonic()
            server.client.call("BGSAVE" if arguments.rdb else "BGREWRITEAOF")
            watch = Watch(server)
            watch.start()
            times = pause.ping_while(server.client, watch.is_alive)
            took = time.monotonic() - started
            process.terminate()
        grown = max(0, watch.peak - before)
        if server_name == "redis":
            grown += int(server.client.info("rdb_last_cow_size" if arguments.rdb else "aof_last_cow_size"))
        return [f"{scene} {server_name}", f"{before / MIB:.0f}", f"{grown * 100 / before:.1f}%",
                f"{took:.1f}", f"{max(without):.2f}", f"{pause.percentile(times, 0.99):.2f}",
                f"{max(times):.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--keys", type=int, default=10_000_000, help="keys to fill")
    parser.add_argument("--elements", type=int, default=5_000_000, help="elements of one value")
    parser.add_argument("--seconds", type=float, default=3, help="of load before the rewrite")
    parser.add_argument("--rdb", action="store_true", help="write an RDB in place of a rewrite of the log")
    parser.add_argument("--clients", type=int, default=8, help="that write")
    parser.add_argument("--only", choices=[*SCENES], action="append")
    parser.add_argument("--server", choices=["ours", "redis"], action="append")
    arguments = parser.parse_args()
    servers = [("ours", arguments.ours), ("redis", arguments.redis)]
    rows = [measure(*server, scene, arguments.keys if scene == "keys" else arguments.elements,
                    arguments)
            for scene in arguments.only or SCENES
            for server in servers if server[0] in (arguments.server or ["ours", "redis"])]
    print("ms of a PING each millisecond under load; target: at most 5, and 10% of memory")
    print(harness.table(["", "MiB", "grown", "seconds", "max without", "p99", "max"], rows))


if __name__ == "__main__":
    main()
