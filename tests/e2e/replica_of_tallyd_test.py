#!/usr/bin/env python3
"""A tallyd as the replica of a tallyd: full and partial syncs, cut links, restarts of both, chains, promotion, windows
that are right at its own now, and nothing that it writes or removes by itself."""

import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.cutting_proxy import CuttingProxy  # noqa: E402
from lib.data_of import differences  # noqa: E402
from lib.native_commands import NativeCommands  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402
from lib.write_model import WriteModel  # noqa: E402

SEED = random.SystemRandom().randrange(2**32)
WRITES = 1500
CUTS = 8


def tally(**directives):
    return Server(appendonly="yes", enable_debug_command="yes", **directives)


def replication(server):
    with server.client() as client:
        rows = client.call("INFO", "replication").decode().splitlines()
    return dict(row.split(":", 1) for row in rows if ":" in row)


def caught_up(primary, *replicas):
    """Nobody writes meanwhile."""
    offset = replication(primary)["master_repl_offset"]
    found = [replication(one) for one in replicas]
    return all(one.get("master_link_status") == "up" and one["slave_repl_offset"] == offset for one in found)


def follow(replica, primary_port):
    with replica.client() as client:
        client.call("REPLICAOF", "127.0.0.1", primary_port)


class Writes:
    """Random commands of all families, in several databases, in transactions and scripts."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.model = WriteModel("m:", self.dice)
        self.natives = NativeCommands(seed, int(time.time() * 1000), holds=False)

    def run(self, client, count):
        for _ in range(count):
            for command in self._next():
                try:
                    client.call(*command)
                except ReplyError:
                    pass  # what is refused is no write

    def _next(self):
        choice = self.dice.random()
        if choice < 0.03:
            yield ["SELECT", self.dice.choice([0, 0, 0, 3, 9])]
        elif choice < 0.06:
            yield ["MULTI"]
            for _ in range(self.dice.randrange(1, 5)):
                yield self.model.random_command()
            yield ["EXEC"]
        elif choice < 0.09:
            yield ["EVAL", "for i = 1, ARGV[1] do redis.call('INCR', KEYS[1]) end", 1, f"script{self.dice.randrange(3)}",
                   self.dice.randrange(1, 5)]
        elif choice < 0.12:
            yield ["SET", f"short{self.dice.randrange(50)}", "x", "PX", self.dice.randrange(1, 300)]
        elif choice < 0.5:
            yield self.natives.call()
        else:
            yield self.model.random_command()


def same(report, what, *servers):
    report.check(what, not (found := differences(*servers)), found)


def check_pair(report, writes):
    with tally() as primary, tally() as replica, primary.client() as source, replica.client() as client:
        writes.run(source, WRITES)
        client.call("SET", "of the old data", 1)
        follow(replica, primary.port)
        report.check("a full sync", wait_for(lambda: caught_up(primary, replica)), replica.log())
        same(report, "the data is the same", primary, replica)
        writes.run(source, WRITES)
        report.check("the stream", wait_for(lambda: caught_up(primary, replica)), replication(replica))
        same(report, "it is the same after that", primary, replica)
        report.equal("they name the same history", replication(replica)["master_replid"], replication(primary)["master_replid"])
        report.equal("WAIT", source.pipeline([["SET", "k", 1], ["WAIT", 1, 0]]), ["OK", 1])
        check_clock(report, source, client, primary, replica)
        replica.kill()
        writes.run(source, 200)
        replica.directives["replicaof"] = f"127.0.0.1 {primary.port}"
        replica.start()
        report.check("a restart", wait_for(lambda: caught_up(primary, replica)), replica.log())
        report.equal("it goes on by a partial sync", [replication(replica)[f"replica_{kind}_syncs"] for kind in ("full", "partial")],
                     ["0", "1"])
        same(report, "with the same data", primary, replica)
        primary.kill()
        primary.start()
        with primary.client() as again:
            writes.run(again, 200)
        report.check("a restart of the primary", wait_for(lambda: caught_up(primary, replica)), replica.log())
        same(report, "and the data is the same", primary, replica)


def check_clock(report, source, client, primary, replica):
    """What goes by time is right at the replica's own now, and it removes nothing by itself."""
    source.call("SET", "dated", 1, "PX", 3_600_000)
    source.call("HITS.ADD", "window", "10m", "COUNT", 5)
    source.call("EXPIRE", "queue", 1)
    wait_for(lambda: caught_up(primary, replica))
    keys = client.call("DBSIZE")
    now = int(time.time() * 1000)
    client.call("DEBUG", "CLOCK", "SET", now + 30 * 60_000)
    report.equal("a window has passed for it", client.call("HITS.COUNT", "window"), 0)
    report.equal("what lives longer is there", client.call("GET", "dated"), b"1")
    client.call("DEBUG", "CLOCK", "SET", now + 2 * 3_600_000)
    report.equal("what has expired is hidden", (client.call("GET", "dated"), client.call("EXISTS", "dated")), (None, 0))
    time.sleep(0.5)
    report.equal("and not removed", client.call("DBSIZE"), keys)
    client.call("DEBUG", "CLOCK", "REAL")
    report.equal("so that a clock that was wrong costs nothing", client.call("GET", "dated"), b"1")
    report.check("it has written nothing", caught_up(primary, replica))


