#!/usr/bin/env python3
"""Reservations, and orders that are held, of eight real clients, while clients and the server are killed: no limit is
exceeded, what was acknowledged counts once, and nothing is held after its deadline."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient  # noqa: E402
from lib.scale import scaled  # noqa: E402
from lib.server import Server, die_with_parent  # noqa: E402

CLIENTS = 8
SLOTS = 10
TTL_MS = 700
POOL = ("SLIDING", "1000000", "1h", "CONCURRENT", str(SLOTS))
ONCE = ("FIXED", "1000000", "1h")
# A purchase counts for so short a time that only what is held counts.
GOODS = ("1", "0", str(SLOTS), "1ms")


def until_answered(port, words):
    """The reply, however often the server has to be asked: each of these calls may be retried."""
    while True:
        try:
            client = RespClient(port, timeout=5)
            try:
                return client.call(*words)
            finally:
                client.close()
        except ReplyError as error:
            if not str(error).startswith("LOADING"):
                return error
        except (OSError, EOFError, ValueError):
            pass
        time.sleep(0.02)


def work_on_goods(port, order, count, dice, said):
    """A cart that is forgotten, emptied or paid."""
    applied, item, _ = until_answered(port, ("QUOTA.BUY", "shop", "all", order, "ITEMS", "1", "0", str(count), "ONCE",
                                             "HOLD", f"{TTL_MS}ms"))
    if not applied and item or dice.random() < 0.1:
        return
    if dice.random() < 0.2:
        until_answered(port, ("QUOTA.RETURN", "shop", "all", order, "ITEMS", "1", str(count)))
        said.write(json.dumps(["emptied", order, count]) + "\n")
    elif until_answered(port, ("QUOTA.CONFIRM", "shop", "all", order)) == 1:
        said.write(json.dumps(["paid", order, count]) + "\n")


def work(port, path, seed):
    """Holds, works, settles; says what was acknowledged, a line of JSON each, before it goes on."""
    dice = random.Random(seed)
    with open(path, "a", buffering=1) as said:
        for number in range(10 ** 9):
            name = f"{os.getpid()}:{seed}:{number}"
            cost = dice.randint(1, 3)
            until_answered(port, ("LIMIT.TAKE", "once", *ONCE, "COST", str(cost), "ONCE", name))
            said.write(json.dumps(["once", name, cost]) + "\n")
            work_on_goods(port, name, cost, dice, said)
            held = until_answered(port, ("LIMIT.RESERVE", name, f"{TTL_MS}ms", "pool", *POOL, "COST", str(cost)))
            if isinstance(held, Exception) or held[0] == 0:
                time.sleep(dice.random() / 100)
                continue
            if dice.random() < 0.1:
                continue  # a process that forgets its hold
            if dice.random() < 0.2:
                until_answered(port, ("LIMIT.CANCEL", name, "pool"))
                continue
            done = until_answered(port, ("LIMIT.COMMIT", name, "pool", "COST", "1"))
            if not isinstance(done, Exception) and done[0] in (1, 2):
                said.write(json.dumps(["commit", name, 1]) + "\n")


def launch(port, directory, seed):
    return subprocess.Popen([sys.executable, __file__, "work", str(port), str(directory / f"said-{seed}"), str(seed)],
                            preexec_fn=die_with_parent)


def said(directory):
    """What the clients know was done; a kill may cut a last line short."""
    sums = {"once": {}, "commit": {}, "emptied": {}, "paid": {}}
    for path in directory.glob("said-*"):
        for line in path.read_text().splitlines():
            try:
                kind, name, cost = json.loads(line)
            except ValueError:
                continue
            sums[kind][name] = cost
    return sums


def used(client, key):
    return sum(row[2] for row in client.call("LIMIT.SHOW", key))


class Goods:
    """What is seen of the orders meanwhile, and what is left of them in the end."""

    def __init__(self):
        self.most = self.late = 0

    def look(self, client):
        now_ms = clock_ms(client)
        history = client.call("QUOTA.HISTORY", "shop", "all")
        self.most = max(self.most, client.call("QUOTA.SHOW", "shop", "all", "1")[0][0][3],
                        sum(line[3] for line in history if line[5] > 0))
        self.late += sum(0 < line[5] <= now_ms for line in history)

    def check(self, report, client, known):
        history = client.call("QUOTA.HISTORY", "shop", "all")
        report.check(f"at most {SLOTS} of the goods are in carts", 0 < self.most <= SLOTS, self.most)
        report.equal("no order is held after its deadline", self.late, 0)
        report.equal("no order is held when all are dead", [line for line in history if line[5] > 0], [])
        sold = {}
        for order, _, _, count, *_ in history:
            sold.setdefault(order.decode(), []).append(count)
        wrong = {order: sold.get(order) for order, count in known["paid"].items() if sold.get(order) != [count]}
        report.equal(f"each of {len(known['paid'])} orders that were paid is a purchase, once", wrong, {})
        kept = [order for order in known["emptied"] if sum(sold.get(order, [])) > 0]
        report.equal(f"none of {len(known['emptied'])} carts that were emptied is", kept, [])
        report.check("orders were paid and emptied", len(known["paid"]) > 10 and known["emptied"], known)


def clock_ms(client):
    seconds, micros = map(int, client.call("TIME"))
    return seconds * 1000 + micros // 1000


def check(report, started):
    dice = random.Random()
    with started as server:
        with server.client() as client:
            client.call("QUOTA.SETLIMIT", "shop", *GOODS)
            fill(client)
        workers = [launch(server.port, server.directory, seed) for seed in range(CLIENTS)]
        most, kills, rewrites, samples, late, goods = 0, 0, 0, 0, 0, Goods()
        end = time.monotonic() + 12 * scaled(1)
        while time.monotonic() < end:
            try:
                with server.client() as client:
                    for _ in range(20):
                        now_ms = clock_ms(client)
                        held = client.call("LIMIT.HELD", "pool")
                        most = max(most, sum(row[1] for row in held))
                        late += sum(row[3] <= now_ms for row in held)
                        goods.look(client)
                        samples += 1
                        time.sleep(0.01)
            except (OSError, EOFError, ReplyError):
                pass
            if dice.random() < 0.5:
                place = dice.randrange(CLIENTS)
                workers[place].send_signal(signal.SIGKILL)
                workers[place].wait()
                workers[place] = launch(server.port, server.directory, place)
            else:
                rewrites += begin_rewrite(server, dice)
                server.kill()
                kills += 1
                server.start()
        for worker in workers:
            worker.kill()
            worker.wait()
        with server.client() as client:
            time.sleep(TTL_MS / 1000 + 0.1)
            report.check(f"{samples} samples, {kills} kills of the server, {rewrites} in a rewrite: at most {SLOTS} are held", 0 < most <= SLOTS, most)
            report.equal("nothing is held after its deadline", late, 0)
            report.equal("nothing is held when all are dead", client.call("LIMIT.HELD", "pool"), [])
            names = said(server.directory)
            known = {kind: sum(costs.values()) for kind, costs in names.items()}
            once, commits = used(client, "once"), used(client, "pool")
            # Of each client that was killed one answer may have been lost.
            lost = 3 * (CLIENTS + kills + samples)
            report.check("what was taken once counts once", known["once"] <= once <= known["once"] + lost,
                         f"{known['once']} acknowledged, {once} counted")
            report.check("what was committed counts once", known["commit"] <= commits <= known["commit"] + lost,
                         f"{known['commit']} acknowledged, {commits} counted")
            goods.check(report, client, names)
            report.check("something was done", known["once"] > 100 and known["commit"] > 10, known)


def fill(client, keys=60_000):
    """Makes a rewrite take a while."""
    for start in range(0, keys, 1000):
        client.pipeline([("SET", f"filler:{number}", "x" * 40) for number in range(start, start + 1000)])


def begin_rewrite(server, dice):
    """Perhaps begins one, which the server's end is to meet; 1 if it did."""
    if dice.random() < 0.3:
        return 0
    try:
        with server.client() as client:
            client.call("BGREWRITEAOF")
        time.sleep(dice.random() * 0.03)
        return 1
    except (OSError, EOFError, ReplyError):
        return 0


