"""A Redis Cluster of three primaries and three replicas with tally.so."""

import contextlib
import subprocess

from lib.module_server import Caller, module_server
from lib.server import free_port
from lib.waiting import wait_for

NODE_TIMEOUT_MS = 2000


class Cluster:
    """A context manager."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.servers = []

    def __enter__(self):
        for _ in range(6):
            server = module_server(options="", cluster_enabled="yes", cluster_node_timeout=NODE_TIMEOUT_MS,
                                   repl_diskless_sync_delay=0)
            server.port = free_port()
            self.servers.append(self.stack.enter_context(server))
        addresses = [f"127.0.0.1:{server.port}" for server in self.servers]
        self.manage("create", *addresses, "--cluster-replicas", "1", "--cluster-yes")
        if not wait_for(lambda: all(self.is_ready(server) for server in self.servers)):
            raise RuntimeError("the cluster does not come up")
        return self

    def __exit__(self, *_):
        self.stack.close()

    @property
    def port(self):
        """Of a node that lives."""
        return next(server.port for server in self.servers if server.process.poll() is None)

    def is_ready(self, server):
        caller = Caller(server.port)
        in_sync = caller.info("replication", "master_link_status") in (None, "up")
        return in_sync and "cluster_state:ok" in caller.call("CLUSTER", "INFO").decode()

    def manage(self, *words):
        """redis-cli --cluster; its output."""
        result = subprocess.run(["redis-cli", "--cluster", *map(str, words)], capture_output=True, text=True,
                                check=False, timeout=400)
        if result.returncode != 0:
            raise RuntimeError(f"redis-cli --cluster {words}:\n{result.stdout[-3000:]}{result.stderr[-1000:]}")
        return result.stdout

    def nodes_agree(self):
        result = subprocess.run(["redis-cli", "--cluster", "check", f"127.0.0.1:{self.port}"], capture_output=True,
                                text=True, check=False, timeout=60)
        return "All nodes agree" in result.stdout

    def move_slots(self, count, source, target):
        """From one primary to another."""
        names = [Caller(server.port).call("CLUSTER", "MYID").decode() for server in (source, target)]
        wait_for(self.nodes_agree)
        self.manage("reshard", f"127.0.0.1:{self.port}", "--cluster-from", names[0], "--cluster-to", names[1],
                    "--cluster-slots", count, "--cluster-yes")

    def primaries(self):
        return [server for server in self.servers if server.process.poll() is None
                and Caller(server.port).info("replication", "role") == "master"]

    def replica_of(self, primary):
        """The one replica of a primary."""
        return next(server for server in self.servers if server.process.poll() is None
                    and Caller(server.port).info("replication", "master_port") == str(primary.port))

    def call(self, key, *words):
        """At the primary that has the key's slot."""
        for server in self.primaries():
            reply = Caller(server.port).call(*words)
            if not str(reply).startswith("-MOVED"):
                return reply
        raise RuntimeError(f"nobody has {key}")
