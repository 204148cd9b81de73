#!/usr/bin/env python3
"""COMMAND DOCS of every command and subcommand that redis-server has too: the same arguments, group and version.

The summaries are tallyd's own. What Redis says besides (complexity, history) is left out."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.server import Server  # noqa: E402

FIELDS = ("arguments", "group", "since")
# There is no cluster; what says so is a command of the server.
OF_ANOTHER_GROUP = {"cluster"}


def as_dict(pairs):
    return {key.decode(): value for key, value in zip(pairs[::2], pairs[1::2])}


def documents(server):
    """Every command's documents by its full name."""
    found = {}

    def add(pairs):
        for name, fields in as_dict(pairs).items():
            found[name] = as_dict(fields)
            add(found[name].get("subcommands", []))

    with server.client() as client:
        add(client.call("COMMAND", "DOCS"))
    return found


def main():
    report = Report()
    with Server() as server, Server(REFERENCE) as reference:
        ours, theirs = documents(server), documents(reference)
    shared = [name for name in ours if name in theirs]
    report.check(f"{len(shared)} shared commands", len(shared) > 200)
    for name in shared:
        for field in FIELDS:
            if field == "group" and name in OF_ANOTHER_GROUP:
                continue
            if ours[name].get(field) != theirs[name].get(field):
                report.equal(f"{name}: {field}", ours[name].get(field), theirs[name].get(field))
        report.check(f"{name}: {', '.join(FIELDS)}", True)
    report.finish()


main()
