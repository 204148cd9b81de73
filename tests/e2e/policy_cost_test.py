#!/usr/bin/env python3
"""A rule under a name costs what the same rule costs written out: it is read when it is set, not at each call.

Counted are the instructions of LIMIT.TAKE's handler, by callgrind: they do not depend on how fast the machine is."""

import re
import subprocess

from lib.report import Report
from lib.server import Server

RULES = {
    "fixed": "FIXED 1000000 1h",
    "sliding": "SLIDING 1000000 1h",
    "bucket": "BUCKET 1000000 1000 1h",
    "lockout": "LOCKOUT 1000000 1h 1m GROW 2 MAX 1h",
    "calendar": "CALENDAR 1000000 day TZ Europe/Berlin",
    "two": "SLIDING 1000000 1h FIXED 5000000 1d",
}
CALLS = 2_000
KEYS = 100
MOST = 1.03


class CountedServer(Server):
    """A server under callgrind, which counts in the handler of LIMIT.TAKE only."""

    def __init__(self):
        super().__init__()
        self.wrapper = ["valgrind", "--tool=callgrind", "--quiet", "--toggle-collect=*::LimitTake(*",
                        "--callgrind-out-file=counts"]

    def instructions(self, client, calls):
        """Those that the handler takes for the calls, all of which must be allowed."""
        self.dump()
        for reply in client.pipeline(calls):
            if not isinstance(reply, list) or reply[0] != 1:
                raise SystemExit(f"not allowed: {reply}")
        return self.dump()

    def dump(self):
        """Ends a count and returns it; the next one begins at 0."""
        subprocess.run(["callgrind_control", "--dump", str(self.process.pid)], check=True, capture_output=True)
        newest = max(self.directory.glob("counts.*"), key=lambda path: int(path.suffix[1:]))
        return int(re.search(r"^totals: (\d+)", newest.read_text(), re.MULTILINE).group(1))


def takes(prefix, rule):
    return [("LIMIT.TAKE", f"{prefix}:{i % KEYS}", *rule) for i in range(CALLS)]


def main():
    report = Report()
    with CountedServer() as server, server.client() as client:
        for name, rule in RULES.items():
            client.call("POLICY.SET", name, *rule.split())
            ways = [takes(f"written:{name}", rule.split()), takes(f"named:{name}", ("POLICY", name))]
            for calls in ways:
                server.instructions(client, calls)  # makes the keys
            written, named = (server.instructions(client, calls) / CALLS for calls in ways)
            report.check(f"{rule}: {named:.0f} instructions by name, {written:.0f} written out",
                         0 < named <= MOST * written)
    report.finish()


if __name__ == "__main__":
    main()
