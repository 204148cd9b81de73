#!/usr/bin/env python3
"""What an operator meets: LOADING after a restart, the log switched on and off, clients and logs that are not read, --ping."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient, encode  # noqa: E402
from lib.server import Server  # noqa: E402

KEYS = 500_000  # whose load takes longer than a client to come
WAIT_SECONDS = 30


def answers(client, *commands):
    """The replies to commands that are sent together, an error as its text."""
    replies = []
    client.socket.sendall(b"".join(map(encode, commands)))
    for _ in commands:
        try:
            replies.append(client.read())
        except ReplyError as error:
            replies.append(str(error))
    return replies


def connect_early(server):
    """The first connection that a starting server takes."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return RespClient(server.port)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.001)


def check_loading(report):
    with Server(appendonly="yes", appendfsync="no", enable_debug_command="yes") as server:
        with server.client() as client:
            client.pipeline(("SET", f"key:{i}", i) for i in range(KEYS))
        server.stop()
        server.launch()
        with connect_early(server) as client:
            refused = [("GET", "key:1"), ("SET", "key:1", "x"), ("PING",), ("BGREWRITEAOF",)]
            served = [("CLIENT", "SETNAME", "early"), ("ECHO", "still here"), ("INFO", "persistence")]
            disturbing = [("CONFIG", "SET", "appendonly", "no"), ("DEBUG", "RELOAD")]
            told = answers(client, *refused, *served, *disturbing)
            loading = "LOADING Redis is loading the dataset in memory"
            report.equal("commands on data are told LOADING", told[:4], [loading] * 4)
            report.equal("other commands are served", told[4:6], ["OK", b"still here"])
            report.check("INFO says how far it is", b"loading:1\r\n" in told[6]
                         and b"loading_total_bytes:" in told[6], told[6])
            report.check("what would disturb the load is refused",
                         all("is being loaded" in text for text in told[7:]), told[7:])
            deadline = time.monotonic() + WAIT_SECONDS
            while answers(client, ("PING",)) == [loading] and time.monotonic() < deadline:
                time.sleep(0.01)
            report.equal("all is loaded", client.call("DBSIZE"), KEYS)
            report.equal("and served", client.call("GET", f"key:{KEYS - 1}"), b"%d" % (KEYS - 1))
            report.check("replay is not counted as calls",
                         b"cmdstat_set:calls=0," in client.call("INFO", "commandstats"))


def check_switching(report):
    with Server(appendonly="no") as server:
        with server.client() as client:
            client.call("SET", "before", 1)
            report.equal("CONFIG SET appendonly yes", client.call("CONFIG", "SET", "appendonly", "yes"), "OK")
            client.call("SET", "after", 1)
            client.call("INCR", "before")
        server.kill()
        server.directives["appendonly"] = "yes"
        server.start()
        with server.client() as client:
            report.equal("what was there before and after is kept", client.call("MGET", "before", "after"),
                         [b"2", b"1"])
            report.equal("CONFIG SET appendonly no", client.call("CONFIG", "SET", "appendonly", "no"), "OK")
            client.call("SET", "unlogged", 1)
            report.check("INFO says so", b"aof_enabled:0" in client.call("INFO", "persistence"))
            report.equal("and on again", client.call("CONFIG", "SET", "appendonly", "yes"), "OK")
            client.call("SET", "logged", 1)
        server.kill()
        server.start()
        with server.client() as client:
            report.equal("all four keys are kept", client.call("DBSIZE"), 4)


def lazy_reader(server, *command):
    """A client that has sent a command and takes hardly any reply."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", server.port))
    client.sendall(encode(command))
    return client


def wait_for_subscriber(client):
    deadline = time.monotonic() + WAIT_SECONDS
    while client.call("PUBSUB", "NUMSUB", "news")[1] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)


def closed_by_server(server, client, name):
    deadline = time.monotonic() + WAIT_SECONDS
    with server.client() as other:
        while time.monotonic() < deadline:
            if name not in other.call("CLIENT", "LIST").decode():
                return True
            time.sleep(0.02)
    client.close()
    return False


def check_output_limits(report):
    with Server() as server, server.client() as client:
        report.equal("limits", client.call("CONFIG", "SET", "client-output-buffer-limit",
                                           "pubsub 10mb 4mb 1 normal 64mb 0 0"), "OK")
        with lazy_reader(server, "SUBSCRIBE", "news") as reader:
            wait_for_subscriber(client)
            name = "%s:%d" % reader.getsockname()
            for _ in range(40):
                client.call("PUBLISH", "news", "x" * 500_000)
            report.check("a subscriber beyond the hard limit is closed", closed_by_server(server, reader, name))
        with lazy_reader(server, "SUBSCRIBE", "news") as reader:
            wait_for_subscriber(client)
            name = "%s:%d" % reader.getsockname()
            for _ in range(20):
                client.call("PUBLISH", "news", "x" * 500_000)
                if name not in client.call("CLIENT", "LIST").decode():
                    break
            report.check("a subscriber beyond the soft limit for its time is closed",
                         closed_by_server(server, reader, name))
        report.equal("INFO counts both", stat(client, "client_output_buffer_limit_disconnections"), 2)


def check_max_clients(report):
    with Server(maxclients="2") as server, server.client():
        served = 0
        for _ in range(50):
            with server.client() as client:
                served += client.call("PING") == "PONG"
        report.equal("a client that left makes room at once", served, 50)
        with server.client(), server.client() as third:
            report.equal("one too many is told so", answers(third, ("PING",)), ["ERR max number of clients reached"])


def ping(server, port):
    """What --ping says of a port: its exit status, its text and the seconds it took."""
    start = time.monotonic()
    done = subprocess.run([server.binary, "--ping", "--bind", "127.0.0.1", "--port", str(port)],
                          capture_output=True, timeout=WAIT_SECONDS, text=True)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - start


def check_ping(report):
    with Server() as server:
        report.equal("--ping of a server that serves", ping(server, server.port)[:2], (0, "+PONG\n"))
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            code, text, seconds = ping(server, silent.getsockname()[1])
        report.equal("--ping of one that takes connections and says nothing fails", code, 1)
        report.check("after five seconds", seconds >= 5 and "no answer" in text, (seconds, text))


def check_unread_log(report):
    """A log that goes to a pipe whose reader has stopped: what runs the server in a container, or less."""
    server = Server()
    path = server.directory / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    server.directives["logfile"] = path
    with server, server.client() as client:
        for _ in range(1000):
            answers(client, ("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE"))
        report.equal("a server whose log nobody reads answers", answers(client, ("PING",)), ["PONG"])
        os.read(reader, 1 << 20)
        answers(client, ("REPLICAOF", "127.0.0.1", "1"))
        text = os.read(reader, 1 << 20).decode()
        lost = re.search(r"# Nobody read the log: (\d+) messages were lost", text)
        report.check("and says how much of it was lost", lost and int(lost[1]) > 500, text)
    os.close(reader)


def stat(client, name):
    rows = dict(row.split(":", 1) for row in client.call("INFO", "stats").decode().split("\r\n") if ":" in row)
    return int(rows[name])


def main():
    report = Report()
    check_loading(report)
    check_switching(report)
    check_output_limits(report)
    check_max_clients(report)
    check_ping(report)
    check_unread_log(report)
    report.finish()


main()
