"""Servers to measure, started on free loopback ports, and a client for them: that of the tests."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from lib.resp import ReplyError, RespClient, encode  # noqa: E402

OURS = ROOT / "build/release/bin/tallyd"
REDIS = "redis-server"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def batches(commands, size):
    """The commands encoded, `size` at a time: (bytes, number of replies)."""
    pending = []
    for command in commands:
        pending.append(encode(command))
        if len(pending) == size:
            yield b"".join(pending), size
            pending.clear()
    if pending:
        yield b"".join(pending), len(pending)


class Client(RespClient):
    def __init__(self, port, timeout=120):
        super().__init__(port, timeout)

    def load(self, commands, batch=2000):
        """Sends many commands in pipelines; any error reply raises."""
        self.send_batches(batches(commands, batch))

    def send_batches(self, encoded):
        for request, replies in encoded:
            self.socket.sendall(request)
            for _ in range(replies):
                self.read()

    def info(self, field):
        for line in self.call("INFO").decode().splitlines():
            if line.startswith(field + ":"):
                return line.split(":", 1)[1]
        raise KeyError(field)


def cpu_of(pid):
    """Nanoseconds on a CPU of all threads of the process so far."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            total += int((task / "schedstat").read_text().split()[0])
    return total


class Server:
    """A running server with its own directory, stopped and removed by close()."""

    def __init__(self, name, binary, *options):
        self.name = name
        self.port = free_port()
        self.directory = tempfile.mkdtemp(prefix="tally-bench-")
        self.arguments = [str(binary), "--port", str(self.port), "--bind", "127.0.0.1",
                          "--dir", self.directory, "--save", "", "--appendonly", "no", *options]
        self.start()

    def start(self, seconds=10):
        """Starts the process on what is in its directory and waits until that is loaded."""
        with open(pathlib.Path(self.directory, "server.log"), "ab") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=log)
        self.client = self.connect(seconds)

    def stop(self):
        """Ends the process as an operator does; the directory stays."""
        self.client.close()
        self.process.terminate()
        self.process.wait(60)

    def connect(self, seconds=10):
        deadline = time.monotonic() + seconds
        while True:
            try:
                client = Client(self.port)
                client.call("PING")
                return client
            except (OSError, ReplyError) as error:
                if isinstance(error, ReplyError) and not str(error).startswith("LOADING"):
                    raise
                if self.process.poll() is not None or time.monotonic() > deadline:
                    log = pathlib.Path(self.directory, "server.log").read_text(errors="replace")
                    self.close()
                    raise SystemExit(f"{self.name} did not start:\n{log}") from None
                time.sleep(0.02)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def cpu_ns(self):
        return cpu_of(self.process.pid)

    def rss(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("no VmRSS")

    def used_memory(self):
        return int(self.client.info("used_memory"))


@contextlib.contextmanager
def running(name, binary, *options):
    server = Server(name, binary, *options)
    try:
        yield server
    finally:
        server.close()


def add_server_arguments(parser):
    parser.add_argument("--ours", default=str(OURS), help="path of tallyd")
    parser.add_argument("--redis", default=REDIS, help="path of redis-server")


def table(header, rows):
    """Rows of strings as aligned text, the first column to the left."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row):
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        return "  ".join(cells).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, rows)])
