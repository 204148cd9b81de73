#!/usr/bin/env python3
"""`redis-cli --rdb`: whoever says REPLCONF rdb-only 1 before SYNC is sent all data as an RDB, of the moment at which it
is begun, while the server serves; then the connection ends. Redis starts with that file. A Redis that wants to be a
replica is told that it cannot be one."""

import pathlib
import shutil
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from lib.redis_data import contents, fill, same  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, encode  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

WAIT_SECONDS = 60
COUNTERS = 20
report = Report()


def redis_cli(server, *words):
    done = subprocess.run(["redis-cli", "-p", str(server.port), *words], capture_output=True, text=True,
                          timeout=WAIT_SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def started_with(path, binary=None):
    server = Server(binary=binary)
    shutil.copy(path, server.directory / "dump.rdb")
    return server


def error_of(call):
    try:
        call()
        return ""
    except (ReplyError, ConnectionError) as error:
        return str(error)


def info(server):
    with server.client() as client:
        return dict(line.split(":", 1) for line in client.call("INFO", "replication").decode().split("\r\n") if ":" in line)


def asks(server, *words):
    """A connection that has asked for an RDB."""
    client = server.client()
    client.call("REPLCONF", "rdb-only", "1")
    client.socket.sendall(encode(words))
    return client


def line_of(client):
    """The next line that is not empty: empty ones say that the server still works on it."""
    line = b""
    while line in (b"", b"\r\n", b"\n"):
        line = client.stream.readline()
        if not line:
            raise ConnectionError("closed")
    return line.rstrip(b"\r\n")


def rdb_of(client):
    head = line_of(client)
    assert head[:1] == b"$", head
    body = client.stream.read(int(head[1:]))
    return body, client.stream.read()


def check_redis_cli(appendonly):
    with Server(appendonly=appendonly) as old:
        fill(old, 40)
        expected = contents(old)
        path = old.directory / "got.rdb"
        code, said = redis_cli(old, "--rdb", str(path))
        report.check(f"redis-cli --rdb, appendonly {appendonly}", code == 0 and "success" in said, said)
        for name, binary in {"redis-server": "redis-server", "tallyd": None}.items():
            with started_with(path, binary) as server:
                same(report, f"{name} starts with it", contents(server), expected)
        report.equal("nothing is left in dir", [p.name for p in old.directory.iterdir() if "temp" in p.name], [])
        report.check("the link has ended", wait_for(lambda: info(old)["connected_slaves"] == "0"))
        code, said = redis_cli(old, "--functions-rdb", str(old.directory / "functions.rdb"))
        report.check("there are no functions to be had", code == 1 and "rdb-filter-only" in said, said)
        report.equal("its data has not changed", contents(old), expected)


def check_empty():
    with Server() as server:
        body, rest = rdb_of(asks(server, "SYNC"))
        report.check("no data is an RDB too", body.startswith(b"REDIS0010") and rest == b"", (body, rest))
        client = asks(server, "PSYNC", "?", "-1")
        head = line_of(client)
        report.check("PSYNC is told of a full sync", head.startswith(b"+FULLRESYNC ") and len(head.split()) == 3, head)
        report.check("and gets the RDB", rdb_of(client)[0].startswith(b"REDIS0010"))


def check_under_load():
    with Server() as old:
        with old.client() as client:
            client.pipeline(["SET", f"key:{n}", "v" * 40] for n in range(100_000))
        stop = threading.Event()
        done = [0]

        def load():
            with old.client() as client:
                while not stop.is_set():
                    count = done[0] + 1
                    client.pipeline([["MULTI"], *(["SET", f"together:{n}", count] for n in range(COUNTERS)), ["EXEC"]])
                    done[0] = count

        loader = threading.Thread(target=load)
        loader.start()
        try:
            wait_for(lambda: done[0] > 10)
            for _ in range(3):
                before = done[0]
                takers = [asks(old, "SYNC") for _ in range(4)]
                for body, rest in map(rdb_of, takers):
                    path = old.directory / "got.rdb"
                    path.write_bytes(body)
                    report.equal("nothing follows it", rest, b"")
                    with started_with(path, "redis-server") as server, server.client() as client:
                        counters = set(client.call("MGET", *(f"together:{n}" for n in range(COUNTERS))))
                        report.check("it is of one moment", len(counters) == 1, counters)
                        report.check("which came after it was asked for", int(counters.pop()) >= before)
                        report.equal("and has everything", client.call("DBSIZE"), 100_000 + COUNTERS)
        finally:
            stop.set()
            loader.join()


def check_bad_takers():
    with Server(repl_timeout=2) as server:
        with server.client() as client:
            client.pipeline(["SET", f"key:{n}", f"{n}:" * 500] for n in range(20_000))
        idle = asks(server, "SYNC")
        report.check("one that does not read is dropped", wait_for(lambda: "taken nothing for repl-timeout" in server.log(), 30))
        idle.close()
        talks = asks(server, "SYNC")
        talks.socket.sendall(encode(("REPLCONF", "rdb-only", "0")))
        report.check("one that talks meanwhile is dropped", wait_for(lambda: "in the middle of its data" in server.log()))
        talks.close()
        asks(server, "SYNC").close()
        report.check("all are forgotten", wait_for(lambda: info(server)["connected_slaves"] == "0"))
        with server.client() as client:
            refusal = error_of(lambda: client.call("SYNC"))
            report.check("SYNC alone is told how to ask", "rdb-only 1" in refusal, refusal)
            report.equal("rdb-only is 0 or 1", error_of(lambda: client.call("REPLCONF", "rdb-only", "2")),
                         "ERR value is out of range")
            client.call("REPLCONF", "rdb-only", "1")
            client.call("REPLCONF", "rdb-only", "0")
            report.check("it can be taken back", "only a tallyd" in error_of(lambda: client.call("SYNC")))
        blocked = server.directory / "temp-sent.rdb.temp"
        report.check("an RDB for somebody who is gone is removed", wait_for(lambda: not list(server.directory.glob("temp-*"))))
        (blocked / "in the way").mkdir(parents=True)
        answer = line_of(asks(server, "SYNC"))
        report.check("what cannot be written is said", answer.startswith(b"-ERR the RDB cannot be written: "), answer)
        code, said = redis_cli(server, "--rdb", str(server.directory / "got.rdb"))
        report.check("redis-cli shows it", code == 1 and "cannot be written" in said, said)
        shutil.rmtree(blocked)
        report.check("the next one gets it", len(rdb_of(asks(server, "SYNC"))[0]) > 100_000)


def check_left_over():
    with Server() as server:
        server.kill()
        for name in ("temp-sent.rdb", "temp-sent.rdb.temp", "temp-replica.rdb"):
            (server.directory / name).write_bytes(b"REDIS0010")
        server.start()
        report.check("what a kill -9 left is removed", wait_for(lambda: not list(server.directory.glob("temp-*"))))


def check_redis_as_replica():
    """It would not know the commands that follow, so it is refused, and keeps what it has."""
    with Server() as primary, Server(binary="redis-server") as replica, replica.client() as client:
        client.call("SET", "own", "1")
        client.call("REPLICAOF", "127.0.0.1", primary.port)
        report.check("a redis-server is told why it cannot be a replica",
                     wait_for(lambda: "only a tallyd can be a replica" in replica.log()), replica.log())
        report.equal("it keeps its data", client.call("GET", "own"), b"1")
        report.equal("and is not counted", info(primary)["connected_slaves"], "0")


check_redis_cli("no")
check_redis_cli("yes")
check_empty()
check_under_load()
check_bad_takers()
check_left_over()
check_redis_as_replica()
report.finish()
