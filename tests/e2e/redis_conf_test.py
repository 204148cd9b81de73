#!/usr/bin/env python3
"""The file of a Redis user starts the server: Debian's /etc/redis/redis.conf, with other paths and another port
on the command line and no other change. And what comes with it: all errors at once, a log that is renamed,
systemd, the background.
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.server import Server, die_with_parent  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

CONF = pathlib.Path("/etc/redis/redis.conf")
WAIT_SECONDS = 30
OTHER_VALUES = {"port", "dir", "logfile", "pidfile", "maxclients"}


class FileServer(Server):
    """Started with a configuration file; the command line has paths, the port, and `more`."""

    def __init__(self, conf, binary=None, environment=None, **more):
        super().__init__(binary=binary)
        self.conf = conf
        self.environment = environment or {}
        self.directives = {"port": self.port, "dir": self.directory, "logfile": self.directory / "server.log",
                           "pidfile": self.directory / "pid"} | more

    def launch(self):
        arguments = [self.binary, str(self.conf)]
        for name, value in self.directives.items():
            arguments += ["--" + name, str(value)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, cwd=self.directory,
                                        env=dict(os.environ, **self.environment), preexec_fn=die_with_parent)

    def log(self):
        path = self.directory / "server.log"
        return path.read_text(errors="replace") if path.exists() else ""


def settings(server):
    with server.client() as client:
        flat = [text.decode() for text in client.call("CONFIG", "GET", "*")]
    return dict(zip(flat[::2], flat[1::2]))


def directives(text):
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def check_debians_file(report):
    with FileServer(CONF, daemonize="no") as server, \
            FileServer(CONF, "redis-server", daemonize="no") as reference:
        ours, theirs = settings(server), settings(reference)
        missing = sorted(set(theirs) - set(ours))
        report.check(f"CONFIG GET knows the {len(theirs)} directives of redis-server", not missing, missing)
        other = {name: (ours[name], theirs[name]) for name in theirs
                 if name in ours and name not in OTHER_VALUES and ours[name] != theirs[name]}
        report.check("with the values of redis-server", not other, other)
        named = re.findall(r"([\w-]+) \(" + re.escape(str(CONF)) + r":(\d+)\)", server.log())
        lines = CONF.read_text().splitlines()
        report.check("each warning names the line of its directive",
                     named and all(lines[int(line) - 1].startswith(name + " ") for name, line in named), named)
        report.check("of each directive once", len(named) == len(set(named)), named)
        with server.client() as client:
            client.call("SET", "a", 1)
        report.equal("SIGTERM ends with 0", server.stop(), 0)
        server.start()
        with server.client() as client:
            report.equal("the data is kept, as the file has it", client.call("GET", "a"), b"1")
            told = set(dict(named))
            quiet = {words[0] for words in directives(CONF.read_text())} - told
            client.call("CONFIG", "SET", "repl-backlog-size", "2mb")
            report.equal("CONFIG SET of what has no effect", client.call("CONFIG", "GET", "repl-backlog-size"),
                         [b"repl-backlog-size", b"2097152"])
        report.check("those that are obeyed are not warned of", {"bind", "save", "appendonly", "hz"} & told == set()
                     and {"port", "databases", "maxclients", "appendfsync"} & set(quiet), quiet)


def check_commented_lines(report):
    """What the file shows as an example, line by line."""
    with Server("redis-server") as reference:
        names = set(settings(reference)) | {"loadmodule", "rename-command", "user", "masterauth"}
    examples = []
    for line in CONF.read_text().splitlines():
        words = line.lstrip("# ").split()
        if line.startswith("#") and words and words[0] in names and 1 < len(words) < 8:
            examples.append(line.lstrip("# "))
    unknown = []
    for example in examples:
        done = subprocess.run([Server().binary, "--check-config", "-"], input=example, text=True, capture_output=True,
                              timeout=WAIT_SECONDS)
        if "unknown directive" in done.stderr:
            unknown.append(example)
    report.check(f"no directive of {len(examples)} lines that are commented out is unknown", not unknown, unknown)


def check_errors(report):
    with Server() as scratch:
        conf = scratch.directory / "bad.conf"
        conf.write_text("port seven\nhz 20\nnosuch 1\n\nmaxmemory 1x\n")
        done = subprocess.run([scratch.binary, str(conf), "--databases", "0"], capture_output=True, text=True,
                              timeout=WAIT_SECONDS)
        report.equal("what is wrong ends the start with 1", done.returncode, 1)
        report.equal("all of it is told, with its place", [line.rsplit(" ", 1)[0] for line in done.stderr.splitlines()],
                     [f"tallyd: {conf}:1: 'port' argument couldn't be parsed into an",
                      f"tallyd: {conf}:3: unknown directive",
                      f"tallyd: {conf}:5: 'maxmemory' argument must be a memory",
                      "tallyd: command line: 'databases' argument must be between 1 and 65536"])


def check_renamed_log(report):
    with FileServer(CONF, daemonize="no", logfile="own.log") as server:
        log = server.directory / "own.log"
        report.check("a logfile without a path is in dir", log.exists())
        log.rename(server.directory / "old.log")
        server.process.send_signal(signal.SIGHUP)
        report.check("SIGHUP opens a new one", wait_for(lambda: log.exists() and "SIGHUP" in log.read_text()))
        log.unlink()
        server.directory.chmod(0o700)
        server.process.send_signal(signal.SIGHUP)
        report.check("each time", wait_for(lambda: log.exists() and "SIGHUP" in log.read_text()))
        with server.client() as client:
            report.equal("and nothing ends", client.call("PING"), "PONG")
    with Server() as server:
        server.process.send_signal(signal.SIGHUP)
        with server.client() as client:
            report.equal("SIGHUP without a logfile", client.call("PING"), "PONG")


def received(notices):
    try:
        return notices.recv(1000).decode().splitlines()
    except TimeoutError:
        return ["nothing"]


def check_systemd(report):
    with Server() as scratch, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
        path = str(scratch.directory / "notify")
        notices.bind(path)
        notices.settimeout(WAIT_SECONDS)
        # As Debian's unit does; and the file's `daemonize yes` must not take it from systemd.
        with FileServer(CONF, environment={"NOTIFY_SOCKET": path}, supervised="systemd", appendonly="yes") as server:
            report.check("systemd is told that the server serves", "READY=1" in received(notices))
            report.check("and it is still the process that was started", server.process.poll() is None)
            with server.client() as client:
                client.pipeline(("SET", f"key:{i}", "x" * 100) for i in range(100_000))
            server.stop()
            report.check("and that it ends", "STOPPING=1" in received(notices))
            server.start()
            first = received(notices)
            report.check("while it loads it asks for more time", "STATUS=Loading" in first
                         and any(line.startswith("EXTEND_TIMEOUT_USEC=") for line in first), first)
            while "STATUS=Loading" in first:
                first = received(notices)
            report.check("before it says that it serves", "READY=1" in first, first)
        notices.settimeout(0.5)
        while received(notices) != ["nothing"]:
            pass
        with FileServer(CONF, environment={"NOTIFY_SOCKET": path}, supervised="no", daemonize="no"):
            report.equal("supervised no notifies nobody", received(notices), ["nothing"])
        with FileServer(CONF, environment={"NOTIFY_SOCKET": ""}, supervised="systemd", daemonize="no") as server:
            report.check("without a socket it serves, and says so", "NOTIFY_SOCKET" in server.log(), server.log())


def check_daemon(report, server, pidfile):
    report.equal("daemonize yes: the process that was started ends", server.process.wait(WAIT_SECONDS), 0)
    report.check("another serves", wait_for(server._serves), server.log())
    pid = int(pidfile.read_text())
    report.check("whose id is in the pidfile", f"pid {pid}" in server.log(), server.log())
    os.kill(pid, signal.SIGTERM)
    report.check("until SIGTERM, which removes it", wait_for(lambda: not pidfile.exists()), server.log())


def check_background(report):
    server = FileServer(CONF)
    pidfile = server.directory / "pid"
    try:
        server.launch()
        check_daemon(report, server, pidfile)
    finally:
        if pidfile.exists():
            os.kill(int(pidfile.read_text()), signal.SIGKILL)
        server.close()


def main():
    report = Report()
    if not os.access(CONF, os.R_OK):
        report.skip(f"{CONF} cannot be read: run this as root, or as a member of the group redis")
        report.finish()
    check_debians_file(report)
    check_commented_lines(report)
    check_errors(report)
    check_renamed_log(report)
    check_systemd(report)
    check_background(report)
    report.finish()


main()
