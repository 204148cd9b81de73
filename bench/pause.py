#!/usr/bin/env python3
"""What clients feel: the longest pause while keys are inserted, and while one of a million elements
leaves; what they wait for beside others that take much; the lag of expiry; and the cost of an index
into a long list."""

import argparse
import multiprocessing
import statistics
import subprocess
import threading
import time

import crowds
import harness
import heavy_commands

MILLISECOND = 1_000_000  # in nanoseconds


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def ping_while(client, is_running, *command):
    """Times of a PING, or `command`, each millisecond while `is_running()`, in ms."""
    command = command or ("PING",)
    times, due = [], time.perf_counter_ns()
    while is_running():
        start = time.perf_counter_ns()
        client.call(*command)
        times.append((time.perf_counter_ns() - start) / MILLISECOND)
        due = max(due + MILLISECOND, time.perf_counter_ns())
        time.sleep(max(0, due - time.perf_counter_ns()) / 1e9)
    return times


def idle_noise(client, seconds=2):
    """The longest pause with nothing to do: what this machine's scheduler adds."""
    end = time.monotonic() + seconds
    return max(ping_while(client, lambda: time.monotonic() < end))


def longest_pause(name, binary, keys):
    """The loader yields the CPU to the client that pings, so that its own work is not measured."""
    with harness.running(name, binary, "--appendonly", "no") as server:
        noise = idle_noise(server.client)
        loader = ["nice", "-n", "19", "redis-benchmark", "-p", str(server.port), "-q", "-c", "4",
                  "-P", "64", "-n", str(keys), "-r", "1000000000", "SET", "key:__rand_int__", "1"]
        with subprocess.Popen(loader, stdout=subprocess.DEVNULL) as process:
            times = ping_while(server.client, lambda: process.poll() is None)
        if process.returncode != 0:
            raise SystemExit(f"{name}: redis-benchmark failed")
        return [name, str(server.client.call("DBSIZE")), f"{noise:.2f}",
                f"{percentile(times, 0.99):.2f}", f"{percentile(times, 0.9999):.2f}",
                f"{max(times):.2f}"]


def removal_pauses(name, binary, elements):
    """The longest PING in ms while a large value is deleted, or expires, and is freed."""
    heads = {"zset": lambda i: ["ZADD", "large", i, f"member:{i}"],
             "hash": lambda i: ["HSET", "large", f"field:{i}", i]}
    row = [name]
    with harness.running(name, binary, "--appendonly", "no") as server:
        for head in heads.values():
            for end in (["DEL", "large"], ["PEXPIRE", "large", 200]):
                server.client.load((head(i) for i in range(elements)), batch=1000)
                killer = harness.Client(server.port)
                killer.socket.sendall(harness.encode(end))
                until = time.monotonic() + 2
                row.append(f"{max(ping_while(server.client, lambda: time.monotonic() < until)):.2f}")
                killer.close()
    return row


def drain(port, requests):
    """Sends the requests and takes all that comes until a PING is answered. In a process of its own."""
    client = harness.Client(port)
    requests = [harness.encode(heavy_commands.with_payloads(request))
                for request in [*requests, ["PING"]]]
    sender = threading.Thread(target=lambda: [client.socket.sendall(one) for one in requests])
    sender.start()
    tail = b""
    while not tail.endswith(b"+PONG\r\n"):
        tail = tail[-16:] + client.socket.recv(1 << 20)[-16:]
    sender.join()


def listen(port):
    client = harness.Client(port)
    client.socket.sendall(harness.encode(["SUBSCRIBE", "channel"]))
    while client.socket.recv(1 << 20):
        pass


def huge_pauses(name, binary, rounds):
    """The longest PING in ms beside one client that reads or writes a huge value."""
    row = [name]
    with harness.running(name, binary, "--appendonly", "no", "--client-output-buffer-limit",
                         "pubsub 0 0 0") as server:
        subscriber = multiprocessing.Process(target=listen, args=(server.port,))
        subscriber.start()
        server.client.call("SET", "huge", heavy_commands.PAYLOADS["HUGE"])
        for prepare, *requests in heavy_commands.HUGE.values():
            longest = []
            for _ in range(rounds):
                for command in prepare:
                    server.client.call(*heavy_commands.with_payloads(command))
                other = multiprocessing.Process(target=drain, args=(server.port, requests))
                other.start()
                longest.append(max(ping_while(server.client, other.is_alive)))
                other.join()
                server.client.call("DEL", "other", "short")
            row.append(f"{statistics.median(longest):.1f}")
        subscriber.kill()
        subscriber.join()
    return row


