"""A server under test: its own port and directory, gone when the test is gone."""

import contextlib
import ctypes
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from lib.resp import ReplyError, RespClient

ROOT = pathlib.Path(__file__).resolve().parents[3]
START_SECONDS = 30
PR_SET_PDEATHSIG = 1


def tallyd():
    """The binary to test: $TALLYD, or the release build. redis-server passes the same suites."""
    path = os.environ.get("TALLYD", str(ROOT / "build/release/bin/tallyd"))
    found = shutil.which(path)
    if found is None:
        raise SystemExit(f"no server to test: {path}")
    return os.path.abspath(found)


def build_directory(name):
    """Where a suite puts what it builds and downloads; kept between runs."""
    path = ROOT / "build/e2e" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def die_with_parent():
    """Runs in the child before exec: a test that is killed leaves no server behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


# A name for each port that this process was given: no other test gets it while this one runs.
reserved = []


def free_port():
    """A port below those that the kernel gives to outgoing connections, which another suite may be making. The port
    10,000 above it, which a cluster's node listens at too, is also below them."""
    while True:
        port = random.SystemRandom().randrange(10_000, 20_000)
        name = socket.socket(socket.AF_UNIX)
        with socket.socket() as probe, contextlib.suppress(OSError):
            name.bind(f"\0tallyd-test-port-{port}")
            probe.bind(("127.0.0.1", port))
            reserved.append(name)
            return port
        name.close()


class Server:
    """A context manager. `directives` become command line options: appendonly="yes" is --appendonly yes.
    With `config` there is a configuration file too, which begins with that text."""

    def __init__(self, binary=None, password=None, config=None, **directives):
        self.binary = binary or tallyd()
        self.config = config
        self.password = password
        # Nothing is kept unless a test asks for it.
        self.directives = {"save": "", "appendonly": "no"}
        self.directives |= {name.replace("_", "-"): value for name, value in directives.items()}
        if password is not None:
            self.directives["requirepass"] = password
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="e2e-"))
        self.port = free_port()
        self.addresses = ["127.0.0.1"]
        self.wrapper = []  # a program that runs the server, with its arguments
        self.words = []  # of the command line, beside the directives
        self.process = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        """Starts the server on the data it left and waits until it serves."""
        self.launch()
        deadline = time.monotonic() + START_SECONDS
        while not self._serves():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.binary} does not serve:\n{self.log()}")
            time.sleep(0.02)

    def launch(self):
        """Starts the server and does not wait."""
        arguments = [*self.wrapper, self.binary]
        if self.config is not None:
            path = self.directory / "server.conf"
            if not path.exists():
                path.write_text(self.config)
            arguments.append(str(path))
        arguments += ["--port", str(self.port), "--bind", *self.addresses, "--dir", str(self.directory)]
        for name, value in self.directives.items():
            arguments += ["--" + name, str(value)]
        arguments += self.words
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd=self.directory,
                                            preexec_fn=die_with_parent)

    def kill(self):
        """kill -9: what the server had not handed to the kernel is lost."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """SIGTERM; returns the exit status."""
        self.process.terminate()
        return self.process.wait(timeout=START_SECONDS)

    def client(self):
        client = RespClient(self.port)
        if self.password is not None:
            client.call("AUTH", self.password)
        return client

    def log(self):
        return (self.directory / "log").read_text(errors="replace")

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _serves(self):
        try:
            with self.client() as client:
                return client.call("PING") == "PONG"
        except ReplyError as error:
            if str(error).startswith("LOADING"):
                return False
            raise
        except OSError:
            return False
