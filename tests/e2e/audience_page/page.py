"""An audience page as such pages are written: redis-py, a sorted set of who is online, a hash that
gives ids numbers, a bit of each day for each number.

Usage: /usr/bin/python3 page.py port password <requests >journal

  seen <unix s> <id>   a message of the visitor; answers the visitor's number
  tick <unix s>        each second: drops who has been silent for long, keeps the day's peak
  ask <day>            [online, peak, active and new visitors of the day, visitors ever]
  close                forgets who is online

The journal is that of lib/crash_run.py.
"""

import base64
import json
import sys
import time

import redis

SILENT_SECONDS = 300


def journal(**record):
    print(json.dumps(record), flush=True)


def milliseconds():
    return int(time.time() * 1000)


def encode(value):
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


class Page:
    """Journals each command, and ends the process with the connection."""

    def __init__(self, port, password):
        self.redis = redis.Redis(port=port, password=password)

    def send(self, *command):
        sent = [encode(str(word).encode()) for word in command]
        begin = milliseconds()
        try:
            reply = self.redis.execute_command(*command)
        except redis.ConnectionError:
            journal(lost=sent, **{"from": begin})
            sys.exit(75)
        journal(sent=sent, at=milliseconds(), got=encode(reply), **{"from": begin})
        return reply

    def number(self, visitor, day):
        known = self.send("HGET", "ids", visitor)
        if known is not None:
            return int(known)
        number = self.send("HINCRBY", "totals", "ids", 1)
        if not self.send("HSETNX", "ids", visitor, number):
            return int(self.send("HGET", "ids", visitor))
        self.send("SETBIT", f"new:{day}", number, 1)
        return number

    def seen(self, at, visitor):
        day = int(float(at)) // 86400
        number = self.number(visitor, day)
        self.send("ZADD", "online", at, number)
        self.send("SETBIT", f"active:{day}", number, 1)
        return number

    def tick(self, at):
        day = int(at) // 86400
        self.send("ZREMRANGEBYSCORE", "online", "-inf", int(at) - SILENT_SECONDS)
        online = self.send("ZCARD", "online")
        if online > int(self.send("HGET", "peaks", day) or 0):
            self.send("HSET", "peaks", day, online)
        return online

    def ask(self, day):
        return [self.send("ZCARD", "online"), int(self.send("HGET", "peaks", day) or 0),
                self.send("BITCOUNT", f"active:{day}"), self.send("BITCOUNT", f"new:{day}"),
                self.send("HLEN", "ids")]

    def close(self):
        return self.send("DEL", "online")


def main():
    page = Page(int(sys.argv[1]), sys.argv[2])
    for line in sys.stdin:
        action, *words = line.split()
        journal(answer=getattr(page, action)(*words))


main()