def busy_user_pauses(name, binary, purchases):
    """The longest PING in ms while one client buys for a user who has bought so often. The nearest that Redis has is a
    sorted set of purchases by time, which is summed up by a script."""
    script = """local sum = 0
        for _, line in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1] - 2592000, '+inf')) do
          sum = sum + 1
        end
        redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
        return sum"""
    begin = int(time.time()) - purchases

    if name == "redis":
        def record(i):
            return ["ZADD", "purchases", begin + i, i]

        def buy(i):
            return ["EVAL", script, 1, "purchases", begin + i, i]
    else:
        def record(i):
            return ["QUOTA.RECORD", "book", "user", i, "ITEMS", 1, 0, 1, "AT", begin + i]

        def buy(i):
            return ["QUOTA.BUY", "book", "user", i, "ITEMS", 1, 0, 1]

    with harness.running(name, binary, "--appendonly", "no") as server:
        if name != "redis":
            server.client.call("QUOTA.SETLIMIT", "book", 1, 0, 2**31 - 1, "30d")
        server.client.load((record(i) for i in range(purchases)), batch=1000)
        buyer, bought, stop = harness.Client(server.port), 0, time.monotonic() + 3

        def go_on_buying():
            nonlocal bought
            while time.monotonic() < stop:
                buyer.call(*buy(purchases + bought))
                bought += 1

        thread = threading.Thread(target=go_on_buying)
        thread.start()
        times = ping_while(server.client, thread.is_alive)
        thread.join()
        buyer.close()
        return [name, f"{bought / 3:.0f}", f"{percentile(times, 0.5):.2f}", f"{max(times):.2f}"]


def wide_pauses(name, binary, rounds):
    """The longest PING in ms beside one client that sends a command with very many names. One that
    is refused counts too: it was read and judged."""
    row = [name]
    with harness.running(name, binary, "--appendonly", "no") as server:
        if name != "redis":
            server.client.call("QUOTA.SETLIMIT", "book", 1, 0, 10, "30d")
        server.client.load((["SET", i, i] for i in range(heavy_commands.NAMES)), batch=1000)
        for ours, redis in heavy_commands.WIDE.values():
            longest = []
            for _ in range(rounds):
                request = redis if name == "redis" else ours
                other = multiprocessing.Process(target=drain, args=(server.port, [request]))
                other.start()
                longest.append(max(ping_while(server.client, other.is_alive)))
                other.join()
            row.append(f"{statistics.median(longest):.1f}")
    return row


def crowd_waits(servers, name, prepare, load, seconds, rounds):
    """What a GET beside the load waits for, in ms, and what the load costs. The servers take turns,
    so that what else the machine does is the same for all."""
    times = {server: [] for server, _ in servers}
    cpu = dict.fromkeys(times, 0)
    for _ in range(rounds):
        for server_name, binary in servers:
            with harness.running(server_name, binary, "--appendonly", "no") as server:
                prepare(server.client)
                with crowds.loading(load, server.port):
                    time.sleep(0.5)
                    before, until = server.cpu_ns(), time.monotonic() + seconds
                    times[server_name] += ping_while(
                        server.client, lambda: time.monotonic() < until, "GET", "key:1")
                    cpu[server_name] += server.cpu_ns() - before
    return [[f"{name}: {server}", str(len(waits)), f"{percentile(waits, 0.5):.2f}",
             f"{percentile(waits, 0.99):.2f}", f"{max(waits):.2f}",
             f"{cpu[server] / seconds / rounds / 1e7:.0f} %"] for server, waits in times.items()]


def expiry_lag(name, binary, due, others, patience):
    """Seconds between a key's deadline and the event of its removal, of the keys that are removed
    within `patience` seconds: redis-server may take an hour for the last."""
    with harness.running(name, binary, "--appendonly", "no") as server:
        client = server.client
        client.call("CONFIG", "SET", "notify-keyspace-events", "Ex")
        client.load(["SETEX", f"later:{i}", 86400 + i % 86400, 1] for i in range(others))
        first = int(time.time() * 1000) + 2000
        deadlines = {f"due:{i}".encode(): first + i for i in range(due)}
        client.load(["SET", key, 1, "PXAT", at] for key, at in deadlines.items())
        listener = harness.Client(server.port, timeout=patience)
        listener.call("SUBSCRIBE", "__keyevent@0__:expired")
        lags, end = [], time.monotonic() + patience
        try:
            while len(lags) < due and time.monotonic() < end:
                key = listener.read()[2]
                lags.append(time.time() - deadlines[key] / 1000)
        except TimeoutError:
            pass
        listener.close()
        removed = f"{len(lags)} of {due}"
        if not lags:
            return [name, removed, "-", "-", "-"]
        return [name, removed, f"{statistics.median(lags):.3f}",
                f"{percentile(lags, 0.99):.3f}", f"{max(lags):.3f}"]


