"""A RESP2 client of a few lines, so that what a suite checks is not read through the client it tests."""

import socket


class ReplyError(Exception):
    """An error reply."""


class RespClient:
    """Blocking. A status is a str, a bulk string bytes, an integer int, an array list, null None."""

    def __init__(self, port, timeout=30):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stream.close()
        self.socket.close()

    def call(self, *arguments):
        self.socket.sendall(encode(arguments))
        return self.read()

    def pipeline(self, commands):
        """The replies of all commands, in their order."""
        commands = list(commands)
        replies = []
        for start in range(0, len(commands), 500):
            batch = commands[start:start + 500]
            self.socket.sendall(b"".join(map(encode, batch)))
            replies += [self.read() for _ in batch]
        return replies

    def scan(self, *options):
        """Every key once, in no order."""
        keys, cursor = set(), b"0"
        while True:
            cursor, page = self.call("SCAN", cursor, *options)
            keys.update(page)
            if cursor == b"0":
                return keys

    def read(self):
        """The next reply."""
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            raise ReplyError(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return self._read_bulk(int(rest))
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise ValueError(f"not RESP2: {line!r}")

    def _read_bulk(self, size):
        if size < 0:
            return None
        data = self.stream.read(size + 2)
        if len(data) != size + 2 or not data.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        return data[:-2]


def encode(arguments):
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        if not isinstance(argument, bytes):
            argument = str(argument).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(argument), argument))
    return b"".join(parts)
