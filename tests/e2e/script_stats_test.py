#!/usr/bin/env python3
"""What INFO counts of the commands that a script runs, as redis-server counts it: calls, those refused, those that
failed, and each error once."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import Server  # noqa: E402

COMMANDS = ["'GET'", "'GET','a','b'", "'NOSUCH'", "'SUBSCRIBE','a'", "'SET','a'", "'INCR','list'", "'LPUSH','text','x'",
            "'MULTI'", "'CONFIG','GET'", "'CONFIG','NOSUCH'", "'EVAL','x',0", "'DEBUG','SLEEP','0'", "'PING'",
            "'CLIENT','LIST'", "'AUTH','x'", "'HELLO'", "'WATCH','k'", "'SAVE'", "'SHUTDOWN'", "'MONITOR'",
            "'SET','a','1'", "'SET','secret','1'"]
SCRIPTS = [f"return redis.{how}({command})" for how in ("call", "pcall") for command in COMMANDS] + [
    "redis.pcall('GET') redis.pcall('GET') return redis.call('GET')",
    "redis.pcall('INCR','list') return 1",
    "redis.pcall('INCR','list') return redis.pcall('INCR','list')",
    "local e = redis.pcall('INCR','list') return {err = e.err}",
    "local e = redis.pcall('INCR','list') e.err = nil return e",
    "local ok, e = pcall(redis.call, 'GET') return e",
    "error(redis.pcall('GET'))",
    "error({err = 'MY error'})",
    "return redis.call()",
    "return redis.call({})",
    "return redis.error_reply('MY error')",
    "return {err = 'MY error', ignore_error_stats_update = true}",
    "return {ok = 'fine', ignore_error_stats_update = true}",
    "return error('x')",
    "return nosuch",
    "#!lua flags=no-writes\nreturn redis.call('SET','a','1')",
]
# Before the script, and after it: what was left by one must not change what the next counts.
SETTINGS = {"alone": ([], []), "in MULTI": ([["MULTI"]], [["EXEC"]]), "then GET": ([], [["GET"], ["INCR", "list"]]),
            "as a user": ([["AUTH", "user", "x"]], [["AUTH", "default", "x"]]),
            "without memory": ([["CONFIG", "SET", "maxmemory", "1"]], [["CONFIG", "SET", "maxmemory", "0"]])}


def ask(client, words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return f"-{error}"


def prepare(client):
    for words in (["FLUSHALL"], ["RPUSH", "list", "x"], ["SET", "text", "x"],
                  ["ACL", "SETUSER", "user", "reset", "on", ">x", "+@all", "-get", "~a", "~list", "&*"],
                  ["ACL", "SETUSER", "default", ">x"], ["CONFIG", "RESETSTAT"]):
        client.call(*words)


def counts(client):
    """Without what was measured, and what the test itself calls."""
    info = client.call("INFO", "commandstats", "errorstats", "stats").decode()
    rows = re.findall(r"^(cmdstat_.*|errorstat_.*|total_error_replies):(.*)\r$", info, re.MULTILINE)
    return {name: re.sub(r"usec\w*=[\d.]+,", "", value) for name, value in rows
            if not name.startswith(("cmdstat_info", "cmdstat_config"))}


def count(client, before, call, after):
    prepare(client)
    for words in [*before, call, *after]:
        ask(client, words)
    return counts(client)


def main():
    report = Report()
    with Server(appendonly="yes") as server, Server(REFERENCE, appendonly="yes") as reference:
        with server.client() as ours, reference.client() as theirs:
            for setting, (before, after) in SETTINGS.items():
                for command in ("EVAL", "EVAL_RO"):
                    for script in SCRIPTS:
                        actual, expected = (count(client, before, [command, script, "0"], after)
                                            for client in (ours, theirs))
                        report.equal(f"{setting}: {command} {script}", actual, expected)
    report.finish()


main()
