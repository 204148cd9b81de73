#!/usr/bin/env python3
"""Pairs and chains of tallyd under a load of every family: links that are cut at any byte, servers that are killed and
restarted, rewrites, promotions and failovers. At the same offset a replica always holds what its primary holds."""

import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.cutting_proxy import CuttingProxy  # noqa: E402
from lib.data_of import differences  # noqa: E402
from lib.replicated_writes import Load  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, encode  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

report = Report()
SEED = int(os.environ.get("TALLY_SEED", random.SystemRandom().randrange(1_000_000)))
report.note(f"TALLY_SEED={SEED}")
UNTOUCHED = 5  # a database that the load neither writes to nor empties


def server(**directives):
    return Server(**({"appendonly": "yes", "appendfsync": "always", "enable_debug_command": "yes",
                      "repl_timeout": 20} | directives))


def info(one, section="replication"):
    with one.client() as client:
        lines = client.call("INFO", section).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def call(one, *words):
    with one.client() as client:
        return client.call(*words)


def follow(replica, port):
    call(replica, "REPLICAOF", "127.0.0.1", port)


def has_all(primary, replica):
    """The replica is linked and has the whole stream."""
    try:
        state = info(replica)
        return (state.get("master_link_status") == "up" and
                state["master_repl_offset"] == info(primary)["master_repl_offset"])
    except (OSError, ReplyError, KeyError):
        return False


def same(what, primary, *replicas):
    """Once nothing is written, and nothing expires, the replicas hold what the primary holds."""
    call(primary, "DEBUG", "SET-ACTIVE-EXPIRE", "0")
    for replica in replicas:
        if not wait_for(lambda replica=replica: has_all(primary, replica), 90):
            report.check(what, False, f"{info(primary)}\n{info(replica)}\n{primary.log()[-1500:]}\n{replica.log()[-2500:]}")
            return False
    unlike = differences(primary, *replicas)
    call(primary, "DEBUG", "SET-ACTIVE-EXPIRE", "1")
    return report.check(what, unlike == "", unlike)


def disturb(dice, primary, replica, proxy):
    """Returns what was done."""
    what = dice.choice(["cut", "cut", "cut", "kill replica", "kill primary", "stop replica", "stop primary", "rewrite primary",
                        "rewrite replica", "both"])
    if what == "cut":
        proxy.cut()
    elif what.startswith("rewrite"):
        try:
            call(primary if what.endswith("primary") else replica, "BGREWRITEAOF")
        except ReplyError:
            pass  # another one is under way
    else:
        for one in [primary, replica]:
            if what in ("both", "kill primary" if one is primary else "kill replica"):
                one.kill()
                one.start()
            elif what == ("stop primary" if one is primary else "stop replica"):
                one.stop()
                one.start()
    return what


def pair(rounds):
    dice = random.Random(SEED)
    with server(repl_backlog_size="64kb") as primary, \
            CuttingProxy(primary.port, SEED, 150_000) as proxy, \
            server(replicaof=f"127.0.0.1 {proxy.port}") as replica, \
            Load(lambda: primary, SEED) as load:
        for turn in range(rounds):
            done = []
            for _ in range(dice.randrange(1, 5)):
                time.sleep(dice.random() * 0.4)
                done.append(disturb(dice, primary, replica, proxy))
            load.pause()
            proxy.most = None
            if not same(f"turn {turn}: after {', '.join(done)}", primary, replica):
                break
            proxy.most = 150_000
            load.resume()
        state = info(primary, "stats")
        report.note(f"{load.done} writes, {proxy.cuts} cuts within the bytes, in the primary's last life {state['sync_full']} "
                    f"full and {state['sync_partial_ok']} partial syncs")
        report.check("the replica is read-only",
                     raises(lambda: call(replica, "SET", "a", "1"), "READONLY"))


def raises(act, text):
    try:
        act()
    except ReplyError as error:
        return text in str(error)
    return False


