#!/usr/bin/env python3
"""How soon memory goes back to the system: resident MB before and after many keys are deleted, by
DEL, by expiry and by FLUSHALL; beside it the longest PING meanwhile, on the clock and in the server's
CPU time, and the CPU time of a second with nothing to do afterwards."""

import argparse
import pathlib
import threading
import time

import harness

MEGABYTE = 1 << 20


def counters(keys):
    return (["SET", f"key:{i:012d}", i] for i in range(keys))


def strings(keys):
    return (["SET", f"key:{i:012d}", "x" * 300] for i in range(keys // 2))


def hashes(keys):
    return (["HSET", f"key:{i:012d}", *[word for j in range(20) for word in (f"field:{j}", i)]]
            for i in range(keys // 20))


def one_set(keys):
    return (["SADD", "set", *[f"member:{i}" for i in range(begin, begin + 1000)]]
            for begin in range(0, keys, 1000))


def delete(client, loaded, batch=100):
    names = [command[1] for command in loaded]
    client.load((["DEL", *names[i:i + batch]] for i in range(0, len(names), batch)), batch=20)


def expire(client, loaded):
    at = int(time.time() * 1000) + 500
    client.load((["PEXPIREAT", command[1], at] for command in loaded), batch=1000)


def flush(client, _):
    client.call("FLUSHALL")


def resident(server):
    return f"{server.rss() / MEGABYTE:.0f}"


def serving_ns(server):
    """What the server's first thread, which serves, has had of a CPU."""
    pid = server.process.pid
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0])


def ping_until(done, server, times):
    """For a PING each millisecond: (seconds, seconds of the server's CPU). The second says nothing of
    what else the machine does."""
    client = harness.Client(server.port)
    while not done.is_set():
        begin, cpu = time.perf_counter(), serving_ns(server)
        client.call("PING")
        times.append((time.perf_counter() - begin, (serving_ns(server) - cpu) / 1e9))
        time.sleep(0.001)
    client.close()


def measure(name, binary, load, remove, keys):
    with harness.running(name, binary, "--appendonly", "no") as server:
        row = [name, load.__name__, remove.__name__, resident(server)]
        loaded = list(load(keys))
        server.client.load(loaded)
        row.append(resident(server))
        done, times = threading.Event(), []
        thread = threading.Thread(target=ping_until, args=(done, server, times))
        thread.start()
        remove(server.client, loaded if load is not one_set else loaded[:1])
        while int(server.client.call("DBSIZE")) > 0:
            time.sleep(0.01)
        begin = time.monotonic()
        for seconds in (2, 10):
            time.sleep(max(0.0, begin + seconds - time.monotonic()))
            row.append(resident(server))
        done.set()
        thread.join()
        row += [f"{max(column) * 1000:.1f}" for column in zip(*times)]
        before = server.cpu_ns()
        time.sleep(1)
        row.append(f"{(server.cpu_ns() - before) / 1e6:.1f}")
        server.client.call("MEMORY", "PURGE")
        row.append(resident(server))
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="ways that contain these letters")
    arguments = parser.parse_args()
    header = ["", "keys", "deleted by", "empty", "full", "2 s later", "10 s later", "ms of a PING",
              "its CPU ms", "idle CPU ms", "purged"]
    rows = []
    for load in (counters, strings, hashes, one_set):
        for remove in (delete, expire, flush):
            if arguments.only not in f"{load.__name__} {remove.__name__}":
                continue
            for server in (("ours", arguments.ours), ("redis", arguments.redis)):
                rows.append(measure(*server, load, remove, arguments.keys))
    print(harness.table(header, rows))


if __name__ == "__main__":
    main()
