#!/usr/bin/env python3
"""rename-command: the same file gives redis-server and tallyd the same commands. And what is only ours: the log
does not depend on the names, and a file that asks for a replica or a cluster does not start a lone primary.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402

LONG = "x" * 200
RENAMES = f"""
rename-command FLUSHALL ""
rename-command GET b840fc02d524045429941cc15f59e41cb7be6c52
rename-command set {LONG}
rename-command eval run
rename-command CONFIG ""
rename-command INCR get
rename-command run walk
rename-command multi Begin
"""
GET = "b840fc02d524045429941cc15f59e41cb7be6c52"
CALLS = [
    ("FLUSHALL",), ("flushall", "async"), (LONG, "a", "1"), (LONG.upper(), "b", "2"), ("SET", "a", "2"),
    ("GET", "n"), ("get", "n"), ("INCR", "n"), ("INCRBY", "n", "3"), (GET, "n"), (GET.upper(), "n"), (GET,),
    ("CONFIG", "GET", "port"), ("EVAL", "return 1", "0"), ("run", "return 1", "0"), ("walk", "return 1", "0"),
    ("walk", f"return redis.call('{GET}','n')", "0"), ("walk", "return redis.call('GET','n')", "0"),
    ("MULTI",), ("begin",), ("GET", "n"), (GET, "n"), ("EXEC",),
    ("COMMAND", "INFO", "GET", "incr", "flushall", "config", "config|get"), ("COMMAND", "GETKEYS", GET, "k"),
    ("COMMAND", "GETKEYS", "incr", "k"), ("COMMAND", "DOCS", "flushall"),
    ("ACL", "SETUSER", "u", "on", "nopass", "+" + GET), ("ACL", "SETUSER", "u", "on", "nopass", "~*", "+get"),
    ("ACL", "DRYRUN", "u", GET, "n"), ("ACL", "DRYRUN", "u", "get", "n"), ("ACL", "DRYRUN", "u", "flushall"),
    ("LATENCY", "HISTOGRAM", "flushall"), ("SELECT", "1"), ("GET", "n"), (GET, "n"),
]


def answer(client, call):
    try:
        return client.call(*call)
    except ReplyError as error:
        return f"-{error}"


def names(client, *words):
    return {name.decode() for name in client.call("COMMAND", "LIST", *words)}


def check_like_redis(report):
    with Server(config=RENAMES) as ours, Server("redis-server", config=RENAMES) as theirs, \
            ours.client() as here, theirs.client() as there:
        for call in CALLS:
            shown = " ".join(call)[:70]
            report.equal(f"{shown}", answer(here, call), answer(there, call))
        listed = names(here)
        report.equal("the list has what can be called, by its full name",
                     {name: name in listed for name in ("get", "set", "flushall", "config", "config|get", "multi")},
                     {name: name in names(there) for name in ("get", "set", "flushall", "config", "config|get", "multi")})


def check_log(report):
    with Server(config=RENAMES, appendonly="yes") as server:
        with server.client() as client:
            client.call(LONG, "a", "1")
            client.call("GET", "n")
            client.call("walk", f"redis.call('{LONG}','b','2') return redis.call('get','n')", "0")
        server.kill()
        server.start()
        with server.client() as client:
            report.equal("a restart with the names", [client.call(GET, key) for key in ("a", "b", "n")],
                         [b"1", b"2", b"2"])
        server.kill()
        (server.directory / "server.conf").write_text("")
        server.start()
        with server.client() as client:
            report.equal("and without them", [client.call("GET", key) for key in ("a", "b", "n")],
                         [b"1", b"2", b"2"])


def refusal(text, *arguments):
    done = subprocess.run([tallyd(), *arguments, "-"], input=f"port 0\nsave \"\"\n{text}\n", text=True,
                          capture_output=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


def check_refused(report):
    for text, reason in [
            ("rename-command nosuch x", "No such command"), ("rename-command GET SET", "already exists"),
            ("rename-command GET get", "already exists"), ("rename-command GET", "takes a command and a name"),
            ("rename-command GET a b", "takes a command and a name"),
            ("rename-command FLUSHALL \"\"\nrename-command FLUSHALL x", "No such command"),
            ("replicaof 10.0.0.1", "arguments"), ("slaveof 10.0.0.1 0", "master port"),
            ("cluster-enabled yes", "cluster")]:
        for arguments in ([], ["--check-config"]):
            code, output = refusal(text, *arguments)
            report.check(f"{text!r} stops the start", code == 1 and reason in output, (code, output))
    for text in ("replicaof no one", "slaveof 10.0.0.1 6379", "cluster-enabled no", "rename-command FLUSHALL \"\""):
        report.equal(f"{text!r} does not", refusal(text, "--check-config")[0], 0)


def main():
    report = Report()
    check_like_redis(report)
    check_log(report)
    check_refused(report)
    report.finish()


main()
