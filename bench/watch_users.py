#!/usr/bin/env python3
"""What WATCH of many keys, and ACL SETUSER and DELUSER beside many users, hold the loop for: ms of
CPU time of the thread of the data, so that a busy machine does no harm."""

import argparse
import pathlib
import statistics

import harness

PIPELINE = 20_000  # keys of one WATCH: redis-server compares each with all before


def spent_ms(server, *commands):
    """CPU time of the commands, one after the other."""
    path = pathlib.Path(f"/proc/{server.process.pid}/schedstat")
    before = int(path.read_text().split()[0])
    for command in commands:
        server.client.call(*command)
    return (int(path.read_text().split()[0]) - before) / 1e6


def watch(name, binary, counts):
    """WATCH of this many keys in commands of PIPELINE, EXEC of a transaction that watches them, and
    what ends one."""
    row = [name]
    with harness.running(name, binary, "--appendonly", "no") as server:
        server.client.socket.settimeout(600)
        for count in counts:
            keys = [f"key:{number}" for number in range(count)]
            calls = [["WATCH", *keys[begin:begin + PIPELINE]] for begin in range(0, count, PIPELINE)]
            row.append(f"{spent_ms(server, *calls):.1f}")
            row.append(f"{spent_ms(server, ['MULTI'], ['PING'], ['EXEC']):.2f}")
    return row


def users(name, binary, counts):
    """The median of a call, with this many users."""
    row = [name]
    with harness.running(name, binary, "--appendonly", "no") as server:
        made = 0
        for count in counts:
            server.client.load((["ACL", "SETUSER", f"user:{number}", "on", ">secret", f"~tenant:{number}:*",
                                 "+@all", "-@dangerous"] for number in range(made, count)), batch=20)
            made = count
            sets, deletions = [], []
            for number in range(50):
                sets.append(spent_ms(server, ["ACL", "SETUSER", f"new:{number}", "on", "nopass", "~*", "+get"]))
            for number in range(50):
                deletions.append(spent_ms(server, ["ACL", "DELUSER", f"new:{number}"]))
            row += [f"{statistics.median(sets):.3f}", f"{statistics.median(deletions):.3f}"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--keys", type=int, nargs="+", default=[10_000, 40_000], help="keys to watch")
    parser.add_argument("--users", type=int, nargs="+", default=[0, 6000], help="users beside the new one")
    parser.add_argument("--only", choices=["watch", "users"])
    arguments = parser.parse_args()
    servers = [("ours", arguments.ours), ("redis", arguments.redis)]
    parts = [
        ("watch", "ms of WATCH, and of the EXEC that ends it",
         ["", *(f"{what} {count}" for count in arguments.keys for what in ("watch", "exec"))],
         lambda *server: watch(*server, arguments.keys)),
        ("users", "ms of one ACL SETUSER and one DELUSER beside this many users",
         ["", *(f"{what} {count}" for count in arguments.users for what in ("setuser", "deluser"))],
         lambda *server: users(*server, arguments.users)),
    ]
    for part, title, header, measure in parts:
        if arguments.only in (None, part):
            print(title)
            print(harness.table(header, [measure(*server) for server in servers]), end="\n\n")


if __name__ == "__main__":
    main()
