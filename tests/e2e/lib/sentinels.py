"""A primary, its replica, three Sentinels that watch them, and writers that ask these where the primary is."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from lib.resp import ReplyError, RespClient
from lib.server import Server, die_with_parent, free_port
from lib.waiting import wait_for

NAME = "group"
COUNT = 3
QUORUM = 2

# More than a busy machine keeps a process from running: what did not run for that long is down to the Sentinels, and
# they replace it again. It is also more than the second after which they open their connections again that Valkey's
# close at the end of a failover.
DOWN_AFTER_MS = 3000
CONFIG = "# kept by CONFIG REWRITE\n"


class Sentinels:
    """A context manager. `command` is the server that has a Sentinel in it: redis-server or valkey-server."""

    def __init__(self, command, primary_port):
        self.command = command
        # A Sentinel waits for the disk at each change of its configuration: in memory it waits for none.
        memory = pathlib.Path("/dev/shm")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="e2e-sentinels-", dir=memory if memory.is_dir() else None))
        self.ports = [free_port() for _ in range(COUNT)]
        self.processes = []
        for port in self.ports:
            self._configuration(port).write_text(
                f"port {port}\nbind 127.0.0.1\ndir {self.directory}\n"
                f"sentinel monitor {NAME} 127.0.0.1 {primary_port} {QUORUM}\n"
                f"sentinel down-after-milliseconds {NAME} {DOWN_AFTER_MS}\n"
                f"sentinel failover-timeout {NAME} 10000\nsentinel parallel-syncs {NAME} 1\n")

    def _configuration(self, port):
        return self.directory / f"sentinel-{port}.conf"

    def __enter__(self):
        for port in self.ports:
            with open(self.directory / f"log-{port}", "ab") as log:
                self.processes.append(subprocess.Popen(
                    [self.command, str(self._configuration(port)), "--sentinel"], stdin=subprocess.DEVNULL, stdout=log,
                    stderr=log, preexec_fn=die_with_parent))
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def log(self):
        return "\n".join(f"{path.name}:\n{path.read_text(errors='replace')[-3000:]}"
                         for path in sorted(self.directory.glob("log-*")))

    def ask(self, *arguments, sentinel=0):
        """None while that Sentinel cannot answer."""
        with contextlib.suppress(OSError, ReplyError), RespClient(self.ports[sentinel], timeout=5) as client:
            return client.call("SENTINEL", *arguments)

    def order(self, *arguments):
        """As ask; an error is raised."""
        with RespClient(self.ports[0]) as client:
            return client.call("SENTINEL", *arguments)

    def primary_port(self, sentinel=0):
        address = self.ask("GET-MASTER-ADDR-BY-NAME", NAME, sentinel=sentinel)
        return int(address[1]) if address else None

    def fields(self, *arguments):
        rows = self.ask(*arguments) or []
        return {rows[i].decode(): rows[i + 1].decode() for i in range(0, len(rows), 2)}

    def replicas(self):
        return [dict(zip([word.decode() for word in row[::2]], [word.decode() for word in row[1::2]]))
                for row in self.ask("REPLICAS", NAME) or []]

    def know_each_other(self, replicas):
        """Waits until each Sentinel knows the others, and the first one has replicas that it would promote."""
        def ready():
            for sentinel in range(COUNT):
                rows = self.ask("MASTER", NAME, sentinel=sentinel) or []
                fields = dict(zip(rows[::2], rows[1::2]))
                if fields.get(b"num-other-sentinels") != b"%d" % (COUNT - 1) or fields.get(b"flags") != b"master":
                    return False
            known = self.replicas()
            return len(known) == replicas and all(
                row["flags"] == "slave" and row["master-link-status"] == "ok" for row in known)
        return wait_for(ready)

    def agree_on(self, port):
        """Waits until all name this primary."""
        return wait_for(lambda: all(self.primary_port(sentinel) == port for sentinel in range(COUNT)))


def info(server):
    """The fields of INFO replication; none while the server cannot answer: a Sentinel that promotes one closes the
    connections of its clients."""
    try:
        with server.client() as client:
            lines = client.call("INFO", "replication").decode().split("\r\n")
    except (OSError, ReplyError):
        return {}
    return dict(line.split(":", 1) for line in lines if ":" in line)


def follows(replica, primary):
    """Waits until it is a replica of the other, with the link up."""
    def linked():
        fields = info(replica)
        return (fields.get("role") == "slave" and fields["master_port"] == str(primary.port)
                and fields["master_link_status"] == "up")
    return wait_for(linked)


def is_primary(server):
    """Waits until it is one. An election without a winner is repeated after twice the failover-timeout."""
    return wait_for(lambda: info(server).get("role") == "master")


class Pair:
    """A context manager: a primary, its replica, and the Sentinels that know both."""

    def __init__(self, binary, sentinel, **directives):
        # Not how the disk does is tested here: redis-server waits for it before it writes, and would seem dead.
        directives = {"appendonly": "yes", "appendfsync": "no", "repl_diskless_sync_delay": 0,
                      "repl_timeout": 60} | directives
        self.servers = [Server(binary=binary, config=CONFIG, **directives) for _ in range(2)]
        self.primary, self.replica = self.servers
        self.sentinel = sentinel
        self.sentinels = None

    def __enter__(self):
        for server in self.servers:
            server.start()
        with self.replica.client() as client:
            client.call("REPLICAOF", "127.0.0.1", self.primary.port)
        self.linked = follows(self.replica, self.primary)
        self.sentinels = Sentinels(self.sentinel, self.primary.port)
        self.sentinels.__enter__()
        return self

    def __exit__(self, *_):
        self.sentinels.__exit__()
        for server in self.servers:
            server.close()

    def swap(self):
        self.primary, self.replica = self.replica, self.primary


class Writer(threading.Thread):
    """Adds members of its own to a set, one after the other, and keeps those that were acknowledged. It asks a
    Sentinel for the primary whenever its connection ends or its writes are refused."""

    def __init__(self, sentinels, number):
        super().__init__(daemon=True)
        self.sentinels = sentinels
        self.number = number
        self.acknowledged = []  # (member, when, the port that did)
        self.stopped = False
        self.errors = set()

    def run(self):
        n = 0
        while not self.stopped:
            port = self.sentinels.primary_port(self.number % COUNT)
            with contextlib.suppress(OSError, ReplyError, TypeError):
                with RespClient(port, timeout=1) as client:
                    while not self.stopped:
                        n += 1
                        member = f"{self.number}:{n}"
                        try:
                            client.call("SADD", f"members:{self.number}", member)
                        except ReplyError as error:
                            self.errors.add(str(error).split()[0])
                            raise
                        self.acknowledged.append((member, time.monotonic(), port))
            time.sleep(0.02)

    def stop(self):
        self.stopped = True
        self.join()

    def lost(self, port):
        """The acknowledged members that the server at that port does not hold."""
        with RespClient(port) as client:
            members = [member for member, _, _ in self.acknowledged]
            held = client.pipeline(["SISMEMBER", f"members:{self.number}", member] for member in members)
        return [member for member, is_held in zip(members, held) if not is_held]


class Writers:
    """A context manager: some writers at once."""

    def __init__(self, sentinels, count=8):
        self.writers = [Writer(sentinels, number) for number in range(count)]

    def __enter__(self):
        for writer in self.writers:
            writer.start()
        return self

    def __exit__(self, *_):
        for writer in self.writers:
            writer.stop()

    def count(self):
        return sum(len(writer.acknowledged) for writer in self.writers)

    def wait_for_more(self, count=200):
        """Waits until each writer has had some more of its writes acknowledged."""
        before = [len(writer.acknowledged) for writer in self.writers]
        return wait_for(lambda: all(len(writer.acknowledged) >= length + count
                                    for writer, length in zip(self.writers, before)))

    def stop(self):
        for writer in self.writers:
            writer.stop()

    def lost(self, port):
        return sum(len(writer.lost(port)) for writer in self.writers)

    def pause_after(self, instant):
        """Seconds from the instant to the first write that was acknowledged by another server than before it."""
        old = {port for writer in self.writers for _, when, port in writer.acknowledged if when <= instant}
        return min((when for writer in self.writers for _, when, port in writer.acknowledged
                    if when > instant and port not in old), default=float("inf")) - instant

    def longest_pause(self):
        """Seconds between two writes that were acknowledged, by whichever writer."""
        instants = sorted(when for writer in self.writers for _, when, _ in writer.acknowledged)
        return max((later - earlier for earlier, later in zip(instants, instants[1:])), default=float("inf"))
