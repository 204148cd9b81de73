#!/usr/bin/env python3
"""A primary and its replica, of tallyd and of redis-server: the primary's CPU with and without the replica, how long
after the primary the replica has a write while many are made, and a full sync: its time, the longest PING of either
side meanwhile, and how much the primary's memory grows. The PING of an idle server beside them says what the
machine adds."""

import argparse
import contextlib
import multiprocessing
import subprocess
import threading
import time

import harness
import move_in
import pause

COMMANDS = {"SET": ["SET", "key:__rand_int__", "value"], "INCR": ["INCR", "count:__rand_int__"],
            "LPUSH": ["LPUSH", "list:__rand_int__", "element"]}
MIB = 1 << 20


def wait_for_link(replica, seconds=600):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(harness.ReplyError, KeyError):
            if replica.info("master_link_status") == "up" and replica.info("loading") == "0":
                return
        time.sleep(0.01)
    raise SystemExit("the replica did not get there")


def follow(replica, primary):
    replica.call("REPLICAOF", "127.0.0.1", primary.port)
    wait_for_link(replica)


@contextlib.contextmanager
def pair(name, binary):
    """A primary, and a server that follows nobody yet."""
    # A server that has a replica has a log. Redis waits five seconds for more replicas, unless it is told not to.
    log = ["--appendonly", "yes", "--repl-diskless-sync-delay", "0"]
    with harness.running(name, binary, *log) as primary, harness.running(name, binary, *log) as replica:
        yield primary, replica


def cpu_of(primary, command, count):
    """Nanoseconds of the primary's CPU for a command, in pipelines of 16."""
    begin = primary.cpu_ns()
    subprocess.run(["redis-benchmark", "-p", str(primary.port), "-q", "-c", "50", "-P", "16", "-n", str(count),
                    "-r", "100000", *command], stdout=subprocess.DEVNULL, check=True)
    return (primary.cpu_ns() - begin) / count


def cpu(name, binary, count):
    row = [name]
    with pair(name, binary) as (primary, replica):
        for command in COMMANDS.values():
            cpu_of(primary, command, count // 10)
            alone = cpu_of(primary, command, count)
            follow(replica.client, primary)
            beside = cpu_of(primary, command, count)
            replica.client.call("REPLICAOF", "NO", "ONE")
            row.append(f"{alone:.0f} ns, {beside / alone:.2f}")
    return row


def write_at(port, rate, seconds):
    """A hundred writes at a time, at this rate. In a process of its own."""
    client = harness.Client(port)
    request = b"".join(harness.encode(["INCR", f"count:{i}"]) for i in range(100))
    due, end = time.monotonic(), time.monotonic() + seconds
    while time.monotonic() < end:
        client.socket.sendall(request)
        for _ in range(100):
            client.read()
        due += 100 / rate
        time.sleep(max(0, due - time.monotonic()))


def lag(name, binary, rate, seconds):
    """Milliseconds from a write's reply until the replica shows it."""
    with pair(name, binary) as (primary, replica):
        follow(replica.client, primary)
        begin = primary.client.info("total_commands_processed")
        writer = multiprocessing.Process(target=write_at, args=(primary.port, rate, seconds))
        writer.start()
        lags, number = [], 0
        while writer.is_alive():
            number += 1
            primary.client.call("SET", "marker", number)
            written = time.perf_counter()
            while replica.client.call("GET", "marker") != str(number).encode():
                pass
            lags.append((time.perf_counter() - written) * 1000)
            time.sleep(0.002)
        writer.join()
        done = int(primary.client.info("total_commands_processed")) - int(begin)
        return [name, f"{done / seconds:,.0f}", *(f"{pause.percentile(lags, share):.2f}" for share in (0.5, 0.99, 1))]


def full_sync(name, binary, keys):
    with pair(name, binary) as (primary, replica), harness.running(name, binary) as idle:
        primary.client.load(move_in.mixed(keys))
        before, most, running = primary.rss(), [0], threading.Event()
        running.set()

        def watch():
            while running.is_set():
                most[0] = max(most[0], primary.rss())
                time.sleep(0.01)

        with multiprocessing.Pool(3) as pool:
            pings = [pool.apply_async(longest_ping, (server.port, replica.port)) for server in (primary, replica, idle)]
            watcher = threading.Thread(target=watch)
            watcher.start()
            time.sleep(1)
            begin, spent = time.monotonic(), primary.cpu_ns()
            follow(replica.client, primary)
            while replica.client.call("DBSIZE") != keys:
                time.sleep(0.01)
            took = time.monotonic() - begin
            spent = primary.cpu_ns() - spent
            running.clear()
            watcher.join()
            longest = [ping.get() for ping in pings]
        return [name, f"{took:.1f}", f"{spent / 1e9:.1f}", *(f"{one:.1f}" for one in longest),
                f"{before / MIB:.0f}", f"{most[0] / before:.2f}"]


def longest_ping(port, replica_port):
    """The longest PING in ms until the replica's link is up; some writes may still come then. An error, such as LOADING,
    is an answer."""
    client, replica = harness.Client(port), harness.Client(replica_port)
    longest, checked = 0.0, time.monotonic()
    while True:
        begin = time.perf_counter()
        with contextlib.suppress(harness.ReplyError):
            client.call("PING")
        longest = max(longest, time.perf_counter() - begin)
        time.sleep(0.001)
        if time.monotonic() - checked < 0.1:
            continue
        checked = time.monotonic()
        with contextlib.suppress(harness.ReplyError, KeyError):
            if replica.info("master_link_status") == "up":
                return longest * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_server_arguments(parser)
    parser.add_argument("--commands", type=int, default=2_000_000)
    parser.add_argument("--rate", type=int, default=100_000, help="writes a second")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--keys", type=int, default=1_000_000)
    arguments = parser.parse_args()
    servers = [("tallyd", arguments.ours), ("redis", arguments.redis)]
    print("CPU of the primary for a command without a replica, and with one as a share of it")
    print(harness.table(["server", *COMMANDS], [cpu(*server, arguments.commands) for server in servers]))
    print("\nms from the reply until the replica has it")
    print(harness.table(["server", "writes a second", "p50", "p99", "longest"],
                        [lag(*server, arguments.rate, arguments.seconds) for server in servers]))
    print(f"\na full sync of {arguments.keys:,} keys")
    print(harness.table(["server", "seconds", "CPU s of the primary", "longest PING of the primary, ms", "of the replica",
                         "of an idle server beside",
                         "memory MiB", "at most"], [full_sync(*server, arguments.keys) for server in servers]))


if __name__ == "__main__":
    main()
