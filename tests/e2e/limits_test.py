#!/usr/bin/env python3
"""Clients that take more than their share: what others feel of them, and what they cost in memory."""

import pathlib
import resource
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient, encode  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

MIB = 1 << 20
PIPELINE = 1_000_000
READERS = 200
CONNECTIONS = 10_000


def rss(server):
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS")


def cpu_ms(server):
    """What the server's first thread, which serves, has had of a CPU."""
    pid = server.process.pid
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


def pings(client, server, seconds):
    """What the server works until a PING is answered, one each millisecond: in ms of its CPU time, sorted. The
    time on the clock would also say how busy the machine is with other things."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        start = cpu_ms(server)
        client.call("PING")
        times.append(cpu_ms(server) - start)
        time.sleep(0.001)
    return sorted(times)


def percentile(times, share):
    return times[min(len(times) - 1, int(len(times) * share))]


def info(client):
    return dict(row.split(":", 1) for row in client.call("INFO").decode().split("\r\n") if ":" in row)


def drain(client):
    while client.recv(MIB):
        pass


def check_long_pipeline(report):
    with Server() as server, server.client() as client:
        client.pipeline(("SET", f"key:{i}", i) for i in range(20_000))
        calm = pings(client, server, 1)
        greedy = socket.create_connection(("127.0.0.1", server.port))
        requests = [encode(["INCR", "n"]) * (PIPELINE // 100), encode(["KEYS", "none*"]) * 10] * 100
        threads = [threading.Thread(target=greedy.sendall, args=(b"".join(requests),), daemon=True),
                   threading.Thread(target=drain, args=(greedy,), daemon=True)]
        for thread in threads:
            thread.start()
        times = pings(client, server, 1)
        report.note(f"        ms of CPU before a PING: alone p99 {percentile(calm, 0.99):.2f} max {calm[-1]:.2f}, "
                    f"beside a pipeline of a million p99 {percentile(times, 0.99):.2f} max {times[-1]:.2f}")
        report.check("a pipeline of a million commands, slow ones among them, does not starve others",
                     percentile(times, 0.99) < 20, times[-20:])
        report.check("it was still running", int(client.call("GET", "n")) > 0)
        greedy.shutdown(socket.SHUT_RDWR)
        greedy.close()


def check_readers(report):
    with Server() as server, server.client() as client:
        client.call("SET", "value", "x" * 10_000)
        request = encode(["GET", "value"]) * 2000
        before = rss(server)
        readers = []
        for _ in range(READERS):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", server.port))
            reader.setblocking(False)
            readers.append(reader)
        sizes = []
        for _ in range(6):
            for reader in readers:
                try:
                    reader.send(request)
                except BlockingIOError:
                    pass
            time.sleep(0.3)
            sizes.append(rss(server))
        report.note(f"        {READERS} clients that never read, {READERS * 2000 * 10_000 // MIB} MiB of replies asked "
                    f"for: RSS {before // MIB} MiB before, then " + ", ".join(str(size // MIB) for size in sizes))
        report.check("clients that never read take little memory", sizes[-1] - before < 200 * MIB)
        report.check("and no more as they ask for more", sizes[-1] - sizes[1] < 20 * MIB)
        filling, sent = [], -1
        while (now_sent := int(info(client)["total_net_output_bytes"])) > sent + MIB:
            sent = now_sent
            filling += pings(client, server, 0.5)
        report.note(f"        ms of CPU before a PING: p99 {percentile(sorted(filling), 0.99):.2f} while the kernel "
                    f"takes {sent // MIB} MiB for them")
        calm = pings(client, server, 0.5)
        report.check("others do not wait for them", percentile(calm, 0.99) < 20, calm[-5:])
        for reader in readers:
            reader.close()


def check_maxmemory(report):
    with Server(maxmemory="50mb", maxmemory_policy="allkeys-lru") as server, server.client() as client:
        # A key's last use is kept in seconds, and a fast machine writes a million keys in one.
        for begin in range(0, 1_000_000, 200_000):
            time.sleep(1.1)
            client.call("GET", "key:0")
            client.pipeline(("SET", f"key:{i}", "x" * 100) for i in range(begin, begin + 200_000))
        rows = info(client)
        used, size = int(rows["used_memory"]), rss(server)
        report.note(f"        maxmemory 50 MiB: {used / MIB:.1f} MiB used, RSS {size / MIB:.1f} MiB, "
                    f"{client.call('DBSIZE')} keys of 100 bytes kept, {rows['evicted_keys']} evicted")
        report.check("maxmemory is held, and used", 40 * MIB < used < 51 * MIB, used)
        report.check("the youngest keys are there",
                     sum(client.pipeline(("EXISTS", f"key:{i}") for i in range(800_000, 1_000_000))) == 200_000)
        report.equal("the oldest are not", client.call("EXISTS", "key:1", "key:2", "key:3"), 0)
        report.equal("but the one that is used", client.call("EXISTS", "key:0"), 1)
        client.call("CONFIG", "SET", "maxmemory", "20mb")
        report.check("a lower limit is reached without commands",
                     wait_for(lambda: int(info(client)["used_memory"]) < 21 * MIB))
        client.call("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", "1mb")
        try:
            client.call("SET", "a", 1)
            report.check("noeviction refuses", False)
        except ReplyError as error:
            report.check("noeviction refuses", str(error).startswith("OOM command not allowed"), error)


def check_client_memory(report):
    with Server(maxmemory_clients="1mb") as server, server.client() as client, server.client() as kept:
        kept.call("CLIENT", "NO-EVICT", "on")
        value = "x" * 60_000  # copied into each reply; a longer one is shared
        client.call("SET", "value", value)
        hoarders = []
        for _ in range(100):
            hoarder = socket.socket()
            hoarder.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            hoarder.connect(("127.0.0.1", server.port))
            hoarder.sendall(encode(["GET", "value"]) * 100)
            hoarders.append(hoarder)
        report.check("clients beyond maxmemory-clients are closed",
                     wait_for(lambda: int(info(client)["evicted_clients"]) > 10))
        report.equal("but not all", kept.call("PING"), "PONG")
        for hoarder in hoarders:
            hoarder.close()


def check_query_limit(report):
    with Server(client_query_buffer_limit="2mb") as server, server.client() as client:
        endless = socket.create_connection(("127.0.0.1", server.port))
        closed = False
        try:
            endless.sendall(b"*2\r\n$3\r\nGET\r\n$100000000\r\n")
            for _ in range(100):
                endless.sendall(b"x" * 100_000)
            closed = endless.recv(1) == b""
        except OSError:
            closed = True
        report.check("a request that does not end is cut at client-query-buffer-limit", closed)
        report.check("INFO counts it",
                     b"client_query_buffer_limit_disconnections:1\r\n" in client.call("INFO", "stats"))
        endless.close()


def check_connections(report):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + 1000
    if hard != resource.RLIM_INFINITY and hard < wanted:
        return report.skip(f"{CONNECTIONS} connections: ulimit -n is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    with Server(maxclients=CONNECTIONS + 10) as server, server.client() as client:
        before = rss(server)
        clients = [RespClient(server.port) for _ in range(CONNECTIONS)]
        clients[-1].call("PING")  # the kernel connects; the server accepts them in this order, a little later
        report.equal("all are connected", b"connected_clients:%d\r\n" % (CONNECTIONS + 1)
                     in client.call("INFO", "clients"), True)
        each = (rss(server) - before) / CONNECTIONS
        idle = pings(client, server, 1)
        # A tenth of them at a time ask for something.
        for one in clients[::10]:
            one.socket.sendall(encode(["INCR", "n"]))
        busy = pings(client, server, 1)
        right = sum(isinstance(one.read(), int) for one in clients[::10])
        report.note(f"        {CONNECTIONS} connections, {each:.0f} bytes each; ms of CPU before a PING: p99 "
                    f"{percentile(idle, 0.99):.2f} while they idle, {percentile(busy, 0.99):.2f} after 1,000 requests")
        report.equal("each of 1,000 at once is answered", right, CONNECTIONS // 10)
        report.check("others do not wait", percentile(idle, 0.99) < 20 and percentile(busy, 0.99) < 20)
        for one in clients:
            one.close()


def main():
    report = Report()
    check_long_pipeline(report)
    check_maxmemory(report)
    check_readers(report)
    check_client_memory(report)
    check_query_limit(report)
    check_connections(report)
    report.finish()


main()
