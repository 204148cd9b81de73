#!/usr/bin/env python3
"""Limits in front of a real backend by /check: nginx, Caddy and HAProxy with the configurations of
conf/examples, of which only the ports are changed. Of many requests at once exactly those that the
policy allows reach the backend, and the others are told when to come again. Without a decision each does
soon what the one line of its example says. What visitors send as their key is counted as it is, or refused."""

import concurrent.futures
import contextlib
import http.client
import http.server
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import ROOT, START_SECONDS, Server, die_with_parent, free_port  # noqa: E402

EXAMPLES = ROOT / "conf/examples"
REQUESTS = 60
ALLOWED = 25
CONCURRENT = 12
# What a browser says to the application, and tallyd must not judge.
BROWSERS = {"Authorization": "Bearer of-the-application", "Origin": "https://shop.example",
            "Sec-Fetch-Site": "cross-site"}
MOST_LINES = 30
ANSWER_SECONDS = 10
SOON_SECONDS = 1  # of a machine that does other things too; the examples wait 50 ms
# The line that lets a request pass without a decision, and what its comment says to write to answer 503.
OPEN_AND_CLOSED = {
    "nginx": ("{ proxy_pass http://127.0.0.1:9000; }", "{ return 503; }"),
    "caddy": ("\t\treverse_proxy 127.0.0.1:9000", "\t\trespond 503"),
    "haproxy": ("presetenv FAIL_OPEN true", "presetenv FAIL_OPEN false"),
}
# What gives tallyd's password, in the place of what.
WITH_PASSWORD = {
    "nginx": ("proxy_set_header Host localhost;",
              'proxy_set_header Host localhost; proxy_set_header Authorization "Bearer of-tallyd";'),
    "caddy": ("header_up -Authorization", 'header_up Authorization "Bearer of-tallyd"'),
    "haproxy": ('["host"] = {"localhost"}',
                '["host"] = {"localhost"}, ["authorization"] = {"Bearer of-tallyd"}'),
}
# What makes the visitor's X-Api-Key the key, in the place of the address.
WITH_API_KEY = {
    "nginx": ("X-Limit-Key $remote_addr", "X-Limit-Key $http_x_api_key"),
    "caddy": ("{remote_host}", "{http.request.header.X-Api-Key}"),
    "haproxy": ("txn.f:src()", 'txn.sf:req_fhdr("x-api-key")'),
}
# Keys that are counted as the bytes that they are.
COUNTED = [b"abc", b"abc&cost=0", b"abc&deny=429", b"abc&deny=200", b"abc&key=other", b"abc&take=other", b"%zz", b"%",
           b"%00", b"%61bc", b"a b", b"a+b", b"a#b", b"a?b", b"a,b", b"a;b", b"a: b", b'"quoted"', b"'", b"\\", b"$limit",
           b"{remote_host}", b"%[src]", b"\xff\xfe", "\u00e9".encode(), b"AND", b"POLICY", b"a\tb", b"k" * 5000]
# Keys that are none; how a proxy refuses them is its own affair. None: the field is missing.
REFUSED = [None, b"", b" ", b"\t", b"a\0b", b"a\x01b", b"a\x7fb", b"a\rb", b"k" * 9000, b"k" * 15000,
           b"k" * 17000, b"k" * 70000]
# What each makes of a field that comes twice; of nginx before 1.23 and since.
OF_TWO = {"nginx": [b"one", b"one, two"], "caddy": [b"one,two"], "haproxy": [b"two"]}
# What a visitor adds so that something else is counted.
ADDED = [b"X-Limit-Key: other%d", b"X-Limit-Key:", b"X-Limit-Key: other%d\r\nX-Limit-Key: more%d", b"X-Limit-Key-2: other%d",
         b"X_Limit_Key: other%d", b"X-Limit-Key-: other%d", b"x-limit-key : other%d", b"Connection: X-Limit-Key",
         b"Connection: X-Api-Key, X-Limit-Key", b"Connection: close, host, x-limit-key", b"X-Forwarded-For: 10.0.0.%d",
         b"X-Original-URL: /%d?key=other&cost=0", b"Expect: other%d", b"Authorization: Bearer other%d",
         b"Transfer-Encoding: other%d", b"X-HTTP-Method-Override: other%d", b"Cookie: " + b"c" * 12000,
         b"\r\n".join(b"X-%d: x" % n for n in range(120))]
