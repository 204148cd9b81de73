#!/usr/bin/env python3
"""What refuses clients is in the log: a line when it begins, one when it has ended, and no flood between them."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.disk import last_log, limit_files, reply_of  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

import resource  # noqa: E402

WAIT_SECONDS = 30


def check_lines(report, name, server, begin, end, relieve):
    """The trouble has begun; `relieve` ends it."""
    report.check(f"{name}: the log says when it begins", wait_for(lambda: begin in server.log()), server.log())
    report.equal(f"{name}: the log says so once", server.log().count(begin), 1)
    report.check(f"{name}: nothing says that it has ended", end not in server.log(), server.log())
    relieve()
    report.check(f"{name}: the log says when it has ended", wait_for(lambda: end in server.log()), server.log())
    report.equal(f"{name}: and no more", (server.log().count(begin), server.log().count(end)), (1, 1))


def check_disk(report, policy):
    with Server(appendonly="yes", appendfsync=policy) as server:
        with server.client() as writer:
            for key in range(1000):
                writer.call("SET", key, "x" * 100)
        limit_files(server, last_log(server).stat().st_size + 30)
        for _ in range(50):
            with server.client() as writer:
                reply_of(writer, "SET", "big", "x" * 1000)
        check_lines(report, f"full disk, {policy}", server, "Writes are refused (MISCONF)", "Writes are accepted again",
                    lambda: limit_files(server, resource.RLIM_INFINITY))


def check_snapshots(report):
    with Server(appendonly="no", save="3600 1000000") as server, server.client() as client:
        client.call("SET", "key", "x" * 200_000)
        limit_files(server, 100_000)
        reply_of(client, "SAVE")
        report.check("a failed snapshot refuses writes", wait_for(lambda: reply_of(client, "SET", "a", 1).startswith("MISCONF")))
        for _ in range(200):
            reply_of(client, "SET", "a", 1)

        def relieve():
            limit_files(server, resource.RLIM_INFINITY)
            client.call("SAVE")
        check_lines(report, "no snapshot", server, "No snapshot can be saved", "Writes are accepted again", relieve)


def check_memory(report):
    with Server(maxmemory="20mb") as server, server.client() as client:
        for key in range(3000):
            reply_of(client, "SET", key, "x" * 10_000)
        report.check("nothing more is taken", reply_of(client, "SET", "more", "x" * 10_000).startswith("OOM"))
        check_lines(report, "maxmemory", server, "commands that need memory are refused (OOM)",
                    "Commands that need memory are accepted again", lambda: client.call("FLUSHALL"))


def check_places(report):
    with Server(maxclients=5) as server:
        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
        for one in held:
            one.sendall(b"PING\r\n")
            one.recv(100)
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", server.port)) as late:
                late.recv(100)
        check_lines(report, "maxclients", server, "(maxclients 5): new clients are refused",
                    "fewer than maxclients are connected", lambda: [one.close() for one in held])


def refusal(*arguments, env=None, directory=None):
    """What a start that is to fail says; it must not hang."""
    done = subprocess.run([tallyd(), "--port", "0", "--save", "", *arguments], capture_output=True, text=True,
                          timeout=WAIT_SECONDS, check=False, cwd=directory, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout + done.stderr


def check_passwords(report):
    """A password that another setting would undo keeps the server from starting."""
    with Server() as server:
        directory = server.directory
        (directory / "users.acl").write_text("user ann on >pw ~* +@all\n")
        (directory / "open.acl").write_text("user default on nopass ~* &* +@all\n")
        for name, arguments, env, word in [
                ("a nopass line", ["--requirepass", "secret", "--user", "default on nopass ~* +@all"], {}, "no password"),
                ("another password", ["--requirepass", "secret", "--user", "default on >other ~* +@all"], {}, "another"),
                ("an aclfile", ["--aclfile", "open.acl"], {"TALLYD_PASSWORD": "secret"}, "open.acl"),
                ("an aclfile without the default user", ["--aclfile", "users.acl"], {"TALLYD_PASSWORD": "secret"}, "users.acl"),
                ("--requirepass beside the environment", ["--requirepass", "a"], {"TALLYD_PASSWORD": "b"}, "wins over")]:
            for check in ([], ["--check-config"]):
                code, text = refusal(*check, "--dir", str(directory), *arguments, env=env)
                report.check(f"{name} {' '.join(check)}: refused, and the line that wins is named",
                             code == 1 and word in text and "wins" in text and "secret" not in text, text)
        for name, arguments in [("the same password", ["--requirepass", "pw", "--user", "default on >pw ~* &* +@all"]),
                                ("a line without a password", ["--requirepass", "pw", "--user", "ann on >x ~* +@all"])]:
            report.equal(f"{name}: accepted", refusal("--check-config", *arguments)[0], 0)


def check_rewritten_password(report):
    """CONFIG REWRITE writes no file that the server then refuses."""
    server = Server(config="requirepass secret\n")
    server.password = "secret"
    with server:
        with server.client() as client:
            client.call("ACL", "SETUSER", "default", "resetpass", ">other")
            client.call("CONFIG", "REWRITE")
        server.stop()
        server.password = "other"
        server.start()
        with server.client() as client:
            report.equal("the password of the user's line holds after CONFIG REWRITE", client.call("PING"), "PONG")


def check_conflicts(report):
    for arguments, words in [(["--maxmemory-policy", "allkeys-lru"], "nothing is ever evicted"),
                             (["--maxmemory-clients", "10%"], "maxmemory-clients is a share"),
                             (["--http-tls", "yes"], "there is no HTTP"),
                             (["--client-query-buffer-limit", "1mb"], "client-query-buffer-limit is not larger"),
                             (["--client-output-buffer-limit", "normal 1mb 0 0"], "is not larger"),
                             (["--appendonly", "no"], "Nothing is kept")]:
        code, text = refusal("--check-config", *arguments)
        report.check(f"{' '.join(arguments)}: said, and no reason not to start", code == 0 and words in text, text)
    code, text = refusal("--check-config", "--appendonly", "yes", "--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru")
    report.equal("settings that go together bring no word", (code, text), (0, "The configuration is valid.\n"))


def check_no_files(report):
    """Something in the place of a file of `dir` stops the start with a clear error, and does not hang it."""
    with Server(appendonly="yes") as server:
        with server.client() as client:
            client.call("SET", "key", "value")
        server.stop()
        files = sorted(path for path in (server.directory / "appendonlydir").iterdir() if path.stat().st_size > 0)
        report.check("there are a manifest and a log", len(files) >= 2, files)
        for path in files:
            whole = path.read_bytes()
            for kind in ("FIFO", "socket", "directory", "device"):
                path.unlink()
                if kind == "FIFO":
                    os.mkfifo(path)
                elif kind == "socket":
                    with socket.socket(socket.AF_UNIX) as one:
                        one.bind(str(path))
                elif kind == "directory":
                    path.mkdir()
                else:
                    path.symlink_to("/dev/zero")
                code, text = refusal("--dir", str(server.directory), "--appendonly", "yes")
                report.check(f"{path.name}: {kind}", code == 1 and path.name in text and f"it is a {kind}" in text, text)
                path.rmdir() if kind == "directory" else path.unlink()
                path.write_bytes(whole)
        os.mkfifo(server.directory / "fifo.log")
        code, text = refusal("--logfile", str(server.directory / "fifo.log"))
        report.check("logfile: a FIFO that nobody reads", code == 1 and "fifo.log" in text, text)
    with tempfile.TemporaryDirectory() as directory:
        fifo = f"{directory}/fifo.pid"
        os.mkfifo(fifo)
        with Server(pidfile=fifo) as server, server.client() as client:
            report.equal("pidfile: a FIFO that nobody reads is no reason to stop", client.call("PING"), "PONG")


def main():
    report = Report()
    for policy in ("always", "everysec", "no"):
        check_disk(report, policy)
    check_snapshots(report)
    check_memory(report)
    check_places(report)
    check_passwords(report)
    check_rewritten_password(report)
    check_conflicts(report)
    check_no_files(report)
    report.finish()


main()
