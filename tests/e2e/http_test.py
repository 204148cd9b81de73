#!/usr/bin/env python3
"""HTTP as clients and attackers meet it: keep-alive of a thousand requests, TLS, the other protocol
on either port, bodies of strangers, nine thousand requests that never end, clients that do not read.

tests/run: also under asan"""

import http.client
import json
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import Server, free_port  # noqa: E402
from lib.sockets import connect, is_instrumented, receive  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

HALF_REQUESTS = 2000
SECOND_HALF = 7000
HALF = b"POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nX: " + b"x" * 2000
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def api(connection, command, headers=None):
    """The status and the reply."""
    connection.request("POST", "/api", json.dumps(command), headers or {})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def talk(port, data):
    """All that is answered until the server closes."""
    with connect(port) as client:
        client.sendall(data)
        try:
            client.shutdown(socket.SHUT_WR)
        except OSError:
            return b""  # it has closed already
        return receive(client, 1 << 20)


def check_api(report, server, port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for number in range(1, 1001):
        if api(connection, ["INCR", "counter"]) != (200, number):
            report.check("a thousand requests on one connection", False, number)
            return
    report.check("a thousand requests on one connection", True)
    with server.client() as client:
        listed = client.call("CLIENT", "LIST").decode()
        report.equal("which CLIENT LIST shows", listed.count("lib-name=http"), 1)
        report.equal("what they wrote is there", client.call("GET", "counter"), b"1000")


def check_body_to_its_end(report, server, port):
    """What follows the first JSON value is no comment: nothing of such a body is run."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for rest in [b"\0", b'\0garbage["FLUSHALL"]', b'["FLUSHALL"]', b' , ["FLUSHALL"]', b"\xff", b"\xef\xbb\xbf", b"]", b"\x0c"]:
        connection.request("POST", "/api", b'["SET", "first", 1]' + rest)
        response = connection.getresponse()
        said = response.read()
        report.equal(f"a command and {rest!r}: 400", (response.status, b'"code":"ERR"' in said), (400, True))
    with server.client() as client:
        report.equal("and nothing is run", client.call("EXISTS", "first", "counter"), 1)


def check_large_body(report, port):
    """A client that sends a body that is too large gets an answer, though the server reads no more of it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    report.equal("a body of 5 MB: 413", api(connection, ["ECHO", "x" * 5_000_000])[0], 413)


def check_pipeline(report, port):
    """More than one turn takes, to a client that reads late."""
    with connect(port) as client:
        requests = 3000
        for _ in range(requests // 100):
            client.sendall(HEALTH * 100)
        client.shutdown(socket.SHUT_WR)
        answered = receive(client, 1 << 24)
        report.equal("a pipeline is answered to its end", answered.count(b"HTTP/1.1 200"), requests)


def check_wrong_protocol(report, server, port):
    report.check("RESP on the HTTP port: 400",
                 talk(port, b"*1\r\n$4\r\nPING\r\n").startswith(b"HTTP/1.1 400"))
    for attack in [b"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET stolen 1\r\n",
                   b"GET / HTTP/1.1\r\nHost: x\r\n\r\nSET stolen 1\r\n"]:
        talk(server.port, attack)
        with server.client() as client:
            report.equal("HTTP on the RESP port: nothing that follows is run",
                         client.call("EXISTS", "stolen"), 0)


def check_smuggling(report, port):
    head = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\n"
    for lines in [b"Content-Length: 5\r\nContent-Length: 50\r\n\r\n",
                  b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                  b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
                  b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                  b"Content-Length : 5\r\n\r\n", b"Transfer-Encoding:\x0bchunked\r\n\r\n",
                  b"X: 1\r\n Transfer-Encoding: chunked\r\n\r\n", b"X:\rY\r\n\r\n", b"X: 1\r\n\rZ"]:
        answered = talk(port, head + lines + HEALTH)
        report.check(f"{lines[:40]!r}: one answer, and the end",
                     answered.count(b"HTTP/1.1 ") == 1 and b" 200 " not in answered, answered)
    for version, chunks in [(b"1.0", b"8\r\n%s\r\n0\r\n\r\n"), (b"1.1", b"8;\n%s\r\n0\r\n\r\n"),
                            (b"1.1", b"8\n%s\r\n0\r\n\r\n"), (b"1.1", b"8\rX%s\r\n0\r\n\r\n"),
                            (b"1.1", b"8\r\n%sXX0\r\n\r\n"), (b"1.1", b"8\r\n%s\r\n0\r\n\rX")]:
        answered = talk(port, b"POST /api HTTP/" + version + b"\r\nHost: localhost\r\n"
                        b"Transfer-Encoding: chunked\r\n\r\n" + chunks % b'["PING"]' + HEALTH)
        report.check(f"HTTP/{version.decode()} {chunks!r}: 400, and the end",
                     answered.startswith(b"HTTP/1.1 400") and answered.count(b"HTTP/1.1 ") == 1, answered)


def check_strangers(report):
    """Who is not logged in learns it before he sends a body, and keeps no memory."""
    port = free_port()
    with Server(http_port=port) as server:
        with server.client() as client:
            client.call("CONFIG", "SET", "requirepass", "secret")
        expects = b"POST /api HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        for head, status in [(expects, b"401"), (expects.replace(b"localhost", b"evil.example"), b"421"),
                             (expects.replace(b"/api", b"/healthz"), b"405"),
                             (expects.replace(b"POST /api", b"GET /healthz"), b"413")]:
            answered = talk(port, head + b"Content-Length: 250000\r\n\r\n")
            report.check(f"a body is announced: {status.decode()}, and no 100",
                         answered.startswith(b"HTTP/1.1 " + status) and answered.count(b"HTTP/1.1 ") == 1,
                         answered)
        strangers = [connect(port) for _ in range(100)]
        # The server meets each head together with the first part of its body.
        server.process.send_signal(signal.SIGSTOP)
        for one in strangers:
            one.send(b"POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 250000\r\n\r\n"
                     + b"x" * 100_000, socket.MSG_DONTWAIT)
        server.process.send_signal(signal.SIGCONT)
        for one in strangers:
            try:
                one.sendall(b"x" * 140_000)
            except OSError:
                pass  # it has closed already
        with server.client() as client:
            client.call("AUTH", "secret")
            listed = client.call("CLIENT", "LIST").decode()
        held = sum(int(line.split("qbuf=")[1].split()[0]) for line in listed.splitlines())
        report.check("a hundred bodies of strangers take no memory", held < 1 << 20, held)
        report.check("and each is told", all(receive(one, 12) == b"HTTP/1.1 401" for one in strangers))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        report.equal("who is logged in sends what he likes",
                     api(connection, ["ECHO", "x" * 250_000], {"Authorization": "Bearer secret"}),
                     (200, "x" * 250_000))


def check_events_end(report, server, port):
    """A stream ends with the right to it."""
    with server.client() as client:
        for change in [["ACL", "SETUSER", "ann", "-info"], ["ACL", "SETUSER", "ann", "resetpass", ">other"],
                       ["ACL", "DELUSER", "ann"]]:
            client.call("ACL", "SETUSER", "ann", "reset", "on", ">pw", "+info")
            with connect(port) as listener:
                listener.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ann:pw\r\n\r\n")
                begun = receive(listener, 500)
                client.call(*change)
                ended = wait_for(lambda: b"user=ann" not in client.call("CLIENT", "LIST"))
                report.check(f"{' '.join(change)} ends the events", ended and b"event: figures" in begun, begun)


def check_places(report):
    """HTTP leaves places of maxclients to RESP."""
    port = free_port()
    with Server(http_port=port, maxclients=9) as server:
        taken = [connect(port) for _ in range(5)]
        for one in taken:
            one.sendall(HEALTH)
            receive(one, 15)
        report.check("one more than half of maxclients is refused", talk(port, b"").startswith(b"HTTP/1.1 503"))
        with server.client() as client:
            report.equal("RESP gets in", client.call("PING"), "PONG")
            taken.pop().close()
            wait_for(lambda: len(client.call("CLIENT", "LIST").splitlines()) == 5)
        report.check("a place that is free again is given", b" 200 " in talk(port, HEALTH))


def check_half_requests(report):
    """Memory follows what came, not how many wait; all are ended in time."""
    if is_instrumented():
        return
    port = free_port()
    with Server(http_port=port, maxclients=2 * (HALF_REQUESTS + SECOND_HALF + 10)) as server:
        sockets = [open_half(port) for _ in range(HALF_REQUESTS)]
        wait_for(lambda: count_clients(server) > HALF_REQUESTS)
        before = resident(server)
        begin = time.monotonic()
        sockets += [open_half(port) for _ in range(SECOND_HALF)]
        grown = (resident(server) - before) / SECOND_HALF
        report.check("a request that does not end takes less than 12 KiB", grown < 12288, grown)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        report.equal("others are served meanwhile", api(connection, ["PING"]), (200, "PONG"))
        ended = wait_for(lambda: count_clients(server) < 10)
        report.check("all are ended after ten seconds", ended, time.monotonic() - begin)
        report.check("and are told so", receive(sockets[-1], 100).startswith(b"HTTP/1.1 408"))
        for one in sockets:
            one.close()


def open_half(port):
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(HALF)
    return client


def count_clients(server):
    with server.client() as client:
        return len(client.call("CLIENT", "LIST").splitlines())


def head_size(answer):
    """Bytes of the status line and the headers."""
    return len("HTTP/1.1 200 OK\r\n\r\n") + sum(len(name) + len(value) + 4
                                               for name, value in answer.getheaders())


LARGE = 1_000_000  # with its framing a little less than a reply may have


def largest_output(client):
    """The bytes that wait for the client for whom most wait."""
    listed = client.call("CLIENT", "LIST").decode()
    return max(int(line.split("omem=")[1].split()[0]) for line in listed.splitlines())


def check_slow_readers(report):
    """Who asks for much and does not read costs the output limit, and no more."""
    port = free_port()
    limits = "normal 4mb 0 0 pubsub 1mb 0 0 replica 0 0 0"
    with Server(config=f"client-output-buffer-limit {limits}\n", http_port=port) as server:
        with server.client() as client:
            client.call("SET", "large", b"x" * LARGE)
            body = json.dumps(["GET", "large"]).encode()
            request = b"POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
            one = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            one.request("POST", "/api", body)
            answer = one.getresponse()
            whole = 20 * (len(answer.read()) + head_size(answer))
            slow = [connect(port) for _ in range(20)]
            for one in slow:
                one.sendall((request % (len(body), body)) * 20)
            events = [connect(port) for _ in range(20)]
            for one in events:
                one.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            report.check("output waits", wait_for(lambda: largest_output(client) > 0))
            report.equal("others are served meanwhile", client.call("PING"), "PONG")
            waiting = largest_output(client)
            report.check("output waits within the limit", waiting < 5 << 20, waiting)
            answered = receive(slow[0], whole)
            report.equal("who reads at last gets all", answered.count(b"x" * LARGE), 20)
            report.check("events come", b"event: figures" in receive(events[0], 600))


def check_tls(report):
    with tempfile.TemporaryDirectory() as directory:
        certificate, key = f"{directory}/cert.pem", f"{directory}/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        port = free_port()
        with Server(http_port=port, http_tls="yes", tls_cert_file=certificate, tls_key_file=key,
                    tls_auth_clients="no"):
            context = ssl.create_default_context(cafile=certificate)
            connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=30)
            report.equal("HTTPS", api(connection, ["ECHO", "x" * 100_000]), (200, "x" * 100_000))
            report.equal("plain HTTP there gets nothing", talk(port, HEALTH), b"")


def main():
    report = Report()
    port = free_port()
    with Server(http_port=port) as server:
        check_api(report, server, port)
        check_body_to_its_end(report, server, port)
        check_large_body(report, port)
        check_pipeline(report, port)
        check_wrong_protocol(report, server, port)
        check_smuggling(report, port)
        check_events_end(report, server, port)
    check_strangers(report)
    check_places(report)
    check_tls(report)
    check_slow_readers(report)
    check_half_requests(report)
    report.finish()


if __name__ == "__main__":
    main()