HOLDS_OF_KEY = 6


def keys_with_holds(client):
    """What is held on each key: its costs, and what the counter says."""
    found = {}
    for key in client.call("KEYS", "cart:*"):
        costs = [row[1] for row in client.call("LIMIT.HELD", key)]
        found[key] = (costs, {row[0]: row[2] for row in client.call("LIMIT.SHOW", key)}[b"FIXED"])
    return found


def evicted(client):
    lines = client.call("INFO", "stats").decode().splitlines()
    return next(int(line.partition(":")[2]) for line in lines if line.startswith("evicted_keys:"))


def check_eviction(report):
    """A key is evicted with all its holds, or not at all: what is evicted is unknown, and can be held anew."""
    with Server(maxmemory="14mb", maxmemory_policy="allkeys-lru", appendonly="yes") as server:
        with server.client() as client:
            made = 0
            while made < 200_000 and evicted(client) < 2_000:
                for key in range(made, made + 200):
                    client.pipeline([("LIMIT.RESERVE", f"{key}:{number}", "1h", f"cart:{key}", "FIXED", "100", "2h", "COST",
                                      str(number + 1)) for number in range(HOLDS_OF_KEY)])
                made += 200
            report.check("keys with holds are evicted", evicted(client) >= 2_000, made)
            # From here on nothing is evicted.
            client.call("CONFIG", "SET", "maxmemory", "0")
            server.directives["maxmemory"] = "0"
            found = keys_with_holds(client)
            costs = list(range(1, HOLDS_OF_KEY + 1))
            wrong = [key for key, (held, used) in found.items() if held != costs[-len(held):] or used != sum(held)]
            report.check("what is left is whole", len(found) > 100 and wrong == [], wrong[:5])
            gone = next(key for key in range(made) if f"cart:{key}".encode() not in found)
            report.equal("a hold that was evicted is unknown",
                         client.call("LIMIT.COMMIT", f"{gone}:1", f"cart:{gone}"), [0, 0, 0])
            here = next(iter(found)).decode()
            name = f"{here.partition(':')[2]}:{HOLDS_OF_KEY - 1}"
            report.equal("one that was not is committed", client.call("LIMIT.COMMIT", name, here),
                         [1, HOLDS_OF_KEY, HOLDS_OF_KEY])
            found = keys_with_holds(client)
        server.kill()
        server.start()
        with server.client() as client:
            report.equal("the log says what was evicted", keys_with_holds(client), found)


def main():
    if sys.argv[1:2] == ["work"]:
        work(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        return
    report = Report()
    check(report, Server(appendonly="yes", appendfsync="always", limit_max_holds="1000000"))
    check_eviction(report)
    report.finish()


if __name__ == "__main__":
    main()