def check_cuts(report):
    """The link is cut at any byte, and either side killed, while clients write."""
    with tally() as primary, CuttingProxy(primary.port) as proxy, \
            tally(replicaof=f"127.0.0.1 {proxy.port}", repl_timeout="5") as replica:
        ended = threading.Event()
        dice = random.Random(SEED)
        writer = threading.Thread(target=write_until, args=[primary, ended])
        writer.start()
        moments = ["cut"] * scaled(CUTS) + ["kill"] * scaled(2) + ["kill primary"] * scaled(1)
        dice.shuffle(moments)
        for moment in moments:
            wait_for(lambda: replication(replica).get("master_link_status") == "up")
            if moment == "cut":
                proxy.cut_after(dice.choice([1, 10, 100, 10_000]) + dice.randrange(100))
                wait_for(lambda: not proxy.waits_to_cut)
                continue
            server = replica if moment == "kill" else primary
            server.kill()
            server.start()
        ended.set()
        writer.join()
        report.check("after cuts and ends it catches up", wait_for(lambda: caught_up(primary, replica)), replica.log()[-3000:])
        same(report, f"{len(moments)} times, seed {SEED}", primary, replica)
        found = replication(replica)
        report.note(f"        since its last start {found['replica_full_syncs']} full, {found['replica_partial_syncs']} partial")


def write_until(server, ended):
    writes = Writes(SEED)
    while not ended.is_set():
        try:
            with server.client() as client:
                while not ended.is_set():
                    writes.run(client, 20)
        except (OSError, EOFError, ValueError, ReplyError):
            time.sleep(0.05)


def check_chain(report, writes):
    """Three in a row and a brother; the middle one is promoted, and the others go on with it without a full sync."""
    with tally() as first, tally() as middle, tally() as last, tally() as brother, first.client() as source, \
            middle.client() as client:
        writes.run(source, 300)
        follow(middle, first.port)
        wait_for(lambda: caught_up(first, middle))
        follow(last, middle.port)
        follow(brother, first.port)
        writes.run(source, 300)
        report.check("a chain", wait_for(lambda: caught_up(first, middle, last, brother)), last.log())
        same(report, "all have the same data", first, middle, last, brother)
        full = [replication(one)["replica_full_syncs"] for one in (last, brother)]
        client.call("REPLICAOF", "NO", "ONE")
        first.kill()
        writes.run(client, 300)
        follow(brother, middle.port)
        report.check("the promoted one is followed", wait_for(lambda: caught_up(middle, last, brother)),
                     (replication(last), replication(brother)))
        same(report, "with the same data", middle, last, brother)
        report.equal("and without a full sync", [replication(one)["replica_full_syncs"] for one in (last, brother)], full)
        first.directives["replicaof"] = f"127.0.0.1 {middle.port}"
        first.start()
        report.check("the old primary comes back as a replica", wait_for(lambda: caught_up(middle, first)), first.log())
        same(report, "with the same data too", middle, first)


def check_failover(report, writes):
    with tally() as primary, tally() as replica, primary.client() as source, replica.client() as client:
        writes.run(source, 200)
        follow(replica, primary.port)
        wait_for(lambda: caught_up(primary, replica))
        source.call("FAILOVER", "TIMEOUT", 10_000)
        report.check("FAILOVER: they have changed places",
                     wait_for(lambda: client.call("ROLE")[0] == b"master" and source.call("ROLE")[:4] ==
                              [b"slave", b"127.0.0.1", replica.port, b"connected"]), (source.call("ROLE"), replica.log()))
        writes.run(client, 200)
        report.check("FAILOVER: the old one follows", wait_for(lambda: caught_up(replica, primary)))
        same(report, "FAILOVER: the data is the same", replica, primary)


def main():
    report = Report()
    report.note(f"seed {SEED}")
    writes = Writes(SEED)
    check_pair(report, writes)
    check_cuts(report)
    check_chain(report, Writes(SEED + 1))
    check_failover(report, Writes(SEED + 2))
    report.finish()


main()
