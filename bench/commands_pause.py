#!/usr/bin/env python3
"""Which commands stop the server: every command of the table with large arguments on large values,
beside redis-server. What is measured is what the thread of the data spends on a call, in CPU time,
so that a busy machine does no harm; the least of several calls. Shown is what takes more than 10 ms
and longer than in redis-server, or more than 10 ms where redis-server has no such command.

What is long by nature is shown as well: it is for the reader to tell."""

import argparse
import contextlib
import pathlib
import time

import harness
import large_values

MARK = b"-the end of the reply-"
LIMIT_MS = 10.0


class Subject:
    """A server with the large values."""

    def __init__(self, server, native, count, size):
        self.server = server
        self.client = server.client
        self.native = native
        self.client.load(large_values.common_values(count, size), batch=20)
        if native:
            self.client.load(large_values.native_values(count), batch=1000)

    def thread_ns(self):
        path = pathlib.Path(f"/proc/{self.server.process.pid}/schedstat")
        return int(path.read_text().split()[0])

    def rest(self):
        """Waits until the server has nothing left to do of its own."""
        before = -1
        while (now := self.thread_ns()) - before > 2_000_000:
            before = now
            time.sleep(0.05)

    def prepare(self, call):
        """The call with its copies made: (words, keys to delete)."""
        words, copies = [], []
        for word in call:
            if isinstance(word, str) and word.startswith("@"):
                copies.append("copy:" + word[1:])
                with contextlib.suppress(harness.ReplyError):
                    self.client.call("COPY", word[1:], copies[-1], "REPLACE")
                word = copies[-1]
            words += word if isinstance(word, list) else [word]
        return words, copies

    def measure(self, call):
        """CPU ms of the call, or its error."""
        words, copies = self.prepare(call)
        self.rest()
        request = harness.encode(words) + harness.encode(["PING", MARK])
        client = harness.Client(self.server.port)
        before = self.thread_ns()
        client.socket.sendall(request)
        tail, start, error = b"", b"", None
        buffer = bytearray(1 << 20)
        while not tail.endswith(MARK + b"\r\n"):
            size = client.socket.recv_into(buffer)
            if size == 0:
                raise ConnectionError(f"closed at {words[:5]}")
            start = start or bytes(buffer[:100])
            tail = (tail + bytes(buffer[max(0, size - 100):size]))[-100:]
        spent = (self.thread_ns() - before) / 1e6
        if start.startswith(b"-"):
            error = start[1:].split(b"\r\n")[0].decode()
        client.close()
        self.client.call("DEL", "new", *copies)
        return spent, error


def name_of(call):
    words = []
    for word in call:
        if isinstance(word, list):
            words.append(f"…{len(word)}")
        else:
            words.append(f"<{len(word)} bytes>" if len(word_of(word)) > 40 else str(word))
    return " ".join(words[:9])


def word_of(word):
    return word if isinstance(word, bytes) else str(word)


def least(subject, call, repeat):
    best, error = float("inf"), None
    for _ in range(repeat):
        spent, error = subject.measure(call)
        best = min(best, spent)
        if best > 1000:
            break
    return best, error


def calls_of(count, size, pattern):
    shared = [*large_values.strings(size), *large_values.lists(count),
              *large_values.hashes(count), *large_values.sets(count),
              *large_values.sorted_sets(count), *large_values.keyspace(count)]
    own = large_values.native(count)
    wanted = [*((call, False) for call in shared), *((call, True) for call in own),
              *((call, False) for call in large_values.last(count))]
    return [(call, native) for call, native in wanted if pattern.lower() in name_of(call).lower()]


def without_case(subject, calls):
    """Commands of the table that no call is of."""
    tried = {"|".join(map(str, call[:words])).lower() for call, _ in calls for words in (1, 2)}
    return sorted({name.decode() for name in subject.client.call("COMMAND", "LIST")} - tried)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_server_arguments(parser)
    parser.add_argument("--count", type=int, default=1_000_000, help="elements of a value")
    parser.add_argument("--size", type=int, default=100_000_000, help="bytes of a string")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="calls that contain these letters")
    parser.add_argument("--all", action="store_true", help="show every call")
    arguments = parser.parse_args()
    calls = calls_of(arguments.count, arguments.size, arguments.only)
    options = ("--appendonly", "no", "--enable-debug-command", "yes")
    rows = []
    with harness.running("ours", arguments.ours, *options) as ours, \
            harness.running("redis", arguments.redis, *options) as redis:
        subjects = [Subject(ours, True, arguments.count, arguments.size),
                    Subject(redis, False, arguments.count, arguments.size)]
        if not arguments.only:
            print("no case:", " ".join(without_case(subjects[0], calls)))
        for call, native in calls:
            mine, error = least(subjects[0], call, arguments.repeat)
            theirs, their_error = (None, None) if native else \
                least(subjects[1], call, arguments.repeat)
            slow = mine > LIMIT_MS and (theirs is None or mine > theirs * 1.1)
            if slow or arguments.all or error != their_error:
                row = [name_of(call), f"{mine:.1f}", "-" if theirs is None else f"{theirs:.1f}",
                       "" if error == their_error else f"{error} / {their_error}"[:60]]
                rows.append(row)
                print("  ".join(row), flush=True)
    print()
    print(harness.table(["CPU ms of a call", "ours", "redis", "errors"], rows))


if __name__ == "__main__":
    main()
