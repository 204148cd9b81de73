#!/usr/bin/env python3
"""A primary that lies, in each way: what the replica has stays, the link ends with an error that says why, the next try
comes after a pause that grows, and nothing is left on the disk."""

import pathlib
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

HISTORY = "f" * 40
EMPTY = b"REDIS0010\xff" + bytes(8)  # an RDB without keys and without a checksum
ONE_KEY = b"REDIS0010\x00\x01k\x05value\xff" + bytes(8)
TOMORROW = b"REDIS0099\x63\x01k\x05value\xff" + bytes(8)  # with a type that nobody knows
MARK = b"0123456789abcdef0123456789abcdef01234567"
SELECT = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"


def counted(payload):
    return b"$%d\r\n" % len(payload) + payload


class Primary:
    """Answers the handshake, then sends what it is told to, and is silent. `greeting` takes the place of +PONG."""

    def __init__(self, sends, greeting=b"+PONG\r\n", answer=f"+FULLRESYNC {HISTORY} 0\r\n".encode(), endless=b""):
        self.sends, self.greeting, self.answer, self.endless = sends, greeting, answer, endless
        self.tries = []  # when each connection came
        self.ended = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True
        self.listener.close()

    def _accept(self):
        while not self.ended:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            self.tries.append(time.monotonic())
            threading.Thread(target=self._serve, args=[link], daemon=True).start()

    def _serve(self, link):
        with link:
            try:
                link.recv(65536)
                link.sendall(self.greeting)
                while b"PSYNC" not in link.recv(65536):
                    link.sendall(b"+OK\r\n")
                link.sendall(self.answer + self.sends)
                while self.endless and not self.ended:
                    link.sendall(self.endless)
                while link.recv(65536):
                    pass
            except OSError:
                pass


def ask(client, *words):
    """A reply, however long data is being loaded."""
    while True:
        try:
            return client.call(*words)
        except ReplyError as error:
            if not str(error).startswith("LOADING"):
                raise
            time.sleep(0.02)


def replication(client):
    rows = client.call("INFO", "replication").decode().splitlines()
    return dict(row.split(":", 1) for row in rows if ":" in row)


def check_refused(report, what, primary, error, data=(b"old", None)):
    """The old data is there after the error, and after a restart."""
    with primary, Server(appendonly="yes", appendfsync="always", repl_timeout="2") as server, server.client() as client:
        client.call("SET", "mine", "old")
        client.call("REPLICAOF", "127.0.0.1", primary.port)
        named = wait_for(lambda: error in replication(client).get("master_link_error", ""))
        report.check(f"{what}: the error says why", named, replication(client).get("master_link_error"))
        report.equal(f"{what}: what is there", ask(client, "MGET", "mine", "k"), list(data))
        report.check(f"{what}: no file is left", wait_for(lambda: not list(server.directory.glob("temp-*"))))
        report.check(f"{what}: it is tried again", wait_for(lambda: len(primary.tries) >= 2))
        ask(client, "REPLICAOF", "NO", "ONE")
        report.equal(f"{what}: it takes writes again", ask(client, "SET", "after", 1), "OK")
        report.equal(f"{what}: nothing is left", list(server.directory.glob("temp-*")), [])
        server.kill()
        server.start()
        with server.client() as again:
            report.equal(f"{what}: also after a restart", ask(again, "MGET", "mine", "k", "after"), [*data, b"1"])


def check_endless(report):
    """It goes to the disk, and takes no memory."""
    with Primary(b"$EOF:" + MARK + b"\r\n", endless=b"x" * 60000) as primary, Server() as server, server.client() as client:
        client.call("SET", "mine", "old")
        before = resident(server)
        client.call("REPLICAOF", "127.0.0.1", primary.port)
        many = wait_for(lambda: int(replication(client).get("master_sync_read_bytes", 0)) > 200_000_000)
        report.check("an endless payload comes", many, replication(client))
        report.check("it takes no memory", resident(server) < before + 50_000, (before, resident(server)))
        report.equal("the old data is served", client.call("GET", "mine"), b"old")
        client.call("REPLICAOF", "NO", "ONE")
        report.equal("it ends at once", list(server.directory.glob("temp-*")), [])


