#!/usr/bin/env python3
"""Replicas and logs of a redis-server with tally.so get decisions, not commands to be judged again: after any
stream, with links that break, primary and replica hold the same. A replica answers reads by its own clock and
writes nothing. Redis Sentinel makes a replica the primary, which goes on counting."""

import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.module_server import Caller, module_server  # noqa: E402
from lib.native_commands import NativeCommands  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import die_with_parent, free_port  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

DAY_MS = 86_400_000
STEPS = [0, 3, 200, 1000, 60_000, 3_600_000]
QUORUM = 1


def in_sync(primary, replica):
    """The replica has all that the primary has sent."""
    offset = primary.info("replication", "master_repl_offset")
    return (replica.info("replication", "master_link_status") == "up"
            and replica.info("replication", "slave_repl_offset") == offset)


def breaking_link(kind, primary, replica, dice):
    """A link that breaks is continued, or the whole data is sent again."""
    if kind == "partial":
        primary.call("CLIENT", "KILL", "TYPE", "replica")
    elif kind == "full":
        port = replica.info("replication", "master_port")
        replica.call("REPLICAOF", "NO", "ONE")
        replica.call("POLICY.SET", f"stray{dice.randrange(100)}", "DENY")
        replica.call("REPLICAOF", "127.0.0.1", port)


