"""redis-server with tally.so, and replies of any protocol as they came."""

import os
import pathlib

from lib.resp import ReplyError, RespClient, encode
from lib.server import Server, tallyd


def module_path():
    """The module to test: $TALLY_MODULE, or the one beside the tallyd that is tested."""
    default = pathlib.Path(tallyd()).parent.parent / "lib/tally.so"
    path = pathlib.Path(os.environ.get("TALLY_MODULE", default)).resolve()
    if not path.exists():
        raise SystemExit(f"no module to test: {path}")
    return path


def module_server(options="debug-clock yes", config="", **directives):
    """A Server that has loaded the module: redis-server, or another one that $MODULE_SERVER names."""
    binary = os.environ.get("MODULE_SERVER", "redis-server")
    directives.setdefault("enable_debug_command", "yes")
    text = f"loadmodule {module_path()} {options}\n{config}"
    return Server(binary=binary, config=text, **directives)


class RawClient(RespClient):
    """Replies with their types: (kind, bytes) or (kind, [replies])."""

    def read(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind in b"$=":
            return kind, self._read_bulk(int(rest))
        if kind in b"*~>%":
            if rest == b"-1":
                return kind, None
            count = int(rest) * (2 if kind == b"%" else 1)
            return kind, [self.read() for _ in range(count)]
        return kind, rest

    def send(self, commands):
        self.socket.sendall(b"".join(map(encode, commands)))


class Caller(RespClient):
    """Errors are replies that begin with '-'."""

    def read(self):
        try:
            return super().read()
        except ReplyError as error:
            return f"-{error}"

    def info(self, section, field):
        text = self.call("INFO", section).decode()
        return next((line.split(":")[1] for line in text.split("\r\n") if line.startswith(field + ":")), None)