def resident(server):
    """KiB."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def check_pauses(report):
    with Primary(counted(TOMORROW)) as primary, Server() as server, server.client() as client:
        client.call("REPLICAOF", "127.0.0.1", primary.port)
        wait_for(lambda: len(primary.tries) >= 4)
        pauses = [after - before for before, after in zip(primary.tries, primary.tries[1:])]
        report.check("the pauses grow", pauses == sorted(pauses) and pauses[2] > 3 * pauses[0], pauses)


def check_loops(report):
    with Server() as one, Server() as other, one.client() as client, other.client() as there:
        client.call("REPLICAOF", "127.0.0.1", one.port)
        itself = wait_for(lambda: "is this server itself" in replication(client).get("master_link_error", ""))
        report.check("a server that follows itself says so", itself, replication(client))
        client.call("REPLICAOF", "127.0.0.1", other.port)
        there.call("REPLICAOF", "127.0.0.1", one.port)
        for asked in (client, there):
            waits = wait_for(lambda: "NOMASTERLINK" in replication(asked).get("master_link_error", ""))
            report.check("two that follow one another wait", waits, replication(asked))
        there.call("REPLICAOF", "NO", "ONE")
        there.call("SET", "k", 1)
        report.check("until one of them is the primary",
                     wait_for(lambda: replication(client)["master_link_status"] == "up"), replication(client))
        report.check("which the other one follows", wait_for(lambda: client.call("GET", "k") == b"1"))


def main():
    report = Report()
    check_refused(report, "no answer of Redis", Primary(b"", greeting=b"HTTP/1.1 400 Bad Request\r\n"), "HTTP/1.1")
    check_refused(report, "a line without end", Primary(b"", greeting=b"+" * 8000), "without end")
    check_refused(report, "no history", Primary(b"", answer=b"+FULLRESYNC x 0\r\n"), "PSYNC")
    check_refused(report, "it goes on with what is not there", Primary(b"", answer=b"+CONTINUE x y\r\n"), "PSYNC")
    check_refused(report, "a payload of no length", Primary(b"$x\r\n"), "announces its data")
    check_refused(report, "a version of tomorrow", Primary(counted(TOMORROW)), "a value of type 99")
    check_refused(report, "no RDB at all", Primary(counted(b"hello")), "temp-replica.rdb")
    check_refused(report, "a length that is too short", Primary(b"$5\r\n" + ONE_KEY), "temp-replica.rdb")
    check_refused(report, "a length that is too long", Primary(b"$500\r\n" + ONE_KEY), "silent")
    check_refused(report, "a mark that does not come", Primary(b"$EOF:" + MARK + b"\r\n" + ONE_KEY), "silent")
    check_refused(report, "more behind the end of the RDB", Primary(counted(ONE_KEY + b"more")), "follows the end")
    check_refused(report, "a changed byte", Primary(counted(ONE_KEY[:-8] + b"12345678")), "checksum")
    taken = (None, b"value")
    check_refused(report, "garbage in the stream", Primary(counted(ONE_KEY) + b"hello\r\n"), "no command", taken)
    check_refused(report, "a length of the stream that lies", Primary(counted(ONE_KEY) + SELECT + b"*1\r\n$9999999999\r\n"),
                  "more than", taken)
    check_refused(report, "a database that is not here",
                  Primary(counted(ONE_KEY) + SELECT.replace(b"$1\r\n0", b"$2\r\n77")), "database 77", taken)
    check_refused(report, "a transaction in a transaction", Primary(counted(ONE_KEY) + b"*1\r\n$5\r\nMULTI\r\n" * 2),
                  "transaction", taken)
    check_refused(report, "a stream that stops", Primary(counted(ONE_KEY) + SELECT), "silent", taken)
    check_endless(report)
    check_pauses(report)
    check_loops(report)
    report.finish()


main()