def index_cost(name, binary, length, count=50_000):
    """Server CPU nanoseconds of LINDEX at the head, the middle and the tail of one list."""
    with harness.running(name, binary, "--appendonly", "no") as server:
        entries = range(1795230400, 1795230400 + length)
        server.client.load((["RPUSH", "list", *entries[i:i + 1000]]
                            for i in range(0, length, 1000)), batch=10)
        costs = []
        for index in (0, length // 2, length - 1):
            before = server.cpu_ns()
            server.client.load((["LINDEX", "list", index] for _ in range(count)), batch=1000)
            costs.append(f"{(server.cpu_ns() - before) / count:.0f}")
        return [name, *costs]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--keys", type=int, default=10_000_000, help="keys to insert")
    parser.add_argument("--due", type=int, default=1000, help="keys that expire")
    parser.add_argument("--others", type=int, default=1_000_000, help="keys that do not")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for them")
    parser.add_argument("--list", type=int, default=1_000_000, help="entries of the long list")
    parser.add_argument("--large", type=int, default=1_000_000, help="elements of the large value")
    parser.add_argument("--purchases", type=int, default=100_000, help="of the busy user")
    parser.add_argument("--before", help="path of an older tallyd, for the crowds")
    parser.add_argument("--seconds", type=float, default=3, help="of each round beside a crowd")
    parser.add_argument("--rounds", type=int, default=3, help="beside each crowd")
    parser.add_argument("--only", choices=["pause", "removal", "huge", "busy", "wide", "crowds",
                                           "expiry", "index"])
    parser.add_argument("--crowd", default="", help="crowds whose names contain this")
    arguments = parser.parse_args()
    servers = [("ours", arguments.ours), ("redis", arguments.redis)]
    parts = [
        ("pause", "ms of a PING each millisecond while keys are inserted; target: at most 5",
         ["", "keys", "idle max", "p99", "p99.99", "max"],
         lambda *server: longest_pause(*server, arguments.keys)),
        ("removal", "longest PING in ms while a large value leaves; target: at most 5",
         ["", "zset DEL", "zset expiry", "hash DEL", "hash expiry"],
         lambda *server: removal_pauses(*server, arguments.large)),
        ("huge", "median of the longest PING in ms beside one value of 150 MiB; target: reads under 5",
         ["", *heavy_commands.HUGE], lambda *server: huge_pauses(*server, arguments.rounds)),
        ("busy", "ms of a PING each millisecond while one client buys for a user of many purchases",
         ["", "purchases a second", "p50", "max"],
         lambda *server: busy_user_pauses(*server, arguments.purchases)),
        ("wide", "median of the longest PING in ms beside one command with very many names",
         ["", *heavy_commands.WIDE], lambda *server: wide_pauses(*server, arguments.rounds)),
        ("expiry", "seconds from deadline to removal; target: p99 under 1",
         ["", "removed", "median", "p99", "max"],
         lambda *server: expiry_lag(*server, arguments.due, arguments.others, arguments.patience)),
        ("index", "server CPU ns of LINDEX in a long list; target: the middle within 2x of the ends",
         ["", "head", "middle", "tail"], lambda *server: index_cost(*server, arguments.list)),
    ]
    for part, title, header, measure in parts:
        if arguments.only in (None, part):
            print(title)
            print(harness.table(header, [measure(*server) for server in servers]), end="\n\n")
    if arguments.only in (None, "crowds"):
        if arguments.before:
            servers.append(("before", arguments.before))
        print("ms of a GET each millisecond beside a crowd; target: p99 under 5")
        rows = [row for crowd in crowds.LOADS
                if arguments.crowd in crowd[0]
                for row in crowd_waits(servers, *crowd, arguments.seconds, arguments.rounds)]
        print(harness.table(["", "GETs", "p50", "p99", "max", "CPU"], rows))


if __name__ == "__main__":
    main()
