#!/usr/bin/env python3
"""Who asks whether the server is well: tallyd --ping, --check-config, and the probes of containers."""

import http.client
import pathlib
import re
import resource
import subprocess
import sys
import time

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.disk import last_log, limit_files, reply_of  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import RespClient  # noqa: E402
from lib.server import ROOT, Server, free_port, tallyd  # noqa: E402

KEYS = 1_000_000
WAIT_SECONDS = 30
CONTAINERS = ROOT / "conf/containers"


def ran(*words, **options):
    """The exit status of tallyd, and what it says."""
    done = subprocess.run([tallyd(), *map(str, words)], capture_output=True, text=True, timeout=WAIT_SECONDS,
                          check=False, **options)
    return done.returncode, done.stdout + done.stderr


def ping(server):
    return ran("--ping", "--port", server.port)


def get(port, path, host):
    """The status of the answer; None if nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
    try:
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


def pod(name):
    """The one container that compose.yaml or kubernetes.yaml describes."""
    documents = list(yaml.safe_load_all((CONTAINERS / name).read_text()))
    if name == "compose.yaml":
        return documents[0]["services"]["tallyd"]
    return documents[1]["spec"]["template"]["spec"]


def probe(server, port, name):
    """A probe of kubernetes.yaml, as a kubelet sends it: the host is the pod's address."""
    told = pod("kubernetes.yaml")["containers"][0][f"{name}Probe"].get("httpGet", {})
    return get(port, told["path"], f"10.244.1.7:{port}") if told.get("port") == "http" else None


def check_loading(report):
    port = free_port()
    with Server(appendonly="yes", appendfsync="no", password="secret", http_port=port) as server:
        with server.client() as client:
            client.pipeline(("SET", f"key:{i}", i) for i in range(KEYS))
        server.stop()
        server.launch()
        deadline = time.monotonic() + WAIT_SECONDS
        while get(port, "/healthz", "localhost") is None and time.monotonic() < deadline:
            time.sleep(0.001)
        seen, early = set(), []
        with RespClient(server.port) as stranger:
            while time.monotonic() < deadline:
                asked = (probe(server, port, "startup"), probe(server, port, "liveness"),
                         probe(server, port, "readiness"), ping(server)[0])
                told = reply_of(stranger, "PING")
                if not told.startswith("LOADING"):
                    break
                seen.add(asked)
                early.append(told)
        report.equal("a client without the password is told LOADING",
                     set(early), {"LOADING Redis is loading the dataset in memory"})
        report.equal("while it loads it has started and is alive, is not ready, and --ping fails", seen,
                     {(200, 200, 503, 1)})
        report.equal("then --ping is content with NOAUTH", ping(server), (0, "-NOAUTH Authentication required.\n"))
        report.equal("and it is ready", probe(server, port, "readiness"), 200)


def check_full_disk(report):
    port = free_port()
    with Server(appendonly="yes", appendfsync="always", password="secret", http_port=port) as server:
        with server.client() as writer:
            writer.call("SET", "a", 1)
            limit_files(server, last_log(server).stat().st_size + 30)
            reply_of(writer, "SET", "big", "x" * 1000)
        with RespClient(server.port) as stranger:
            report.check("PING says that writes are refused, as Redis does",
                         reply_of(stranger, "PING").startswith("MISCONF Errors writing to the AOF"))
        code, text = ping(server)
        report.check("--ping fails", code == 1 and "MISCONF" in text, text)
        report.equal("it is not ready, and alive", (probe(server, port, "readiness"), probe(server, port, "liveness")),
                     (503, 200))
        limit_files(server, resource.RLIM_INFINITY)
        deadline = time.monotonic() + WAIT_SECONDS
        while ping(server)[0] != 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        report.equal("all is well again by itself", ping(server)[0], 0)


