#!/usr/bin/env python3
"""LATENCY HISTOGRAM as redis-server has it: the same commands with the same numbers of calls, and bounds that are
read in the same way. Times differ, so of the histograms the form is compared."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import Server  # noqa: E402

CALLS = [["SET", "a", "1"], ["SET", "b", "2"], ["GET", "a"], ["CONFIG", "SET", "maxmemory-policy", "noeviction"],
         ["CONFIG", "GET", "save"], ["CONFIG", "GET", "port"], ["LPUSH", "a", "x"], ["NOSUCH"], ["GET"]]

# What is asked for, as words after HISTOGRAM.
QUESTIONS = [["set"], ["SET", "get"], ["config"], ["config|get"], ["nosuch"], ["set", "nosuch", "get"],
             ["set", "set"], ["get", "config|set"], ["lpush"], ["append"], ["config|nosuch"]]

# Redis replies the subcommands of a command in the order of a hash table with a random seed.
UNORDERED = ["config"]


def ask(client, words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return f"-{error}"


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


def histograms(client, words):
    """[(command, calls, {bound: calls up to it})], in the order of the reply."""
    reply = client.call("LATENCY", "HISTOGRAM", *words)
    found = []
    for name, fields in zip(reply[::2], map(pairs, reply[1::2])):
        found.append((name, fields[b"calls"], pairs(fields[b"histogram_usec"])))
    return found


def check_form(report, what, found):
    for command, calls, steps in found:
        bounds, counts = list(steps), list(steps.values())
        report.check(f"{what}: {command}: bounds and numbers rise, up to the calls",
                     bounds == sorted(set(bounds)) and counts == sorted(set(counts)) and counts[-1] == calls, steps)
        # Redis counts in ns, so that its bounds above 16 us are a little above the powers of two.
        report.check(f"{what}: {command}: bounds are powers of two",
                     all(any(2**i <= bound <= 2**i * 1.05 for i in range(40)) for bound in bounds), bounds)


def main():
    report = Report()
    with Server() as ours, Server(REFERENCE) as theirs, ours.client() as left, theirs.client() as right:
        for words in CALLS:
            report.equal(" ".join(words), *[str(ask(client, words))[:10] for client in (left, right)])
        for words in QUESTIONS:
            what = f"HISTOGRAM {' '.join(words)}"
            own, expected = histograms(left, words), histograms(right, words)
            ordered = sorted if words == UNORDERED else list
            report.equal(what, *[ordered(found[:2] for found in reply) for reply in (own, expected)])
            check_form(report, f"tallyd: {what}", own)
            check_form(report, f"redis-server: {what}", expected)
        for client in (left, right):
            client.call("CONFIG", "RESETSTAT")
        report.equal("after RESETSTAT", *[[found[0] for found in histograms(client, [])] for client in (left, right)])
    report.finish()


if __name__ == "__main__":
    main()
