#!/usr/bin/env python3
"""CLIENT TRACKING where keys are evicted, on tallyd and on redis-server: whatever way a client is told, it is told of
every key that it has read and that is gone, once, and of no other. Which keys go is each server's own choice, so that
each is judged by what is left on it."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient, encode  # noqa: E402
from lib.server import Server, tallyd  # noqa: E402

READ, VALUE = 400, "x" * 2000
POLICIES = ["allkeys-lru", "allkeys-random", "volatile-ttl"]
# How the tracking client asks for messages, and which of the keys that go it is to be told of.
MODES = {"default": ([], lambda key: key.startswith("read:")),
         "OPTIN, without CACHING": (["OPTIN"], lambda key: False),
         "OPTOUT": (["OPTOUT"], lambda key: key.startswith("read:")),
         "NOLOOP": (["NOLOOP"], lambda key: key.startswith("read:")),
         "BCAST": (["BCAST"], lambda key: True),
         "BCAST of a prefix": (["BCAST", "PREFIX", "read:1"], lambda key: key.startswith("read:1"))}


class Listener:
    """A client of RESP2 that the messages of another are redirected to."""

    def __init__(self, port):
        self.client = RespClient(port)
        self.id = self.client.call("CLIENT", "ID")
        self.client.call("SUBSCRIBE", "__redis__:invalidate")

    def keys(self):
        """What it was told until now: the reply of PING comes behind it."""
        self.client.socket.sendall(encode(["PING"]))
        told = []
        while (message := self.client.read())[0] != b"pong":
            told += [key.decode() for key in message[2]]
        return told


def present(client, keys):
    return {key for key, there in zip(keys, client.pipeline(("EXISTS", key) for key in keys)) if there}


def fill(client, from_number):
    """Writes until keys were evicted; the names of what was written."""
    written = []
    for number in range(from_number, from_number + 20_000):
        written.append(f"new:{number}")
        try:
            client.call("SET", written[-1], VALUE, "EX", "1000")
        except ReplyError as error:
            if not str(error).startswith("OOM"):
                raise
        if number % 50 == 0 and evicted(client) >= READ // 4:
            break
    return written


def evicted(client):
    return int(client.call("INFO", "stats").decode().split("evicted_keys:")[1].split("\r\n")[0])


def check(report, name, server, policy, options, is_told):
    with server.client() as writer, server.client() as reader:
        writer.call("FLUSHALL")
        writer.call("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", policy, "maxmemory-samples", "10")
        writer.call("CONFIG", "RESETSTAT")
        keys = [f"read:{number}" for number in range(READ)]
        writer.pipeline(("SET", key, VALUE, "EX", "500") for key in keys)
        listener = Listener(server.port)
        reader.call("CLIENT", "TRACKING", "ON", "REDIRECT", listener.id, *options)
        reader.pipeline(("GET", key) for key in keys)
        memory = writer.call("INFO", "memory").decode().split("used_memory:")[1].split("\r\n")[0]
        writer.call("CONFIG", "SET", "maxmemory", memory)
        written = fill(writer, 0)
        writer.call("CONFIG", "SET", "maxmemory", "0")  # what is there now stays
        gone = set(keys) - present(writer, keys)
        told = [key for key in listener.keys() if key.startswith("read:")]
        expected = {key for key in gone if is_told(key)}
        report.check(f"{name}: keys that were read are evicted", gone, f"{len(written)} were written")
        report.equal(f"{name}: told of those that are gone", (sorted(told), len(told)), (sorted(expected), len(expected)))
        reader.call("CLIENT", "TRACKING", "OFF")
        listener.client.close()


def main():
    report = Report()
    for binary in (REFERENCE, tallyd()):
        with Server(binary) as server:
            for policy in POLICIES:
                for mode, (options, is_told) in MODES.items():
                    name = f"{pathlib.Path(binary).name}, {policy}, {mode}"
                    check(report, name, server, policy, options, is_told)
    report.finish()


main()
