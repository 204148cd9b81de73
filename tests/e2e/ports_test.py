#!/usr/bin/env python3
"""CONFIG SET bind and port, beside redis-server: the new address serves, the old one does not, connections stay, and
an address that cannot be opened changes nothing.
"""

import contextlib
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient  # noqa: E402
from lib.server import Server, free_port, tallyd  # noqa: E402


def serves(port, host="127.0.0.1"):
    try:
        with contextlib.closing(socket.create_connection((host, port), timeout=5)) as probe:
            probe.sendall(b"PING\r\n")
            return probe.recv(7) == b"+PONG\r\n"
    except OSError:
        return False


def set_config(client, *pairs):
    try:
        return client.call("CONFIG", "SET", *pairs)
    except ReplyError as error:
        return str(error).partition(" - ")[0]


def moves(binary):
    """What a client sees at each step."""
    steps = []
    with Server(binary, protected_mode="no") as server, server.client() as client:
        old, new, taken = server.port, free_port(), socket.socket()
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        def step(name, *pairs):
            reply = set_config(client, *pairs)
            steps.append((name, reply, client.call("PING"), serves(old), serves(new), serves(old, "127.0.0.2")))

        step("another port", "port", new)
        step("the same again", "port", new)
        step("back", "port", old)
        step("a port that is taken", "port", taken.getsockname()[1])
        step("one that is no port", "port", 65536)
        step("another address", "bind", "127.0.0.2")
        step("both", "bind", "127.0.0.1 127.0.0.2")
        step("all", "bind", "*")
        step("an address of another machine", "bind", "192.0.2.1")
        step("one that may be missing", "bind", "127.0.0.1 -192.0.2.1")
        step("both settings", "bind", "127.0.0.2", "port", new)
        step("and back, one of them wrong", "bind", "127.0.0.1", "port", taken.getsockname()[1])
        step("none", "port", 0)
        step("one again", "bind", "127.0.0.1", "port", old)
        with RespClient(old) as other:
            steps.append(("the setting is told", other.call("CONFIG", "GET", "port") == [b"port", b"%d" % old]))
        taken.close()
    return steps


def check_http(report):
    with Server(http_port=free_port()) as server, server.client() as client:
        port = free_port()
        report.equal("http-port moves too", client.call("CONFIG", "SET", "http-port", port), "OK")
        with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=5)) as page:
            page.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            report.check("and serves there", page.recv(12).endswith(b"200"))
        report.equal("TLS without a certificate is refused",
                     set_config(client, "tls-port", free_port()).partition(" (")[0], "ERR CONFIG SET failed")
        report.check("which closes nothing", serves(server.port))


def main():
    report = Report()
    for ours, theirs in zip(moves(tallyd()), moves("redis-server"), strict=True):
        report.equal(ours[0], ours, theirs)
    check_http(report)
    report.finish()


main()
