"""Runs a client program that answers requests, through kills of its server.

The program reads requests, one a line, on stdin, and writes one line of JSON for each answer. When
its connection is lost it exits with a status other than 0.
"""

import json
import subprocess
import tempfile

from lib.server import die_with_parent

CUT_SHORT = object()   # In place of an answer: a kill came before it.


def answers_through_kills(server, program, requests, kill_after):
    """Yields (index, answer) for each request; the answer is CUT_SHORT where a kill came first.

    kill_after: the answers before each kill, counted from the kill before it.
    """
    kill_after = list(kill_after)
    index = 0
    while index < len(requests):
        limit = kill_after.pop(0) if kill_after else None
        for answer in _run(server, program, requests[index:], limit):
            yield index, answer
            index += 1
        if server.process.poll() is not None:
            server.start()
            if index < len(requests):
                yield index, CUT_SHORT
                index += 1


def _run(server, program, requests, limit):
    with tempfile.TemporaryFile() as lines:
        lines.write(b"".join(request + b"\n" for request in requests))
        lines.seek(0)
        process = subprocess.Popen(program, stdin=lines, stdout=subprocess.PIPE,
                                   preexec_fn=die_with_parent)
    for place, line in enumerate(process.stdout, 1):
        yield json.loads(line)
        if place == limit:
            server.kill()
    if process.wait() != 0 and server.process.poll() is None:
        raise RuntimeError(f"{program} failed; the server's log:\n{server.log()}")