def check_containers(report):
    """What the two files say, each against a server with the image's configuration."""
    kubernetes, compose = pod("kubernetes.yaml"), pod("compose.yaml")
    namespaced = [word.replace("$(NAMESPACE)", "shop") for word in kubernetes["containers"][0]["args"]]
    configuration = (CONTAINERS / "image.conf").read_text().replace("dir /data\n", "")
    names = {"compose.yaml": (compose["command"], ["tallyd"]),
             "kubernetes.yaml": (namespaced, ["tallyd", "tallyd.shop.svc.cluster.local"])}
    for name, (arguments, hosts) in names.items():
        port = free_port()
        directives = {"maxmemory": "1gb", "http-port": port}
        with Server(config=configuration, **directives) as server:
            server.stop()
            report.equal(f"{name}: its arguments are valid", ran("--check-config", *arguments)[0], 0)
            words = [*server.process.args, *arguments]
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                deadline = time.monotonic() + WAIT_SECONDS
                while get(port, "/readyz", "localhost") is None and time.monotonic() < deadline:
                    time.sleep(0.01)
                report.equal(f"{name}: by its names it is served", {get(port, "/metrics", f"{host}:8379")
                                                                    for host in hosts}, {200})
                report.equal(f"{name}: and by no other", get(port, "/metrics", "evil.example"), 421)
                process.terminate()
    report.equal("compose.yaml asks with --ping", compose["healthcheck"]["test"],
                 ["CMD", "/usr/bin/tallyd", "--ping", "/etc/tallyd/tallyd.conf"])
    unit = re.search(r"^TimeoutStopSec=(\d+)min$", (ROOT / "conf/tallyd.service").read_text(), re.MULTILINE)
    report.equal("all wait as long for the end", (kubernetes["terminationGracePeriodSeconds"],
                                                  compose["stop_grace_period"]), (int(unit[1]) * 60, f"{unit[1]}m"))


def make_certificate(directory):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", "server.key", "-out", "server.crt"], cwd=directory, check=True, capture_output=True)
    return ["--dir", str(directory), "--tls-cert-file", "server.crt", "--tls-key-file", "server.key",
            "--tls-ca-cert-file", "server.crt"]


def check_tls(report):
    with Server() as server, server.client() as client:
        files = make_certificate(server.directory)
        report.equal("--check-config reads certificates", ran("--check-config", *files)[0], 0)
        code, text = ran("--check-config", *files, "--tls-cert-file", "/none.crt")
        report.check("and says which is not there, before a port needs it", code == 1 and "tls-cert-file /none.crt" in text,
                     text)
        wrong = reply_of(client, "CONFIG", "SET", "tls-cert-file", "/none.crt", "tls-key-file", "server.key",
                         "tls-auth-clients", "no")
        report.check("so does CONFIG SET", "tls-cert-file /none.crt" in wrong, wrong)
        report.equal("CONFIG SET takes the right ones, one after the other",
                     [client.call("CONFIG", "SET", "tls-auth-clients", "no"),
                      client.call("CONFIG", "SET", "tls-cert-file", "server.crt"),
                      client.call("CONFIG", "SET", "tls-key-file", "server.key")], ["OK"] * 3)
        port = free_port()
        only_tls = [*files, "--port", "0", "--tls-port", str(port)]
        report.check("--ping of a TLS port where nobody listens fails", ran("--ping", *only_tls)[0] == 1)
        with subprocess.Popen([tallyd(), *only_tls, "--tls-auth-clients", "optional", "--save", "", "--appendonly", "no"],
                              stdout=subprocess.DEVNULL) as tls:
            deadline = time.monotonic() + WAIT_SECONDS
            while ran("--ping", *only_tls)[0] != 0 and tls.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            report.equal("--ping asks with TLS where there is no other port", ran("--ping", *only_tls), (0, "+PONG\n"))
            report.equal("and without a key that it is not asked for",
                         ran("--ping", *only_tls, "--tls-auth-clients", "no", "--tls-key-file", "/none.key"), (0, "+PONG\n"))
            tls.terminate()


def check_passwords(report):
    code, text = ran("--check-config", "--requirepass", "secret", env={"TALLYD_PASSWORD": ""})
    report.check("an empty TALLYD_PASSWORD is refused", code == 1 and "TALLYD_PASSWORD is empty" in text, text)
    report.equal("one that is not empty is taken", ran("--check-config", env={"TALLYD_PASSWORD": "x"})[0], 0)


def main():
    report = Report()
    check_loading(report)
    check_full_disk(report)
    check_containers(report)
    check_tls(report)
    check_passwords(report)
    report.finish()


main()