def chain():
    """A replica of a replica, and what is left when the first or the middle one is gone."""
    with server() as one, server() as two, server() as three, Load(lambda: one, SEED + 1) as load:
        follow(two, one.port)
        wait_for(lambda: has_all(one, two) or load.done > 500)
        follow(three, two.port)
        time.sleep(1.5)
        load.pause()
        same("a chain of three", one, two, three)
        full = info(two, "stats")["sync_full"]
        one.kill()
        call(two, "REPLICAOF", "NO", "ONE")
        load.server = lambda: two
        load.resume()
        time.sleep(1)
        load.pause()
        same("the middle one is promoted and the last one follows it", two, three)
        report.equal("without a full sync", info(two, "stats")["sync_full"], full)
        one.directives["replicaof"] = f"127.0.0.1 {two.port}"  # or it would remove what is due by itself
        one.start()
        load.resume()
        time.sleep(1)
        load.pause()
        same("the old primary comes back", two, three, one)
        report.equal("without a full sync too", info(two, "stats")["sync_full"], full)
        follow(three, one.port)
        load.resume()
        time.sleep(0.5)
        load.pause()
        same("the last one follows another", two, one, three)
        report.equal("going on where it was", info(one, "stats")["sync_full"], "0")


def failovers(rounds):
    """What was acknowledged is there after each one."""
    with server() as one, server() as two:
        servers = [one, two]
        follow(two, one.port)
        wait_for(lambda: has_all(one, two))
        acknowledged = 0
        with Load(lambda: servers[0], SEED + 2, clients=3) as load:
            for turn in range(rounds):
                with servers[0].client() as client:
                    client.call("SELECT", UNTOUCHED)
                    for _ in range(50):
                        acknowledged = client.call("INCR", "acknowledged")
                    client.call("FAILOVER", "TO", "127.0.0.1", servers[1].port, "TIMEOUT", 20_000)
                moved = wait_for(lambda: info(servers[1])["role"] == "master" and info(servers[0])["role"] == "slave", 40)
                if not report.check(f"failover {turn}", moved, f"{info(servers[0])}\n{info(servers[1])}\n"
                                    f"{servers[0].log()[-1500:]}\n{servers[1].log()[-1500:]}"):
                    return
                servers.reverse()
                with servers[0].client() as client:
                    client.call("SELECT", UNTOUCHED)
                    report.equal("nothing acknowledged is lost", client.call("GET", "acknowledged"), b"%d" % acknowledged)
            load.pause()
            same("and both have the same", *servers)
        report.equal("no failover needed all data", sum(int(info(s, "stats")["sync_full"]) for s in servers), 1)


def circles():
    with server() as one, server() as two:
        call(one, "SET", "a", "1")
        call(two, "SET", "a", "2")
        follow(one, one.port)
        time.sleep(1.5)
        report.equal("who follows itself keeps its data", call(one, "GET", "a"), b"1")
        report.equal("and has no link", info(one)["master_link_status"], "down")
        follow(one, two.port)
        follow(two, one.port)
        time.sleep(3)
        report.equal("two that follow each other have no link",
                     [info(one)["master_link_status"], info(two)["master_link_status"]], ["down", "down"])
        call(two, "REPLICAOF", "NO", "ONE")
        same("until one of them is told that it is the primary", two, one)


def eviction():
    with server(maxmemory="8mb", maxmemory_policy="allkeys-lru") as primary, \
            server(replicaof=f"127.0.0.1 {primary.port}") as replica:
        wait_for(lambda: has_all(primary, replica))
        with primary.client() as client:
            client.pipeline(("SET", f"key{i}", "x" * 500) for i in range(30_000))
        report.check("keys were evicted", int(info(primary, "stats")["evicted_keys"]) > 0)
        same("evictions travel as effects", primary, replica)


def demotion():
    """Who waits when the server becomes a replica is told so and sent away, on redis-server too."""
    for binary in ("redis-server", None):
        with Server(binary) as one, server() as two:
            waiting = {words: one.client() for words in ("BLPOP k 0", "BLMOVE k j LEFT LEFT 0", "BZPOPMIN z 100", "WAIT 1 0")}
            for words, client in waiting.items():
                client.socket.sendall(encode(words.split()) + encode(["SET", "behind", "1"]))
            wait_for(lambda: int(info(one, "clients")["blocked_clients"]) == len(waiting))
            follow(one, two.port)
            for words, client in waiting.items():
                told = b""
                while part := client.socket.recv(1000):
                    told += part
                report.check(f"{words}: UNBLOCKED, and no more", told.startswith(b"-UNBLOCKED ") and told.count(b"\r\n") == 1, told)
            call(one, "REPLICAOF", "NO", "ONE")
            report.equal("and what was sent behind it is not run", call(one, "EXISTS", "behind"), 0)


