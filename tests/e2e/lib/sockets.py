"""Sockets that read when the test says so, and a server's descriptors."""

import pathlib
import resource
import socket
import ssl

from lib.resp import encode
from lib.server import Server

MIB = 1 << 20
WAIT_SECONDS = 30


def connect(port, buffer=4096):
    """A socket whose kernel buffer is small, so that output waits in the server."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.settimeout(WAIT_SECONDS)
    client.connect(("127.0.0.1", port))
    return client


def receive(client, size):
    """So many bytes, or those before the end."""
    parts = []
    while size > 0:
        try:
            part = client.recv(min(size, MIB))
        except (ConnectionError, ssl.SSLError):
            break
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def is_instrumented():
    """A sanitizer's allocator keeps what was freed, and its checks need descriptors of their own."""
    with Server() as server, server.client() as client:
        return b"mem_allocator:jemalloc" not in client.call("INFO", "memory")


def descriptors(server):
    return [int(path.name) for path in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()]


def set_descriptors(server, limit):
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, hard))


def cpu_ticks(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def first_reply(client):
    client.sendall(encode(["PING"]))
    return client.recv(100)
