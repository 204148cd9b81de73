#!/usr/bin/env python3
"""Protected mode: whether a client from elsewhere gets in, as redis-server decides it, whatever way
the default user came to have a password or to have none, and HTTP decides likewise. The client comes from an address of this
machine that is not a loopback one; where there is none, from one that the test gives itself."""

import pathlib
import select
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib import own_network  # noqa: E402
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, encode  # noqa: E402
from lib.server import Server, free_port  # noqa: E402

OWN_ADDRESS = "198.51.100.1"  # of a documentation network, in a network of the test's own

# Directives of the start, and the lines of an aclfile. (With a requirepass that users undo this server does not start.)
STARTS = [
    ({}, None),
    ({"requirepass": "secret"}, None),
    ({"protected_mode": "no"}, None),
    ({"user": "default on >other ~* &* +@all"}, None),
    ({"user": "default off"}, None),
    ({"user": "default off nopass ~* +@all"}, None),
    ({}, ""),
    ({}, "user default off\n"),
    ({}, "user default on nopass ~* &* +@all\n"),
    ({}, "user default on >pw ~* &* +@all\n"),
    ({}, "user ann on >pw ~* &* +@all\n"),
]

# What an operator does then, one after the other; a client comes after each.
CHANGES = [
    "ACL SETUSER default nopass",
    "ACL SETUSER default off",
    "ACL SETUSER default resetpass",
    "ACL SETUSER default on",
    "ACL SETUSER default >pw",
    "CONFIG SET requirepass secret",
    "ACL SETUSER default nopass",
    "CONFIG SET requirepass secret",
    "CONFIG SET requirepass other",
    'CONFIG SET requirepass ""',
    "ACL SETUSER default reset",
    "CONFIG SET protected-mode no",
    "ACL SETUSER default on nopass ~* &* +@all",
    "CONFIG SET protected-mode yes",
    "ACL LOAD",
]


def own_address():
    """An address of this machine that is not a loopback one, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") else address


def greet(address, port):
    """What a client from that address gets for a PING, in short: tallyd words its refusal itself."""
    with socket.create_connection((address, port), 30) as client:
        try:
            client.sendall(encode(["PING"]))
            reply = client.makefile("rb").readline().decode()
        except OSError as error:
            return f"closed: {error.__class__.__name__}"
    return reply.split()[0] if reply else "closed"


class Open(Server):
    """Listens on another address too, and has an operator whatever becomes of the default user."""

    OPERATOR = "user operator on nopass ~* &* +@all\n"

    def __init__(self, address, binary, aclfile, user=None, **directives):
        own = "" if user is None else f"user {user}\n"
        super().__init__(binary, config=own + self.OPERATOR if aclfile is None else "", **directives)
        self.addresses.append(address)
        if aclfile is not None:
            path = self.directory / "users.acl"
            path.write_text(aclfile + self.OPERATOR)
            self.directives["aclfile"] = path

    def operator(self):
        client = self.client()
        client.call("AUTH", "operator", "x")
        return client

    def _serves(self):
        try:
            self.operator().close()
            return True
        except OSError:
            return False


def story(address, binary, directives, aclfile):
    """What a client from elsewhere, and one from here, get at first and after each change."""
    told = []
    with Open(address, binary, aclfile, **directives) as server:
        operator = server.operator()
        for change in [None, *CHANGES]:
            done = "start"
            if change is not None:
                try:
                    done = operator.call(*change.replace('""', "").split(" "))
                except ReplyError as error:
                    done = f"-{error}"[:40]
            told.append(f"{change} {done}: from elsewhere {greet(address, server.port)}, "
                        f"from here {greet('127.0.0.1', server.port)}")
        operator.close()
    return told


def ask_over_http(address, port):
    """The status that a client from that address gets: at once, or else for a command."""
    with socket.create_connection((address, port), 30) as client:
        if not select.select([client], [], [], 0.5)[0]:
            client.sendall(b'POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n["PING"]')
        return int(client.makefile("rb").readline().split()[1])


def check_http(report, address):
    """HTTP lets in whom RESP lets in."""
    port = free_port()
    with Open(address, None, None, http_port=port, http_bind=f"127.0.0.1 {address}") as server:
        operator = server.operator()
        for change, elsewhere, here in [("PING", 403, 200), ("CONFIG SET requirepass secret", 401, 401),
                                        ("ACL SETUSER default nopass", 403, 200),
                                        ("CONFIG SET protected-mode no", 200, 200),
                                        ("CONFIG SET protected-mode yes", 403, 200)]:
            operator.call(*change.split(" "))
            report.equal(f"over HTTP, after {change}: from elsewhere, and from here",
                         (ask_over_http(address, port), ask_over_http("127.0.0.1", port)), (elsewhere, here))
        operator.close()


def main():
    address = own_address()
    if address is None and own_network.enter(OWN_ADDRESS):
        address = OWN_ADDRESS
    report = Report()
    if address is None:
        report.skip("no address but loopback, and no network of its own")
        report.finish()
    for directives, aclfile in STARTS:
        ours, theirs = (story(address, binary, directives, aclfile) for binary in (None, REFERENCE))
        wrong = [f"redis-server: {there}\nthis server:  {here}" for here, there in zip(ours, theirs) if here != there]
        start = ", ".join([f"{name} {value}" for name, value in directives.items()]
                          + ([] if aclfile is None else [f"aclfile {aclfile!r}"])) or "nothing set"
        report.check(f"{start}: who gets in, at first and after {len(CHANGES)} changes", not wrong,
                     "\n".join(wrong))
    check_http(report, address)
    report.finish()


main()