def heard(listener):
    """What was published up to the word "end"."""
    messages = []
    while not messages or messages[-1] != b"end":
        kind, *_, message = listener.read()
        if kind.endswith(b"message"):
            messages.append(message)
    return messages


def messages():
    """What is published at a primary is heard at its replicas and at theirs; at a replica, there and below it."""
    for binary in ("redis-server", None):
        name = binary or "tallyd"
        first = Server(binary) if binary else server()
        with first, Server(binary, replicaof=f"127.0.0.1 {first.port}") as second, \
                Server(binary, replicaof=f"127.0.0.1 {second.port}") as third:
            wait_for(lambda: has_all(first, second) and has_all(second, third))
            listeners = [one.client() for one in (first, second, third)]
            for listener in listeners:
                for words in (("SUBSCRIBE", "news"), ("PSUBSCRIBE", "n?ws2"), ("SSUBSCRIBE", "shard")):
                    listener.call(*words)
            long = b"x" * 20_000_000
            with first.client() as client:
                calls = [("PUBLISH", "news", "one"), ("pUbLiSh", "news2", "two"), ("SPUBLISH", "shard", "three"), ("MULTI",),
                         ("SET", "a", "1"), ("PUBLISH", "news", "four"), ("EXEC",),
                         ("EVAL", "redis.call('SET', KEYS[1], 2) return redis.call('publish', 'news', 'five')", 1, "a"),
                         ("PUBLISH", "news", long), ("PUBLISH", "nobody", "nothing"), ("PUBLISH", "news", ""), ("PUBLISH", "news", "end")]
                for words in calls:
                    client.call(*words)
            said = [b"one", b"two", b"three", b"four", b"five", long, b"", b"end"]
            for place, listener in zip(("there", "at its replica", "at that one's"), listeners):
                report.check(f"{name}: what a primary publishes is heard {place}", heard(listener) == said)
            call(second, "PUBLISH", "news", "below")
            report.check(f"{name}: nothing of it is data", wait_for(lambda: has_all(first, second) and has_all(second, third)))
            call(first, "PUBLISH", "news", "end")
            report.equal(f"{name}: what a replica publishes stays with it", [heard(listener) for listener in listeners],
                         [[b"end"], [b"below", b"end"], [b"end"]])
            for listener in listeners:
                listener.close()


def writable():
    """Who waits at a replica of a Redis that takes writes gets what the primary is given."""
    for binary in ("redis-server", None):
        name = binary or "tallyd"
        with Server("redis-server") as primary, \
                Server(binary, replicaof=f"127.0.0.1 {primary.port}", replica_read_only="no") as replica:
            wait_for(lambda: info(replica)["master_link_status"] == "up")
            with replica.client() as listener:
                for push in (("RPUSH", "l", "one"), ("EVAL", "return redis.call('RPUSH', KEYS[1], 'one')", 1, "l")):
                    listener.socket.sendall(encode(["BLPOP", "l", "20"]))
                    wait_for(lambda: int(info(replica, "clients")["blocked_clients"]) == 1)
                    call(primary, *push)
                    report.equal(f"{name}: {push[0]} at the primary serves who waits", listener.read(), [b"l", b"one"])
                    report.equal(f"{name}: and the replica alone has given it away",
                                 (call(primary, "LPOP", "l"), call(replica, "EXISTS", "l")), (b"one", 0))


PARTS = {"circles": circles, "chain": chain, "failovers": lambda: failovers(scaled(5)), "eviction": eviction,
         "demotion": demotion, "writable": writable, "messages": messages, "pair": lambda: pair(scaled(12))}
for name in sys.argv[1:] or PARTS:
    PARTS[name]()
report.finish()
