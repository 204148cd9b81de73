#!/usr/bin/env python3
"""A replica and time: what goes by the clock is right at its own now, what has expired is hidden, and it neither removes
nor writes anything by itself: not when keys are due, not when its clock is set back, not when memory is short."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

HOUR = 3_600_000
WRITES = [["SET", "dated", 1, "PX", HOUR], ["RPUSH", "list", 1], ["PEXPIRE", "list", HOUR], ["HITS.ADD", "window", "10m", "COUNT", 5],
          ["LIMIT.TAKE", "limit", "FIXED", 5, "10m"], ["ACTIVE.TOUCH", "users", "ann", "bob"],
          ["QUOTA.SETLIMIT", "shop", "tea", 0, 3, "10m"], ["QUOTA.BUY", "shop", "ann", "order", "ITEMS", "tea", 0, 1]]


def rows(client):
    lines = client.call("INFO", "replication").decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def seen_by(client):
    """What a client of the replica sees."""
    return {"dated": client.call("GET", "dated"), "exists": client.call("EXISTS", "dated", "list"),
            "list": client.call("LRANGE", "list", 0, -1), "ttl": client.call("TTL", "dated") > 0, "keys": len(client.scan()),
            "hits": client.call("HITS.COUNT", "window"), "limit": client.call("LIMIT.PEEK", "limit", "FIXED", 5, "10m")[2],
            "online": client.call("ACTIVE.ONLINE", "users"), "quota": client.call("QUOTA.LEFT", "shop", "ann", "tea")}


def check(report, kind, primary):
    with Server(appendonly="yes", enable_debug_command="yes", maxmemory="100mb", maxmemory_policy="allkeys-random",
                replicaof=f"127.0.0.1 {primary.port}") as replica, primary.client() as source, replica.client() as client:
        natives = kind == "tallyd"
        source.pipeline(WRITES if natives else WRITES[:3])
        report.check(f"{kind}: it has all", wait_for(lambda: rows(client)["master_link_status"] == "up" and
                                                    client.call("DBSIZE") == source.call("DBSIZE")), rows(client))
        if not natives:
            for words in WRITES[3:]:
                client.call("CONFIG", "SET", "replica-read-only", "no")
                client.call(*words)
            client.call("CONFIG", "SET", "replica-read-only", "yes")
        before, offset = seen_by(client), rows(client)["master_repl_offset"]
        begin = int(time.time() * 1000)
        client.call("DEBUG", "CLOCK", "SET", begin + HOUR // 2)
        seen = seen_by(client)
        report.equal(f"{kind}: windows of ten minutes are empty half an hour later",
                     [seen[name] for name in ("hits", "limit", "online", "quota")], [0, before["limit"] + 1, 0, [[[b"0", 3]]]])
        report.equal(f"{kind}: what lives longer is there", (seen["dated"], seen["list"]), (b"1", [b"1"]))
        size = client.call("DBSIZE")
        client.call("DEBUG", "CLOCK", "SET", begin + 2 * HOUR)
        seen = seen_by(client)
        report.equal(f"{kind}: what has expired is hidden", [seen[name] for name in ("dated", "exists", "list", "ttl")],
                     [None, 0, [], False])
        client.call("CONFIG", "SET", "maxmemory", "1mb")
        time.sleep(0.5)
        report.equal(f"{kind}: and nothing is removed, nor evicted", client.call("DBSIZE"), size)
        client.call("CONFIG", "SET", "maxmemory", "100mb")
        client.call("DEBUG", "CLOCK", "REAL")
        time.sleep(0.3)
        report.equal(f"{kind}: a clock that was wrong costs nothing", seen_by(client), before)
        report.equal(f"{kind}: it has written nothing", rows(client)["master_repl_offset"], offset)
        client.call("REPLICAOF", "NO", "ONE")
        client.call("DEBUG", "CLOCK", "SET", begin + 2 * HOUR)
        report.check(f"{kind}: as a primary it removes what is due", wait_for(lambda: client.call("DBSIZE") < size))


def main():
    report = Report()
    with Server(appendonly="yes") as primary:
        check(report, "tallyd", primary)
    with Server(binary="redis-server") as primary:
        check(report, "Redis", primary)
    report.finish()


main()
