#!/usr/bin/env python3
"""A tallyd as the primary of replicas that are a few lines of Python: full sync, partial resync, acknowledgements, WAIT,
min-replicas-to-write, failover, and replicas that do everything wrong. What a replica has received, made the data of a
server, must be what the primary holds."""

import pathlib
import random
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.data_of import differences  # noqa: E402
from lib.native_commands import NativeCommands  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, encode  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.stream_replica import Refused, StreamReplica  # noqa: E402
from lib.waiting import wait_for  # noqa: E402
from lib.write_model import WriteModel  # noqa: E402

report = Report()


def error_of(call):
    try:
        call()
    except (ReplyError, Refused, ConnectionError) as error:
        return str(error)
    return ""


def info(server, section="replication"):
    with server.client() as client:
        lines = client.call("INFO", section).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def write(server, count, seed):
    """Random commands of every family in several databases, in and out of transactions and scripts."""
    dice = random.Random(seed)
    model = WriteModel("m:", dice)
    natives = NativeCommands(seed, int(time.time() * 1000), holds=False)
    with server.client() as client:
        for _ in range(count):
            choice = dice.random()
            if choice < 0.02:
                client.call("SELECT", dice.choice([0, 0, 0, 3, 9]))
            elif choice < 0.04:
                client.call("MULTI")
                for _ in range(dice.randrange(1, 5)):
                    client.call(*model.random_command())
                client.call("EXEC")
            elif choice < 0.06:
                client.call("EVAL", "for i = 1, ARGV[1] do redis.call('INCR', KEYS[1]) end", 1,
                            f"script{dice.randrange(3)}", dice.randrange(1, 5))
            elif choice < 0.08:
                client.call("SET", f"short{dice.randrange(50)}", "x", "PX", dice.randrange(1, 300))
            elif choice < 0.5:
                try:
                    client.call(*natives.call())
                except ReplyError:
                    pass
            else:
                try:
                    client.call(*model.random_command())
                except ReplyError:
                    pass


