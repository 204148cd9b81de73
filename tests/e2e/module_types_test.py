#!/usr/bin/env python3
"""tally.so's values as data types of redis-server: files, copies, expiry, memory, events, rights, errors."""

import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.module_server import Caller, module_server  # noqa: E402
from lib.native_commands import NativeCommands  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

LARGE_HITS = 20_000
DAY_MS = 86_400_000


def fill(client, seed, calls=3000):
    """Keys of every type and form, by random calls, and a few large ones. None ends while the test runs."""
    stream = NativeCommands(seed, int(time.time() * 1000) + DAY_MS)
    client.call("TALLY.CLOCK", "SET", stream.now)
    client.pipeline([stream.call() for _ in range(calls)])
    client.call("POLICY.SET", "{k}:policy:kept", "FIXED", 3, "1m")
    client.pipeline([["HITS.ADD", "large:hits", "24h", "COUNT", 1 + i % 3, "AT", f"{stream.now - i}ms"]
                            for i in range(LARGE_HITS)])
    client.pipeline([["LIMIT.TAKE", "large:limit", "SLIDING", 1_000_000, "24h"] for _ in range(LARGE_HITS)])
    client.pipeline([["ACTIVE.TOUCH", "large:active"] + [f"user{i}:{j}" for j in range(20)]
                            for i in range(LARGE_HITS // 20)])
    client.call("QUOTA.SETLIMIT", "large:quota", 1, 0, 1_000_000, "30d")
    client.pipeline([["QUOTA.BUY", "large:quota", i, f"order{i}", "ITEMS", 1, 0, 1] for i in range(LARGE_HITS)])


def check_files(report):
    for preamble in ("yes", "no"):
        with module_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble) as server:
            caller = Caller(server.port)
            fill(caller, 7)
            name = f"AOF, preamble {preamble}"
            digest, policies = caller.call("DEBUG", "DIGEST"), caller.call("POLICY.LIST")
            report.check(f"{name}: there are keys and policies", digest != "0" * 40 and len(policies) > 0)
            server.kill()
            server.start()
            caller = Caller(server.port)
            report.equal(f"{name}: kill -9", caller.call("DEBUG", "DIGEST"), digest)
            caller.call("BGREWRITEAOF")
            wait_for(lambda: caller.info("persistence", "aof_rewrite_in_progress") == "0")
            caller.call("POLICY.SET", "{k}:policy:later", "ALLOW")
            caller.call("POLICY.DEL", "{k}:policy:kept")
            expected = sorted(set(policies + [b"{k}:policy:later"]) - {b"{k}:policy:kept"})
            server.kill()
            server.start()
            caller = Caller(server.port)
            report.equal(f"{name}: rewritten and killed", caller.call("DEBUG", "DIGEST"), digest)
            report.equal(f"{name}: policies", sorted(caller.call("POLICY.LIST")), expected)


def check_rdb(report):
    with module_server() as server:
        caller = Caller(server.port)
        fill(caller, 8)
        digest, policies = caller.call("DEBUG", "DIGEST"), caller.call("POLICY.LIST")
        report.equal("RDB: reloaded", caller.call("DEBUG", "RELOAD"), "OK")
        report.equal("RDB: the same values", caller.call("DEBUG", "DIGEST"), digest)
        report.equal("RDB: the same policies", caller.call("POLICY.LIST"), policies)
        caller.call("SAVE")
        server.kill()
        server.start()
        caller = Caller(server.port)
        report.equal("RDB: another process", caller.call("DEBUG", "DIGEST"), digest)
        same = []
        for key in sorted(server.client().scan()):
            payload = caller.call("DUMP", key)
            ttl = caller.call("PEXPIRETIME", key)
            before = caller.call("DEBUG", "DIGEST-VALUE", key)
            caller.call("DEL", key)
            caller.call("RESTORE", key, max(ttl, 0), payload, "ABSTTL")
            caller.call("COPY", key, b"copy:" + key)
            copied = caller.call("DEBUG", "DIGEST-VALUE", b"copy:" + key)
            same.append(caller.call("DEBUG", "DIGEST-VALUE", key) == before == copied)
            caller.call("DEL", b"copy:" + key)
        report.check(f"DUMP, RESTORE and COPY: {len(same)} keys are as they were", len(same) > 50 and all(same))
        report.equal("all of them", caller.call("DEBUG", "DIGEST"), digest)


def check_corrupt_payloads(report):
    """Bytes of payloads are changed; the server checks no sum of them then."""
    dice = random.Random(9)
    with module_server(sanitize_dump_payload="no") as server:
        caller = Caller(server.port)
        fill(caller, 10, 500)
        caller.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        keys = sorted(server.client().scan())
        payloads = [caller.call("DUMP", key) for key in keys if not key.startswith(b"large")]
        outcomes = {"OK": 0, "error": 0}
        for _ in range(20_000):
            payload = bytearray(dice.choice(payloads))
            for _ in range(dice.randrange(1, 4)):
                payload[dice.randrange(1, len(payload) - 10)] = dice.randrange(256)
            reply = caller.call("RESTORE", "corrupt", 0, bytes(payload), "REPLACE")
            outcomes["OK" if reply == "OK" else "error"] += 1
            if reply == "OK":
                use(caller)
        report.check("malformed payloads are errors, and what is loaded can be used",
                     server.process.poll() is None and min(outcomes.values()) > 100,
                     f"{outcomes}\n{server.log()[-3000:]}")


def check_flipped_bits(report):
    """Each bit of a small value's payload is flipped, with the checksum made right. What RESTORE accepts is written to;
    then the server saves it, and starts with it again."""
    writes = {
        "active": ["ACTIVE.TOUCH", "ann"], "hits": ["HITS.ADD", "1h"], "limit": ["LIMIT.TAKE", "SLIDING", 9, "1h"],
        "quota": ["QUOTA.BUY", "ann", "o", "ITEMS", "sku", 0, 1],
    }
    with module_server() as server:
        caller = Caller(server.port)
        accepted = dict.fromkeys(writes, 0)
        flipped = 0
        for kind, (name, *words) in writes.items():
            caller.call(name, "key", *words)
            payload = caller.call("DUMP", "key")
            for bit in range(8, 8 * (len(payload) - 10)):
                body = bytearray(payload[:-8])
                body[bit // 8] ^= 1 << bit % 8
                key = f"{kind}:{bit}"
                flipped += 1
                if caller.call("RESTORE", key, 0, bytes(body) + crc64(body).to_bytes(8, "little")) == "OK":
                    accepted[kind] += 1
                    caller.call(name, key, *words)
            caller.call("DEL", "key")
        report.check(f"{flipped} flipped bits: some are refused, and some not",
                     0 < min(accepted.values()) and sum(accepted.values()) < flipped / 2, accepted)
        digest = caller.call("DEBUG", "DIGEST")
        report.equal("what was accepted is saved", caller.call("SAVE"), "OK")
        server.kill()
        try:
            server.start()
        except RuntimeError as error:
            return report.check("what was accepted is loaded", False, error)
        report.equal("what was accepted is loaded", Caller(server.port).call("DEBUG", "DIGEST"), digest)


def crc64(data):
    """That of Redis: Jones's polynomial, reflected."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
    return crc


def use(caller):
    for words in (["LIMIT.TAKE", "corrupt", "FIXED", 3, "1m", "SLIDING", 3, "1m", "CALENDAR", 3, "day"],
                  ["LIMIT.SHOW", "corrupt"], ["HITS.ADD", "corrupt", "1m"], ["HITS.COUNT", "corrupt"],
                  ["ACTIVE.TOUCH", "corrupt", "ann"], ["ACTIVE.DAY", "corrupt", "DAYS", 3],
                  ["QUOTA.BUY", "corrupt", "ann", "o", "ITEMS", 1, 0, 1], ["QUOTA.HISTORY", "corrupt", "ann"],
                  ["MEMORY", "USAGE", "corrupt"], ["DUMP", "corrupt"], ["DEBUG", "DIGEST-VALUE", "corrupt"]):
        caller.call(*words)


def check_keys(report):
    with module_server(options="") as server:
        caller = Caller(server.port)
        caller.call("LIMIT.TAKE", "l", "FIXED", 2, "10s")
        report.check("a limit's key lives as long as its window", 0 < caller.call("PTTL", "l") <= 10_000)
        for key, words in [("own:limit", ["LIMIT.TAKE", "own:limit", "FIXED", 2, "10h"]),
                           ("own:hits", ["HITS.ADD", "own:hits", "10h"]),
                           ("own:large", ["HITS.ADD", "own:large", "10h", "COUNT", LARGE_HITS])]:
            caller.call(*words)
            ttl, payload = caller.call("PEXPIRETIME", key), caller.call("DUMP", key)
            caller.call("PERSIST", key)
            report.equal(f"{key} keeps its deadline: PERSIST", caller.call("PEXPIRETIME", key), ttl)
            caller.call("RESTORE", key, 0, payload, "REPLACE")
            report.equal(f"{key} keeps its deadline: RESTORE", caller.call("PEXPIRETIME", key), ttl)
            caller.call("DEL", key)
        caller.call("SET", "own:string", "x", "EX", 1000)
        report.equal("a string does as Redis says", [caller.call("PERSIST", "own:string"), caller.call("PTTL", "own:string"),
                                                     caller.call("DEL", "own:string")], [1, -1, 1])
        caller.call("HITS.ADD", "h", "500ms")
        report.equal("TYPE", caller.call("TYPE", "h"), "tallyhits")
        report.check("MEMORY USAGE", 20 < caller.call("MEMORY", "USAGE", "l") < 200)
        wait_for(lambda: caller.call("DBSIZE") == 1)
        report.equal("the hits' key has ended", caller.call("EXISTS", "h"), 0)
        caller.call("SET", "s", "x")
        report.check("WRONGTYPE", caller.call("LIMIT.TAKE", "s", "ALLOW").startswith("-WRONGTYPE"))
        report.check("WRONGTYPE of Redis's commands", caller.call("GET", "l").startswith("-WRONGTYPE"))
        report.check("no clock to set", caller.call("TALLY.CLOCK", "REAL").startswith("-ERR unknown"))
        report.check("no values by hand", caller.call("TALLY.LOAD", "x", "hits", "PACKED", "").startswith("-ERR"))
        used = int(caller.info("memory", "used_memory"))
        caller.pipeline([["QUOTA.BUY", "book", i, i, "ITEMS", 1, 0, 1] for i in range(20_000)])
        grown = int(caller.info("memory", "used_memory")) - used
        report.check("the server counts the memory of a book",
                     0.6 < caller.call("MEMORY", "USAGE", "book") / grown < 1.4,
                     f"{caller.call('MEMORY', 'USAGE', 'book')} of {grown}")
        caller.call("UNLINK", "book")
        wait_for(lambda: int(caller.info("memory", "used_memory")) < used + grown / 5)
        report.check("and that it is given back", int(caller.info("memory", "used_memory")) < used + grown / 5)
        caller.call("CONFIG", "SET", "maxmemory", 1)
        report.check("OOM", caller.call("LIMIT.TAKE", "l", "FIXED", 2, "10s").startswith("-OOM"))
        report.equal("reads go on", caller.call("HITS.COUNT", "h"), 0)


def check_transactions(report):
    with module_server() as server:
        caller, other = Caller(server.port), Caller(server.port)
        caller.call("LIMIT.TAKE", "l", "FIXED", 1, "1h")
        for what, words, result in [("a denial leaves a WATCH whole", ["LIMIT.TAKE", "l", "FIXED", 1, "1h"], ["PONG"]),
                                    ("a hit does not", ["LIMIT.TAKE", "l", "FIXED", 2, "1h"], None)]:
            caller.call("WATCH", "l")
            other.call(*words)
            caller.call("MULTI")
            caller.call("PING")
            report.equal(what, caller.call("EXEC"), result)
        caller.call("CONFIG", "SET", "notify-keyspace-events", "KEA")
        other.call("PSUBSCRIBE", "__keyspace@0__:*")
        for words in (["LIMIT.TAKE", "n", "FIXED", 1, "1h"], ["LIMIT.TAKE", "n", "FIXED", 1, "1h"],
                      ["LIMIT.RESET", "n"], ["HITS.ADD", "m", "1h"], ["HITS.UNDO", "m"]):
            caller.call(*words)
        events = [other.read()[2:] for _ in range(6)]
        report.equal("events", events, [[b"__keyspace@0__:" + key, event] for key, event in
                                        [(b"n", b"limit.take"), (b"n", b"del"), (b"n", b"limit.free"), (b"m", b"hits.add"),
                                         (b"m", b"hits.undo"), (b"m", b"del")]])


def check_rights(report):
    with module_server() as server:
        admin, caller = Caller(server.port), Caller(server.port)
        admin.call("POLICY.SET", "a:p", "ALLOW")
        admin.call("POLICY.SET", "b:p", "ALLOW")
        admin.call("ACL", "SETUSER", "ann", "on", "nopass", "+@all", "~a:*", "%R~b:*")
        caller.call("AUTH", "ann", "x")
        for words, allowed in [(["LIMIT.TAKE", "a:1", "ALLOW"], True), (["LIMIT.TAKE", "b:1", "ALLOW"], False),
                               (["LIMIT.PEEK", "b:1", "ALLOW"], True),
                               (["LIMIT.TAKE", "a:1", "ALLOW", "AND", "b:1", "ALLOW"], False),
                               (["QUOTA.STATS", "b:1"], True), (["QUOTA.STATS", "c:1"], False),
                               (["POLICY.SET", "a:q", "ALLOW"], True), (["POLICY.SET", "b:q", "ALLOW"], False),
                               (["POLICY.GET", "b:p"], True), (["POLICY.DEL", "b:p"], False)]:
            reply = caller.call(*words)
            report.check(f"{' '.join(words)}: {'allowed' if allowed else 'denied'}", str(reply).startswith("-NOPERM") != allowed, reply)
        log = admin.call("ACL", "LOG")
        denied = {entry[entry.index(b"object") + 1] for entry in log}
        report.equal("ACL LOG", denied, {b"b:1", b"c:1", b"b:q", b"b:p"})
        for words, allowed in [(["POLICY.SET", "a:q", "ALLOW"], True), (["POLICY.SET", "b:q", "ALLOW"], False),
                               (["POLICY.GET", "b:p"], True), (["POLICY.DEL", "b:p"], False)]:
            report.equal(f"ACL DRYRUN {' '.join(words)}", admin.call("ACL", "DRYRUN", "ann", *words) == "OK", allowed)
        admin.call("ACL", "SETUSER", "ann", "resetkeys", "~b:*")
        report.equal("POLICY.LIST shows what may be read", caller.call("POLICY.LIST"), [b"b:p"])


def check_cluster_rights(report):
    """In a cluster the name of a policy is no key, since a key has a slot; it is checked all the same."""
    with module_server(cluster_enabled="yes") as server:
        admin, caller = Caller(server.port), Caller(server.port)
        admin.call("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for(lambda: "cluster_state:ok" in admin.call("CLUSTER", "INFO").decode())
        admin.call("ACL", "SETUSER", "ann", "on", "nopass", "+@all", "~a:*")
        caller.call("AUTH", "ann", "x")
        report.equal("cluster: a policy of one's own", caller.call("POLICY.SET", "a:q", "ALLOW"), "OK")
        report.check("cluster: another", caller.call("POLICY.SET", "b:q", "ALLOW").startswith("-NOPERM"))
        entry = admin.call("ACL", "LOG")[0]
        fields = dict(zip(entry[::2], entry[1::2]))
        report.equal("cluster: ACL LOG", [fields[b"reason"], fields[b"object"], fields[b"username"]],
                     [b"key", b"b:q", b"ann"])
        report.check("cluster: no key", caller.call("COMMAND", "GETKEYS", "POLICY.SET", "b:q", "ALLOW").startswith("-"))


def check_many_words(report):
    """A call that names too many keys opens none of them."""
    with module_server() as server:
        caller = Caller(server.port)
        for name in ("LIMIT.PEEK", "LIMIT.TAKE", "LIMIT.FORCE"):
            words = [name, "k"]
            for i in range(64):
                words += ["FIXED", 5, "1m", "AND", f"k{i}"]
            misses = caller.info("stats", "keyspace_misses")
            report.check(f"{name}: 65 keys", caller.call(*words, "FIXED", 5, "1m").startswith("-ERR rules must be at most 64"))
            report.equal(f"{name}: they were not looked up", caller.info("stats", "keyspace_misses"), misses)
            report.equal(f"{name}: 64 keys", caller.call(*words[:-2])[0], 1)


def check_descriptions(report):
    with module_server() as server:
        caller = Caller(server.port)
        keys = caller.call("COMMAND", "GETKEYS", "LIMIT.TAKE", "a", "FIXED", 1, 2, "AND", "b", "ALLOW", "COST", 2)
        report.equal("COMMAND GETKEYS", keys, [b"a", b"b"])
        take = caller.call("COMMAND", "INFO", "LIMIT.TAKE")[0]
        report.equal("COMMAND INFO: arity", take[1], -3)
        report.check("COMMAND INFO: flags", {"write", "denyoom", "fast", "movablekeys"} <= set(take[2]), take[2])
        docs = caller.call("COMMAND", "DOCS", "QUOTA.BUY")[1]
        fields = dict(zip(docs[::2], docs[1::2]))
        report.equal("COMMAND DOCS: arguments", [len(fields[b"arguments"]), fields[b"arguments"][0][1]], [7, b"book"])
        report.check("HELP", any("LIMIT.RESET key" in line for line in caller.call("LIMIT", "HELP")))


def main():
    report = Report()
    for check in (check_descriptions, check_keys, check_transactions, check_rights, check_cluster_rights,
                  check_many_words, check_rdb, check_files,
                  check_corrupt_payloads, check_flipped_bits):
        check(report)
    report.finish()


if __name__ == "__main__":
    main()
