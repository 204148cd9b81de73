#!/usr/bin/env python3
"""Loading an RDB of mixed keys: tallyd against the redis-server that wrote it, in turns. Of tallyd also how long it
takes until its own base is written, and how much more memory it takes on the way than in the end."""

import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import harness

MIB = 1 << 20
SMALL_VALUES = 8  # elements of a list, set, hash or sorted set


def mixed(count):
    """Half of the keys are counters and tokens with deadlines, the rest small values of each type."""
    far = 4102444800000
    for n in range(count):
        kind = n % 10
        key = f"{n % 7}:user:{n:09d}"
        if kind < 3:
            yield ["SET", f"count:{key}", n % 100_000, "PXAT", far + n]
        elif kind < 6:
            yield ["SET", f"token:{key}", f"{n * 2654435761 % 2**64:016x}" * 3, "PXAT", far + n]
        elif kind == 6:
            yield ["RPUSH", f"list:{key}", *(1795230400000 + n * 100 + i for i in range(SMALL_VALUES))]
        elif kind == 7:
            yield ["SADD", f"set:{key}", *(f"member:{n + i}" for i in range(SMALL_VALUES))]
        elif kind == 8:
            yield ["HSET", f"hash:{key}", *(part for i in range(SMALL_VALUES) for part in (f"field:{i}", n + i))]
        else:
            yield ["ZADD", f"zset:{key}", *(part for i in range(SMALL_VALUES) for part in (n + i, f"member:{i}"))]


def write_snapshot(folder, count):
    port = harness.free_port()
    server = subprocess.Popen([harness.REDIS, "--port", str(port), "--dir", folder, "--save", ""], stdout=subprocess.DEVNULL)
    time.sleep(1)
    client = harness.Client(port, timeout=3600)
    client.load(mixed(count))
    client.call("SAVE")
    server.kill()
    server.wait()


def memory_of(pid, name):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024


def run(words, folder, said):
    """Starts a server in the folder; returns the seconds that it says it loaded for, the CPU seconds of that, the
    seconds until it served, and its memory: the most that there was, and in the end."""
    port = harness.free_port()
    log = pathlib.Path(folder) / "log"
    begin = time.monotonic()
    with open(log, "wb") as output:
        server = subprocess.Popen([*words, "--port", str(port), "--dir", folder], stdout=output, stderr=output)
    cpu = None
    while "eady to accept connections" not in log.read_text():
        if server.poll() is not None:
            raise RuntimeError(log.read_text())
        if cpu is None and re.search(said, log.read_text()):
            cpu = harness.cpu_of(server.pid)
        time.sleep(0.01)
    cpu = cpu or harness.cpu_of(server.pid)
    took = time.monotonic() - begin
    peak, end = memory_of(server.pid, "VmHWM"), memory_of(server.pid, "VmRSS")
    server.kill()
    server.wait()
    return float(re.search(said, log.read_text())[1]), cpu / 1e9, took, peak, end


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keys", type=int, default=10_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--tallyd", default=str(harness.OURS))
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="move-in-") as folder:
        write_snapshot(folder, options.keys)
        snapshot = pathlib.Path(folder) / "dump.rdb"
        print(f"{options.keys} keys, {snapshot.stat().st_size / MIB:.0f} MiB")
        for _ in range(options.rounds):
            loaded, cpu, took, peak, end = run([harness.REDIS, "--save", "", "--appendonly", "no"], folder,
                                               r"DB loaded from disk: ([\d.]+) seconds")
            print(f"redis-server  loaded in {loaded:6.2f} s (CPU {cpu:6.2f} s), served after {took:6.2f} s, "
                  f"{end / MIB:6.0f} MiB")
            with tempfile.TemporaryDirectory(prefix="move-in-") as own:
                shutil.copy(snapshot, own)
                ours, own_cpu, took, peak, end = run([options.tallyd, "--http-port", "0", "--appendonly", "no"],
                                                     own, r"of Redis in (\d+) ms")
                print(f"tallyd        loaded in {ours / 1000:6.2f} s (CPU {own_cpu:6.2f} s), served after {took:6.2f} s, "
                      f"{end / MIB:6.0f} MiB, at most {peak / MIB:.0f} MiB; {ours / 1000 / loaded:.2f} of the time, "
                      f"{own_cpu / cpu:.2f} of the CPU, {peak / end:.2f} of the memory")


if __name__ == "__main__":
    main()
