#!/usr/bin/env python3
"""The fields of INFO, section by section, of a redis-server and of this server: each that Redis has is here, in the
same section and with a value of the same kind, or is named in server/commands/differences.md; what is named there is
not here."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.server import ROOT, Server  # noqa: E402

PAGE = ROOT / "server/commands/differences.md"
# Their fields are names of what was called, and of databases.
OF_USE = {"Commandstats", "Latencystats", "Errorstats", "Modules"}
# Of the build: a text of digits and letters, which may all be digits.
OF_BUILD = {"redis_build_id", "redis_git_sha1", "redis_git_dirty"}
LEAST = 150


def sections(client):
    """By section, its fields."""
    found = {}
    for line in client.call("INFO", "everything").decode().splitlines():
        if line.startswith("# "):
            fields = found.setdefault(line[2:], {})
        elif ":" in line:
            name, value = line.split(":", 1)
            fields[name] = value
    return found


def kind(value):
    """A number, a number with a fraction, a quantity with its unit, a list of fields, or a text."""
    for name, form in (("integer", r"-?\d+"), ("decimal", r"-?\d+\.\d+"), ("percentage", r"-?[\d.]+%"),
                       ("bytes", r"[\d.]+[BKMGT]"), ("fields", r"\w+=[^,]*(,\w+=[^,]*)*"), ("empty", r"")):
        if re.fullmatch(form, value):
            return name
    return "text"


def use(client):
    client.call("SET", "k", "1", "EX", "1000")
    client.call("GET", "k")
    client.call("EVAL", "return 1", "0")


def row_of_fields():
    for line in PAGE.read_text().splitlines():
        if line.startswith("| INFO lacks "):
            return set(re.findall(r"`([a-z_]+)`", line))
    return set()


def main():
    report = Report()
    named = row_of_fields()
    with Server(REFERENCE, appendonly="yes") as theirs, Server(appendonly="yes") as ours:
        with theirs.client() as one, ours.client() as other:
            use(one)
            use(other)
            redis, tallyd = sections(one), sections(other)
    report.check("redis-server has its fields", sum(map(len, redis.values())) >= LEAST, redis)
    missing = set()
    for section, fields in redis.items():
        if section in OF_USE:
            continue
        here = tallyd.get(section, {})
        missing |= fields.keys() - here.keys()
        for name in sorted(fields.keys() & here.keys()):
            if kind(fields[name]) != kind(here[name]) and name not in OF_BUILD:
                report.check(f"{section}, {name}: {fields[name]!r} in Redis, {here[name]!r} here", False)
    report.equal("what redis-server's INFO has and this one lacks is in the table of differences", sorted(missing),
                 sorted(named))
    report.finish()


main()