def compare(what, primary, replica):
    """What the replica has received gives the data that the primary has now."""
    with primary.client() as client:
        client.call("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    replica.follow(int(info(primary)["master_repl_offset"]))
    with Server(appendonly="yes", enable_debug_command="yes") as other:
        other.kill()
        shutil.rmtree(other.directory / "appendonlydir")
        replica.write_data(other.directory)
        other.start()
        unlike = differences(primary, other)
    with primary.client() as client:
        client.call("DEBUG", "SET-ACTIVE-EXPIRE", "1")
    report.check(what, unlike == "", unlike)


def full_and_partial(appendonly):
    what = f"appendonly {appendonly}: "
    with Server(appendonly=appendonly, enable_debug_command="yes", repl_backlog_size="10mb") as primary:
        write(primary, 2_000, 1)
        replica = StreamReplica(primary.port)
        report.equal(what + "a replica without data gets all", replica.connect(), "FULLRESYNC")
        write(primary, 2_000, 2)
        compare(what + "base and stream are the data", primary, replica)
        lines = info(primary)
        report.equal(what + "INFO names the replica", lines["slave0"].split(",")[:3],
                     ["ip=127.0.0.1", "port=7777", "state=online"])
        replica.close()
        write(primary, 2_000, 3)
        report.equal(what + "it goes on where it was", replica.connect(), "CONTINUE")
        compare(what + "nothing is missing after it went on", primary, replica)
        dice = random.Random(4)
        for _ in range(20):
            replica.close()
            write(primary, 30, dice.random())
            if replica.connect() != "CONTINUE":
                break
            replica.follow(replica.offset + dice.randrange(1, 500), 10)
        report.equal(what + "and again twenty times", replica.full_syncs, 1)
        compare(what + "with the same data at last", primary, replica)
        replica.close()
        replica.offset += 1_000_000
        report.equal(what + "one that is ahead gets all", replica.connect(), "FULLRESYNC")
        replica.close()
        replica.id = "f" * 40
        report.equal(what + "one of another history gets all", replica.connect(), "FULLRESYNC")
        replica.close()
        replica.offset -= 1
        report.check(what + "an offset within an effect is none", replica.connect() in ("FULLRESYNC", "CONTINUE"))
        compare(what + "whatever it asked for", primary, replica)


def from_logs():
    """What the backlog has lost is read from the logs, also those of an earlier process."""
    with Server(appendonly="yes", appendfsync="always", enable_debug_command="yes", repl_backlog_size="16kb",
                auto_aof_rewrite_percentage=0) as primary:
        write(primary, 300, 5)
        replica = StreamReplica(primary.port)
        replica.connect()
        write(primary, 100, 6)
        compare("a backlog of 16 kb is enough for a replica that follows", primary, replica)
        replica.close()
        write(primary, 1_500, 7)
        lines = info(primary)
        behind = int(lines["repl_backlog_first_byte_offset"]) - replica.offset
        report.check("the backlog has lost what it needs", behind > 16_384, behind)
        report.equal("it goes on from the log", replica.connect(), "CONTINUE")
        compare("with the same data", primary, replica)
        replica.close()
        first = lines["master_replid"]
        for turn in range(3):
            write(primary, 300, 8 + turn)
            (primary.kill if turn % 2 else primary.stop)()
            primary.start()
            write(primary, 300, 20 + turn)
            report.equal("it goes on after a restart", replica.connect(), "CONTINUE")
            compare("with the same data", primary, replica)
            replica.close()
        lines = info(primary)
        report.check("each start has an id of its own", first not in (lines["master_replid"], lines["master_replid2"]))
        with primary.client() as client:
            write(primary, 500, 30)
            client.call("BGREWRITEAOF")
            write(primary, 500, 31)
            report.check("the rewrite ends", wait_for(lambda: info(primary, "persistence")["aof_rewrite_in_progress"] == "0"))
            saves = info(primary, "persistence").get("rdb_saves")
        report.equal("what was before the base is gone", replica.connect(), "FULLRESYNC")
        report.equal("and no other base is written", info(primary, "persistence").get("rdb_saves"), saves)
        compare("with the same data", primary, replica)
        replica.close()
        primary.kill()
        primary.start()
        fresh = StreamReplica(primary.port)
        report.equal("a new replica gets the base of an earlier process", fresh.connect(), "FULLRESYNC")
        report.equal("and what followed, without a rewrite", info(primary, "persistence")["rdb_saves"], "0")
        compare("with the same data", primary, fresh)


def slow_replica_reads_logs():
    """With a log, a replica that is slow costs no memory."""
    with Server(appendonly="yes", appendfsync="always", client_output_buffer_limit="slave 2mb 1mb 60") as primary, primary.client() as client:
        replica = StreamReplica(primary.port)
        replica.connect()
        for i in range(60):
            client.call("SET", f"large{i % 3}", bytes([97 + i % 26]) * 500_000)
        used = int(info(primary, "memory")["used_memory"])
        report.check("30 MB that it has not read are not in memory", used < 20 << 20, used)
        replica.follow(int(info(primary)["master_repl_offset"]), 120)
        report.equal("it reads them all the same", replica.effects.count(b"SET"), 60)


def acknowledgements():
    with Server(appendonly="yes") as primary, primary.client() as client:
        report.equal("WAIT without replicas", client.call("WAIT", 1, 100), 0)
        replica = StreamReplica(primary.port)
        replica.connect()
        client.call("SET", "a", "1")
        began = time.monotonic()
        report.equal("WAIT ends without an acknowledgement", client.call("WAIT", 1, 300), 0)
        report.check("after its timeout", time.monotonic() - began >= 0.29)
        client.socket.sendall(encode(("WAIT", 1, 0)))
        asked = wait_for(lambda: replica.receive(1) and replica.take_frames() > 0)
        report.check("WAIT asks replicas at once", asked)
        replica.acknowledge()
        report.equal("and ends when one has acknowledged", client.read(), 1)
        report.equal("what is acknowledged need not be waited for", client.call("WAIT", 1, 0), 1)
        role = client.call("ROLE")
        report.equal("ROLE", role, [b"master", replica.offset, [[b"127.0.0.1", b"7777", str(replica.offset).encode()]]])
        client.call("SET", "a", "2")
        with primary.client() as other:
            number = client.call("CLIENT", "ID")
            client.socket.sendall(encode(("WAIT", 2, 0)))
            report.check("a client that waits is blocked",
                         wait_for(lambda: info(primary, "clients")["blocked_clients"] == "1"))
            report.equal("CLIENT UNBLOCK ends a WAIT", other.call("CLIENT", "UNBLOCK", number), 1)
            report.equal("with the number so far", client.read(), 0)
            client.call("MULTI")
            client.call("SET", "b", "1")
            client.call("WAIT", 1, 0)
            report.equal("WAIT does not wait in a transaction", client.call("EXEC"), ["OK", 0])
            listed = other.call("CLIENT", "LIST", "TYPE", "replica").decode()
            report.check("CLIENT LIST TYPE replica", listed.count("\n") == 1 and " flags=S " in listed, listed)
            report.equal("CLIENT KILL TYPE replica", other.call("CLIENT", "KILL", "TYPE", "replica"), 1)
        report.check("closes its link", wait_for(lambda: info(primary)["connected_slaves"] == "0"))


def min_replicas():
    with Server(appendonly="no", min_replicas_to_write=1, min_replicas_max_lag=2) as primary, primary.client() as client:
        refusal = "NOREPLICAS Not enough good replicas to write."
        report.equal("a write needs a replica", error_of(lambda: client.call("SET", "a", "1")), refusal)
        report.equal("a read needs none", client.call("GET", "a"), None)
        report.check("a script's write needs one",
                     refusal in error_of(lambda: client.call("EVAL", "redis.call('SET', 'a', '1')", 0)))
        client.call("MULTI")
        error_of(lambda: client.call("SET", "a", "1"))
        report.check("and so does EXEC", error_of(lambda: client.call("EXEC")).startswith("EXECABORT"))
        replica = StreamReplica(primary.port)
        replica.connect()
        replica.acknowledge()
        report.equal("with one it is done", client.call("SET", "a", "1"), "OK")
        report.equal("INFO counts it", info(primary)["min_slaves_good_slaves"], "1")
        report.check("one that is silent does not count",
                     wait_for(lambda: refusal == error_of(lambda: client.call("SET", "a", "1"))))
        replica.acknowledge()
        report.check("until it speaks", wait_for(lambda: error_of(lambda: client.call("SET", "a", "1")) == ""))
        client.call("CONFIG", "SET", "min-replicas-to-write", "2")
        report.equal("two are not there", error_of(lambda: client.call("SET", "a", "1")), refusal)


def wrong_replicas():
    with Server(appendonly="no", client_output_buffer_limit="slave 20mb 10mb 60", repl_timeout=3) as primary:
        client = primary.client()

        def refused(what, expected, *words):
            with primary.client() as one:
                report.check(what, expected in error_of(lambda: one.call(*words)), error_of(lambda: one.call(*words)))

        refused("PSYNC with garbage for an offset", "not an integer", "PSYNC", "?", "x")
        refused("PSYNC with one word", "wrong number of arguments", "PSYNC", "?")
        refused("PSYNC with words after it", "syntax error", "PSYNC", "?", "-1", "now")
        refused("PSYNC of one that is no tallyd", "capa tallyd", "PSYNC", "?", "-1")
        refused("SYNC of one that is no tallyd", "capa tallyd", "SYNC")
        refused("PSYNC FAILOVER to a primary", "can't be sent to a master", "PSYNC", "0" * 40, "1", "FAILOVER")
        refused("an unknown option of REPLCONF", "Unrecognized REPLCONF option: x", "REPLCONF", "x", "y")
        refused("REPLCONF without a value", "syntax error", "REPLCONF", "capa")
        refused("a port that is none", "out of range", "REPLCONF", "listening-port", "65536")
        refused("an address with a comma", "not an address", "REPLCONF", "ip-address", "1,port=2")
        with primary.client() as one:
            one.call("REPLCONF", "capa", "tallyd")
            one.call("SUBSCRIBE", "news")
            one.socket.sendall(encode(("PSYNC", "?", -1)))
            report.check("a subscriber cannot be a replica", "allowed in this context" in error_of(one.read))
        for words in [("?", "-1"), ("f" * 40, "1"), ("x" * 100_000, "5"), ("", "0"), ("?", str(2 ** 63 - 1)),
                      ("0" * 40, "1"), ("?", str(-2 ** 63))]:
            replica = StreamReplica(primary.port)
            replica.id, replica.offset = words[0], int(words[1]) - 1
            report.equal(f"PSYNC {words[0][:8]} {words[1]} gets all", replica.connect(), "FULLRESYNC")
            replica.close()

        def is_dropped(what, act, expected):
            replica = StreamReplica(primary.port)
            replica.connect()
            act(replica)
            gone = wait_for(lambda: error_of(lambda: replica.receive(1)) != "", 20)
            report.check(what, gone and expected in primary.log(), primary.log()[-600:])
            report.check("and is forgotten", wait_for(lambda: info(primary)["connected_slaves"] == "0"))

        is_dropped("one that acknowledges the future is dropped", lambda r: r.acknowledge(r.offset + 1000),
                   "bytes of the stream, and was sent")
        is_dropped("one that sends commands is dropped", lambda r: r.send("FLUSHALL"), 'it sends "FLUSHALL"')
        is_dropped("one that asks again is dropped", lambda r: r.send("PSYNC", "?", -1), 'it sends "PSYNC"')
        is_dropped("one that sends garbage is dropped", lambda r: r.socket.sendall(b"*1\r\n$-5\r\n"), "has ended")
        is_dropped("one that is silent is dropped", lambda r: None, "acknowledged nothing for repl-timeout")
        report.equal("nothing was flushed", client.call("DBSIZE"), 0)

        replica = StreamReplica(primary.port)
        replica.connect()
        for _ in range(60):
            client.call("SET", "large", "x" * 1_000_000)
        report.check("one that does not read is dropped", "client-output-buffer-limit" in primary.log())
        used = int(info(primary, "memory")["used_memory"])
        report.check("and its memory is free", used < 40 << 20, used)


def many_replicas(count=300):
    with Server(appendonly="no", maxclients=2000) as primary, primary.client() as client:
        client.call("SET", "a", "x" * 1000)
        replicas = [StreamReplica(primary.port, 10_000 + i) for i in range(count)]
        for replica in replicas:
            replica.connect()
        for i in range(200):
            client.call("SET", f"key{i}", "x" * 200)
        offset = int(info(primary)["master_repl_offset"])
        for replica in replicas:
            replica.follow(offset)
        report.check(f"{count} replicas have the same", len({r.effects[-1000:] for r in replicas}) == 1)
        report.equal("and are all counted", client.call("WAIT", count, 10_000), count)
        for replica in replicas:
            replica.close()


def failover_refusals():
    with Server(appendonly="no") as primary, primary.client() as client:
        def answers(expected, *words):
            report.equal("FAILOVER " + " ".join(map(str, words)),
                         error_of(lambda: client.call("FAILOVER", *words)), expected)
        answers("ERR No failover in progress.", "ABORT")
        answers("ERR FAILOVER requires connected replicas.")
        answers("ERR syntax error", "TO", "h")
        answers("ERR FAILOVER timeout must be greater than 0", "TIMEOUT", 0)
        answers("ERR value is not an integer or out of range", "TIMEOUT", "x")
        replica = StreamReplica(primary.port)
        replica.connect()
        answers("ERR FAILOVER target HOST and PORT is not a replica.", "TO", "127.0.0.1", 1)
        answers("ERR FAILOVER with force option requires both a timeout and target host and port.", "FORCE")
        client.call("SET", "a", "1")
        report.equal("FAILOVER begins", client.call("FAILOVER", "TIMEOUT", 60_000), "OK")
        report.equal("INFO says so", info(primary)["master_failover_state"], "waiting-for-sync")
        answers("ERR FAILOVER already in progress.")
        with primary.client() as other:
            other.socket.settimeout(0.5)
            other.socket.sendall(encode(("SET", "b", "1")))
            report.check("writes wait", error_of_timeout(other.read))
            report.equal("reads do not", client.call("GET", "a"), b"1")
            report.equal("it can be aborted", client.call("FAILOVER", "ABORT"), "OK")
            other.socket.settimeout(30)
            report.equal("then writes go on", client.call("SET", "b", "2"), "OK")
        report.equal("FAILOVER with a short time", client.call("FAILOVER", "TIMEOUT", 100), "OK")
        report.check("ends by itself", wait_for(lambda: info(primary)["master_failover_state"] == "no-failover"))
        report.check("and says why", "no replica has caught up in time" in primary.log())


def error_of_timeout(call):
    try:
        call()
    except TimeoutError:
        return True
    return False


def with_login():
    with Server(appendonly="no", password="secret") as primary:
        replica = StreamReplica(primary.port)
        report.check("a replica must log in", "NOAUTH" in error_of_handshake(replica))
        report.equal("and may then", replica.connect(password="secret"), "FULLRESYNC")


def error_of_handshake(replica):
    try:
        replica.connect()
    except AssertionError:
        with replica.socket:
            replica.send("PSYNC", "?", -1)
            return replica.line().decode()
    return ""


for part in [lambda: full_and_partial("yes"), lambda: full_and_partial("no"), from_logs,
             slow_replica_reads_logs, acknowledgements, min_replicas,
             wrong_replicas, many_replicas, failover_refusals, with_login]:
    part()
report.finish()
