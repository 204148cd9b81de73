#!/usr/bin/env python3
"""What HTTP costs.

CPU: the server's time on a CPU for one LIMIT.TAKE, by POST /api on 50 connections that are kept (wrk, a
package of Debian) and by RESP on 50 connections at pipeline 1 (redis-benchmark), in turns. The goal is
2.5 times RESP's.

Latency: p99 of PING by RESP, alone and beside 500 slow HTTP clients: 250 that send their requests a few
bytes at a time, and 250 that read large responses so. The best round of each counts, since what else
runs on the machine only adds. The slow clients take time of the machine themselves: how much is seen
where they talk to another server. The goal is 1.2 times.
"""

import argparse
import contextlib
import csv
import io
import json
import pathlib
import re
import select
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import harness

CONNECTIONS = 50
CPU_GOAL = 2.5
LATENCY_GOAL = 1.2
# Those of redis-benchmark by default, and so few that a client's own time is a large part.
PING_CONNECTIONS = (50, 4)
PINGS = 100_000
SLOW = 500
LARGE = 1 << 20
# Until the first responses have filled the buffers of the sockets.
SETTLED_SECONDS = 4
COMMAND = ["LIMIT.TAKE", "key", "FIXED", "1000000000", "1h"]
SCRIPT = """wrk.method = "POST"
wrk.path = "/api"
wrk.body = '%s'
wrk.headers["Content-Type"] = "application/json"
"""


def cpu_by_http(server, http_port, seconds):
    """Microseconds for one request."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT % json.dumps(COMMAND))
        script.flush()
        before = server.cpu_ns()
        done = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script.name,
                               f"http://127.0.0.1:{http_port}"], capture_output=True, text=True,
                              check=True).stdout
        spent = server.cpu_ns() - before
    if "Non-2xx" in done or "Socket errors" in done:
        raise SystemExit(done)
    return spent / int(re.search(r"(\d+) requests in", done).group(1)) / 1000


def cpu_by_resp(server, requests):
    before = server.cpu_ns()
    subprocess.run(["redis-benchmark", "-p", str(server.port), "-c", str(CONNECTIONS), "-n",
                    str(requests), "-q", *COMMAND], capture_output=True, check=True)
    return (server.cpu_ns() - before) / requests / 1000


def ping_p99(server, connections):
    """Milliseconds."""
    done = subprocess.run(["redis-benchmark", "-p", str(server.port), "-c", str(connections), "-n",
                           str(PINGS), "-t", "ping_mbulk", "--csv"], capture_output=True, text=True,
                          check=True)
    row = next(csv.DictReader(io.StringIO(done.stdout)))
    return float(row["p99_latency_ms"])


class SlowClients(threading.Thread):
    """Half of them send a request three bytes at a time, the others read 4 KiB of a response, each
    about twice a second."""

    def __init__(self, port):
        super().__init__(daemon=True)
        body = json.dumps(["GET", "large"]).encode()
        self.request = (b"POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                        % (len(body), body))
        self.port = port
        self.writers = [self.writer() for _ in range(SLOW // 2)]
        self.readers = [self.reader(port) for _ in range(SLOW // 2)]
        self.stopped = threading.Event()

    def writer(self):
        """A socket, and how much of the request it has sent."""
        return [socket.create_connection(("127.0.0.1", self.port)), 0]

    def write(self, writer):
        """Begins anew where the server has ended the request, after ten seconds."""
        try:
            writer[0].send(self.request[writer[1]:writer[1] + 3])
            writer[1] += 3
        except OSError:
            writer[0].close()
            writer[:] = self.writer()

    def reader(self, port):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        client.sendall(self.request * 10)
        return client

    def run(self):
        pause = 0.5 / SLOW
        while not self.stopped.is_set():
            for writer, reader in zip(self.writers, self.readers):
                self.write(writer)
                time.sleep(pause)
                if select.select([reader], [], [], 0)[0]:
                    reader.recv(4096)
                time.sleep(pause)

    def stop(self):
        self.stopped.set()
        self.join()
        for client in [writer for writer, _ in self.writers] + self.readers:
            client.close()


def measure_cpu(server, http_port, rounds, seconds):
    pairs = [(cpu_by_resp(server, 60_000 * seconds), cpu_by_http(server, http_port, seconds))
             for _ in range(rounds)]
    resp = statistics.median(pair[0] for pair in pairs)
    http = statistics.median(pair[1] for pair in pairs)
    print(harness.table(["LIMIT.TAKE, 50 connections", "us of CPU"],
                        [["RESP, pipeline 1", f"{resp:.2f}"], ["POST /api, keep-alive", f"{http:.2f}"],
                         ["HTTP / RESP", f"{http / resp:.2f}"], ["goal", f"{CPU_GOAL:.2f}"]]))


def ping_beside(server, http_port, connections):
    """The p99 of `server` while slow clients talk to the port, which may be another server's."""
    slow = SlowClients(http_port)
    slow.start()
    time.sleep(SETTLED_SECONDS)
    p99 = ping_p99(server, connections)
    slow.stop()
    return p99


def measure_latency(server, http_port, other_http_port, connections, rounds):
    alone, elsewhere, beside = [], [], []
    for _ in range(rounds):
        alone.append(ping_p99(server, connections))
        elsewhere.append(ping_beside(server, other_http_port, connections))
        beside.append(ping_beside(server, http_port, connections))
    print(harness.table([f"PING, {connections} connections", "p99 ms", "ratio"],
                        [["alone", f"{min(alone):.3f}", ""],
                         [f"{SLOW} slow HTTP clients at another server", f"{min(elsewhere):.3f}",
                          f"{min(elsewhere) / min(alone):.2f}"],
                         [f"beside {SLOW} slow HTTP clients", f"{min(beside):.3f}",
                          f"{min(beside) / min(alone):.2f}"],
                         ["goal", "", f"{LATENCY_GOAL:.2f}"]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=str(harness.OURS), help="path of tallyd")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="of each load by HTTP")
    arguments = parser.parse_args()
    ports = [harness.free_port() for _ in range(2)]
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(harness.running("tallyd", pathlib.Path(arguments.ours),
                                                       "--http-port", str(port)))
                   for port in ports]
        measure_cpu(servers[0], ports[0], arguments.rounds, arguments.seconds)
        for server in servers:
            server.client.call("SET", "large", b"x" * LARGE)
        for connections in PING_CONNECTIONS:
            print()
            measure_latency(servers[0], *ports, connections, arguments.rounds)


if __name__ == "__main__":
    main()