LONG_BODY = b"x=1&" * 80_000
# The backend takes so long. One that answers as soon as it has a body may have its answer cut by Caddy 2.6, with tallyd or
# without: its writer then still looks whether the body ends there, finds it closed, and ends the connection.
BACKEND_SECONDS = 0.2
FILES = {"nginx": ["nginx.conf"], "caddy": ["Caddyfile"], "haproxy": ["haproxy.cfg", "haproxy.lua"]}
class Backend(http.server.ThreadingHTTPServer):
    """Counts what reaches it, and answers some paths with 403 of its own."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.port = self.server_address[1]
        self.requests = 0
        self.connections = []
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, request, client_address):
        self.connections.append(request)
        super().process_request(request, client_address)

    def shut(self):
        """The proxies keep connections, which end too."""
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_):
        """A proxy may close a connection that it keeps at any time."""


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with self.server.lock:
            self.server.requests += 1
        self.send_response(403 if self.path == "/forbidden" else 200)
        body = " ".join(self.headers.get(name, "none") for name in BROWSERS).encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        """Answers with the body."""
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self.read_chunk, b""))
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(BACKEND_SECONDS)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def read_chunk(self):
        chunk = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return chunk

    def log_message(self, *_):
        pass


def nginx(directory):
    example = directory / "nginx.conf"
    whole = directory / "whole.conf"
    whole.write_text(f"daemon off; pid {directory}/pid; error_log {directory}/error.log;\n"
                     "events {}\nhttp {\naccess_log off;\n"
                     f"client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;\n"
                     f"fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi;\n"
                     f"scgi_temp_path {directory}/scgi; include {example};\n}}\n")
    return ["nginx", "-e", str(directory / "error.log"), "-c", str(whole)]


def caddy(directory):
    whole = directory / "whole"
    whole.write_text(f"{{\n\tadmin off\n}}\nimport {directory}/Caddyfile\n")
    return ["caddy", "run", "--config", str(whole), "--adapter", "caddyfile"]


def haproxy(directory):
    return ["haproxy", "-db", "-f", str(directory / "haproxy.cfg")]


PROXIES = {"nginx": nginx, "caddy": caddy, "haproxy": haproxy}


class Proxy:
    """One of them, with the examples, in front of the backend. Of the examples each pair of `changes` is changed."""

    def __init__(self, name, tallyd_port, backend_port, changes=()):
        self.port = free_port()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="e2e-proxy-"))
        self.directory.chmod(0o755)
        ports = {"8379": tallyd_port, "8080": self.port, "9000": backend_port}
        for example in EXAMPLES.iterdir():
            if example.is_file():
                whole = example.read_text()
                for old, new in [*changes, ("abns@tallyd", f"abns@tallyd-{self.port}")]:
                    whole = whole.replace(old, new)
                text = re.sub(r"(?<=:)(8379|8080|9000)\b", lambda m: str(ports[m.group(0)]),
                              whole)
                (self.directory / example.name).write_text(text)
        environment = dict(os.environ, HOME=str(self.directory), XDG_DATA_HOME=str(self.directory))
        self.log = open(self.directory / "log", "wb")
        self.process = subprocess.Popen(PROXIES[name](self.directory), cwd=self.directory,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=environment, preexec_fn=die_with_parent)

    def __enter__(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                http.client.HTTPConnection("127.0.0.1", self.port, timeout=5).connect()
                return self
            except OSError:
                time.sleep(0.05)
        raise RuntimeError((self.directory / "log").read_text(errors="replace"))

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=START_SECONDS)
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def get(self, path="/", headers=None):
        return self.ask("GET", path, headers or {})

    def ask(self, method, path, headers, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        connection.request(method, path, body=body, headers=headers)
        try:
            response = connection.getresponse()
        except TimeoutError:
            return None, {}, "no answer"
        body = response.read().decode()
        connection.close()
        return response.status, response.headers, body


def check_burst(report, name, proxy, backend):
    """Exactly the allowed number passes, however many ask at once."""
    before = backend.requests
    with concurrent.futures.ThreadPoolExecutor(CONCURRENT) as pool:
        answers = list(pool.map(lambda _: proxy.get(), range(REQUESTS)))
    passed = [headers for status, headers, _ in answers if status == 200]
    denied = [headers for status, headers, _ in answers if status == 429]
    report.equal(f"{name}: {ALLOWED} of {REQUESTS} pass", (len(passed), len(denied)),
                 (ALLOWED, REQUESTS - ALLOWED))
    report.equal(f"{name}: and reach the backend", backend.requests - before, ALLOWED)
    left = sorted(int(re.search(r";r=(\d+)", headers["RateLimit"]).group(1)) for headers in passed)
    report.equal(f"{name}: each is told what is left", left, list(range(ALLOWED)))
    report.equal(f"{name}: of which policy",
                 {headers["RateLimit-Policy"] for headers in passed + denied},
                 {f'"web";q={ALLOWED};w=3600'})
    waits = {int(headers["Retry-After"]) for headers in denied}
    report.check(f"{name}: the others are told when to come again",
                 all(3000 < wait <= 3600 for wait in waits), waits)


def check_browser(report, name, proxy):
    """What a browser says reaches the application."""
    status, _, body = proxy.get(headers=BROWSERS | {"Host": "shop.example"})
    report.equal(f"{name}: a browser's request passes", (status, body),
                 (200, " ".join(BROWSERS.values())))
    status, _, _ = proxy.get("/forbidden")
    report.equal(f"{name}: a 403 of the backend stays one", status, 403)


def check_bodies(report, name, proxy, client):
    """A request's body reaches the backend whole, and tallyd is not confused by it: neither by its
    length, nor by what it says."""
    client.call("DEL", "127.0.0.1")
    for what, body in (("a short body", b"x=1"), ("an empty body", b""),
                       ("a body of 300 KiB", bytes(range(32, 127)) * 3200),
                       ("a body that is a request", b"POST /api HTTP/1.1\r\nHost: localhost\r\n"
                                                    b"Content-Length: 12\r\n\r\n[\"FLUSHALL\"]")):
        status, _, answer = proxy.ask("POST", "/", {}, body)
        report.check(f"{name}: {what} reaches the backend", (status, answer) == (200, body.decode()),
                     (status, answer[:80]))
    status, _, answer = proxy.ask("POST", "/", {}, iter([b"one ", b"two"]))
    report.equal(f"{name}: a chunked body reaches the backend", (status, answer), (200, "one two"))
    [[_, _, used, *_]] = client.call("LIMIT.SHOW", "127.0.0.1")
    report.equal(f"{name}: each of them counts once", used, 5)


def status_of(proxy, target, lines):
    """The status of one request with these lines, which may be no HTTP; 0 if there is no answer."""
    head = b"".join(line + b"\r\n" for line in [b"GET " + target + b" HTTP/1.1", b"Host: shop.example", *lines])
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=ANSWER_SECONDS) as client:
        answered = b""
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            client.sendall(head + b"\r\n")
        with contextlib.suppress(ConnectionError):
            while b"\r\n" not in answered and (part := client.recv(65536)):
                answered += part
    return int(answered[9:12]) if answered.startswith(b"HTTP/1.") else 0


def check_visitors_keys(report, name, proxy, client, backend):
    """One request for each key: a second one is denied, and nothing passes uncounted."""
    client.call("POLICY.SET", "web", "FIXED", 1, "1h")
    for key in COUNTED:
        client.call("FLUSHALL")
        before = backend.requests
        statuses = [status_of(proxy, b"/?cost=0&deny=200", [b"X-Api-Key: " + key]) for _ in range(3)]
        report.equal(f"{name}: the key {key[:20]!r} is counted", (statuses, backend.requests - before), ([200, 429, 429], 1))
        report.equal(f"{name}: as it is", client.call("KEYS", "*"), [key])
    client.call("FLUSHALL")
    status = status_of(proxy, b"/", [b"X-Api-Key: one", b"X-Api-Key: two"])
    found = client.call("KEYS", "*")
    report.check(f"{name}: of two keys one is counted", status == 200 and len(found) == 1 and found[0] in OF_TWO[name],
                 (status, found))
    client.call("FLUSHALL")
    for key in REFUSED:
        before = backend.requests
        statuses = {status_of(proxy, b"/", [] if key is None else [b"X-Api-Key: " + key]) for _ in range(2)}
        shown = "none" if key is None else repr(key[:9]) + (f" ({len(key)} bytes)" if len(key) > 9 else "")
        report.check(f"{name}: the key {shown} is refused",
                     all(status == 0 or 400 <= status < 500 for status in statuses) and backend.requests == before, statuses)
    report.equal(f"{name}: and nothing is counted", client.call("DBSIZE"), 0)


def check_additions(report, name, proxy, client, backend, key):
    """Where the limit is used up nothing that a visitor adds lets him pass."""
    client.call("POLICY.SET", "web", "FIXED", 1, "1h")
    client.call("FLUSHALL")
    own = [b"X-Api-Key: real"]
    report.equal(f"{name}: one passes", status_of(proxy, b"/", own), 200)
    before = backend.requests
    for number, added in enumerate(ADDED):
        line = added.replace(b"%d", str(number).encode())
        status = status_of(proxy, b"/?key=other&cost=0", own + line.split(b"\r\n"))
        report.check(f"{name}: {line[:40]!r} does not let pass", status == 0 or 400 <= status < 502, status)
    report.equal(f"{name}: none of them reached the backend", backend.requests - before, 0)
    report.equal(f"{name}: nor counted for anyone else", client.call("KEYS", "*"), [key])


def check_never(report, name, proxy, client):
    """Where no wait would help none is named."""
    client.call("POLICY.SET", "web", "FIXED", 0, "1h")
    status, headers, _ = proxy.get()
    report.equal(f"{name}: what can never be allowed has no Retry-After", (status, headers.get("Retry-After")), (429, None))
    report.check(f"{name}: but a limit", 'q=0' in headers.get("RateLimit-Policy", ""), str(headers))
    client.call("POLICY.SET", "web", "SLIDING", ALLOWED, "1h")
    client.call("FLUSHALL")


def check_nginx_arguments(report, port, backend, client):
    """$arg_… is empty in the request that auth_request makes, as http.md says; what `set` kept is not. And
    two keys are one decision."""
    client.call("POLICY.SET", "web", "FIXED", 1, "1h")
    client.call("POLICY.SET", "user", "FIXED", 2, "1h")
    client.call("FLUSHALL")
    key = WITH_API_KEY["nginx"][0]
    with Proxy("nginx", port, backend.port, [(key, "X-Limit-Key $arg_user")]) as proxy:
        report.equal("nginx: $arg_user is empty there", status_of(proxy, b"/?user=ann", []), 400)
    kept = [(key, "X-Limit-Key $user"), ("auth_request /limit;", "set $user $arg_user; auth_request /limit;")]
    with Proxy("nginx", port, backend.port, kept) as proxy:
        statuses = [status_of(proxy, b"/?user=" + user, []) for user in (b"ann", b"ann", b"b%20b&x=", b"")]
        report.equal("nginx: a variable that was set before is not", statuses, [200, 429, 200, 400])
        report.equal("nginx: and has the bytes of the query", sorted(client.call("KEYS", "*")), [b"ann", b"b%20b"])
    client.call("FLUSHALL")
    two = [("/check/web?deny=403", "/check?take=web&take=user&deny=403"),
           (key, "X-Limit-Key-2 $http_x_user; proxy_set_header X-Limit-Key $http_x_api_key")]
    with Proxy("nginx", port, backend.port, two) as proxy:
        asked = [(b"a", b"ann"), (b"a", b"ann"), (b"b", b"ann"), (b"c", b"ann"), (b"c", b"bob"), (b"", b"cid"), (b"d", b"")]
        statuses = [status_of(proxy, b"/", [b"X-Api-Key: " + one, b"X-User: " + other]) for one, other in asked]
        report.equal("nginx: two keys, all or nothing", statuses, [200, 429, 200, 429, 200, 400, 400])


def check_example(report, name):
    lines = [len((EXAMPLES / file).read_text().splitlines()) for file in FILES[name]]
    report.check(f"{name}: the example is short", max(lines) <= MOST_LINES, lines)
    text = "".join((EXAMPLES / file).read_text() for file in FILES[name])
    report.equal(f"{name}: one line says what happens without a decision", text.count(OPEN_AND_CLOSED[name][0]), 1)


def undecided(server, client):
    """Each way in which there is no decision, while it lasts."""
    client.call("CONFIG", "SET", "requirepass", "of-tallyd")
    yield "with a wrong password"
    client.call("CONFIG", "SET", "requirepass", "")
    client.call("ACL", "SETUSER", "default", "-limit.take")
    yield "without the right"
    client.call("ACL", "SETUSER", "default", "+limit.take")
    client.call("POLICY.DEL", "web")
    yield "with a policy that there is not"
    client.call("POLICY.SET", "web", "SLIDING", ALLOWED, "1h")
    server.process.send_signal(signal.SIGSTOP)
    yield "while tallyd does not answer"
    server.process.send_signal(signal.SIGCONT)
    server.kill()
    yield "while tallyd does not run"


def check_undecided(report, name, server, client, proxies, backend):
    """Proxies by the status that their line gives."""
    for what in undecided(server, client):
        for expected, proxy in proxies.items():
            before = backend.requests
            start = time.monotonic()
            status, _, _ = proxy.get()
            seconds = time.monotonic() - start
            report.equal(f"{name}, {expected} {what}", (status, backend.requests - before),
                         (expected, 1 if expected == 200 else 0))
            report.check(f"{name}, {expected} {what}: soon", seconds < SOON_SECONDS, seconds)
            status, _, answer = proxy.ask("POST", "/", {}, LONG_BODY)
            if expected == 200:
                report.equal(f"{name}: {what} a body passes whole", (status, answer.encode() == LONG_BODY), (200, True))
    backend.shut()
    statuses = {expected: proxy.get()[0] for expected, proxy in proxies.items()}
    report.check(f"{name}: a backend that is down too is an error", min(statuses.values()) >= 500, statuses)


def check_password(report, name, proxy, client):
    client.call("DEL", "127.0.0.1")
    client.call("CONFIG", "SET", "requirepass", "of-tallyd")
    status, headers, _ = proxy.get()
    report.check(f"{name}: with the password there are decisions",
                 status == 200 and "RateLimit" in headers, (status, str(headers)))
    client.call("CONFIG", "SET", "requirepass", "")


def main():
    report = Report()
    for name in PROXIES:
        check_example(report, name)
        port = free_port()
        backend = Backend()
        with Server(http_port=port) as server, server.client() as client:
            client.call("POLICY.SET", "web", "SLIDING", ALLOWED, "1h")
            with (Proxy(name, port, backend.port) as proxy,
                  Proxy(name, port, backend.port, [OPEN_AND_CLOSED[name]]) as closed,
                  Proxy(name, port, backend.port, [WITH_API_KEY[name]]) as with_api_key,
                  Proxy(name, port, backend.port, [WITH_PASSWORD[name]]) as with_password):
                check_visitors_keys(report, name, with_api_key, client, backend)
                check_additions(report, f"{name} by the visitor's key", with_api_key, client, backend, b"real")
                check_additions(report, f"{name} by address", proxy, client, backend, b"127.0.0.1")
                check_never(report, name, proxy, client)
                check_burst(report, name, proxy, backend)
                client.call("DEL", "127.0.0.1")
                check_browser(report, name, proxy)
                check_bodies(report, name, proxy, client)
                check_password(report, name, with_password, client)
                if name == "nginx":
                    check_nginx_arguments(report, port, backend, client)
                    client.call("POLICY.SET", "web", "SLIDING", ALLOWED, "1h")
                check_undecided(report, name, server, client, {200: proxy, 503: closed}, backend)
    report.finish()


if __name__ == "__main__":
    main()