def check_stream(report, name, **directives):
    """Random calls, some of them in transactions; the clock of the primary runs ahead in jumps."""
    dice = random.Random(name)
    commands = scaled(20_000)
    with module_server(repl_diskless_sync_delay=0, **directives) as server, \
            module_server(repl_diskless_sync_delay=0, appendonly="yes", **directives) as copy:
        primary, replica = Caller(server.port), Caller(copy.port)
        replica.call("REPLICAOF", "127.0.0.1", server.port)
        wait_for(lambda: in_sync(primary, replica))
        stream = NativeCommands(name, int(time.time() * 1000) + DAY_MS, holds=False)
        for round_number in range(10):
            for _ in range(commands // 1000):
                stream.now += dice.choice(STEPS)
                primary.call("TALLY.CLOCK", "SET", stream.now)
                calls = [stream.call() for _ in range(100)]
                primary.pipeline([["MULTI"], *calls, ["EXEC"]] if dice.random() < 0.2 else calls)
            breaking_link(dice.choice(["none", "partial", "full"]), primary, replica, dice)
        synced = wait_for(lambda: in_sync(primary, replica))
        replica.call("TALLY.CLOCK", "SET", stream.now)
        digests = [one.call("DEBUG", "DIGEST") for one in (primary, replica)]
        report.check(f"{name}: primary and replica hold the same", synced and digests[0] == digests[1] != "0" * 40,
                     f"{digests} {synced}\n{differing_keys(primary, replica)}\n{copy.log()[-1500:]}")
        policies = [one.call("POLICY.LIST") for one in (primary, replica)]
        report.equal(f"{name}: policies", policies[1], policies[0])
        check_replica_reads(report, name, primary, replica)
        check_replica_log(report, name, copy, digests[1], stream.now)


def differing_keys(primary, replica):
    keys = primary.call("KEYS", "*")
    return [(key, *[one.call("TYPE", key) for one in (primary, replica)]) for key in keys
            if primary.call("DEBUG", "DIGEST-VALUE", key) != replica.call("DEBUG", "DIGEST-VALUE", key)
            or primary.call("PEXPIRETIME", key) != replica.call("PEXPIRETIME", key)][:10]


def check_replica_reads(report, name, primary, replica):
    primary.call("LIMIT.TAKE", "read", "FIXED", 5, "1m")
    primary.call("WAIT", 1, 10_000)
    peek = ["LIMIT.PEEK", "read", "FIXED", 5, "1m"]
    report.equal(f"{name}: the replica sees the hit", replica.call(*peek)[2], 3)
    report.check(f"{name}: and takes none itself", replica.call("LIMIT.TAKE", *peek[1:]).startswith("-READONLY"))
    replica.call("TALLY.CLOCK", "ADVANCE", "2m")
    report.equal(f"{name}: by its own clock the window is over", replica.call(*peek)[2], 4)
    digests = [one.call("DEBUG", "DIGEST-VALUE", "read") for one in (primary, replica)]
    report.equal(f"{name}: reading changed nothing", digests[1], digests[0])
    primary.call("LIMIT.RESET", "read")
    primary.call("WAIT", 1, 10_000)


def check_replica_log(report, name, copy, digest, now):
    # After it has taken a primary's data over, a replica begins its log anew.
    replica = Caller(copy.port)
    wait_for(lambda: {replica.info("persistence", f"aof_rewrite_{state}")
                      for state in ("in_progress", "scheduled")} == {"0"})
    # Under everysec, redis-server keeps what follows in memory for up to two seconds while a sync runs. Under always it
    # has written everything before it answers.
    replica.call("CONFIG", "SET", "appendfsync", "always")
    copy.kill()
    copy.directives["replicaof"] = "no one"
    copy.start()
    alone = Caller(copy.port)
    alone.call("TALLY.CLOCK", "SET", now)
    report.equal(f"{name}: the replica's own log", alone.call("DEBUG", "DIGEST"), digest)


class Sentinel:
    """One redis-sentinel that watches a primary."""

    def __init__(self, primary_port):
        self.port = free_port()
        self.directory = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.directory.name, "sentinel.conf")
        path.write_text(f"port {self.port}\nbind 127.0.0.1\nsentinel monitor it 127.0.0.1 {primary_port} {QUORUM}\n"
                        "sentinel down-after-milliseconds it 1000\nsentinel failover-timeout it 10000\n")
        self.process = subprocess.Popen(["redis-server", str(path), "--sentinel"], stdout=subprocess.DEVNULL,
                                        preexec_fn=die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()

    def primary_port(self):
        words = self.ask("get-master-addr-by-name")
        return int(words[1]) if len(words) == 2 else None

    def knows_replica(self, port):
        return f"127.0.0.1:{port}" in self.ask("replicas")

    def ask(self, question):
        return subprocess.run(["redis-cli", "-p", str(self.port), "SENTINEL", question, "it"],
                              capture_output=True, text=True, check=False).stdout.split()


def is_primary(port):
    try:
        return Caller(port).info("replication", "role") == "master"
    except ConnectionError:  # a server that changes its role closes its connections
        return False


def check_sentinel(report):
    with module_server() as one, module_server() as two, Sentinel(one.port) as sentinel:
        primary, replica = Caller(one.port), Caller(two.port)
        replica.call("REPLICAOF", "127.0.0.1", one.port)
        wait_for(lambda: in_sync(primary, replica))
        primary.call("POLICY.SET", "five", "FIXED", 5, "1h")
        allowed = sum(primary.call("LIMIT.TAKE", "k", "POLICY", "five")[0] for _ in range(3))
        primary.call("WAIT", 1, 10_000)
        wait_for(lambda: sentinel.primary_port() == one.port)
        # Sentinel asks the primary for its replicas every ten seconds.
        report.check("Sentinel knows the replica", wait_for(lambda: sentinel.knows_replica(two.port)))
        one.kill()
        report.check("Sentinel makes the replica the primary", wait_for(lambda: is_primary(two.port)))
        replica = Caller(two.port)
        allowed += sum(replica.call("LIMIT.TAKE", "k", "POLICY", "five")[0] for _ in range(10))
        report.equal("5 of 13 were allowed before and after", allowed, 5)


def main():
    report = Report()
    check_stream(report, "RDB over disk", repl_diskless_sync="no")
    check_stream(report, "RDB over the socket", repl_diskless_sync="yes", repl_diskless_load="swapdb")
    check_sentinel(report)
    report.finish()


if __name__ == "__main__":
    main()
