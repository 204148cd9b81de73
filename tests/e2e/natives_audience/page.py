"""The audience page with native commands: redis-py, one command for each thing the page asks.

Usage: /usr/bin/python3 page.py port password <requests >answers

  touch <unix s or now> id [id …]   ids online now
  online | peak | series            of now, today, and the last ten minutes by the minute
  day yyyy-mm-dd | seen id | users yyyy-mm-dd yyyy-mm-dd
  crowd clients ids                 as many threads, each of which touches as many ids of its own
                                    and one that all have; the answers of all
"""

import json
import sys
import threading
import time

import redis

KEY = "audience"


class Page:
    def __init__(self, port, password):
        self.redis = redis.Redis(port=port, password=password, decode_responses=True)

    def touch(self, at, *ids):
        command = ("ACTIVE.TOUCH", KEY) if at == "now" else ("ACTIVE.TOUCHAT", KEY, at)
        return self.redis.execute_command(*command, *ids)

    def online(self):
        return self.redis.execute_command("ACTIVE.ONLINE", KEY)

    def peak(self):
        return self.redis.execute_command("ACTIVE.PEAK", KEY)

    def series(self):
        now = int(time.time())
        return self.redis.execute_command("ACTIVE.SERIES", KEY, "FROM", now - 600, "TO", now + 1,
                                          "STEP", "1m")

    def day(self, date):
        return self.redis.execute_command("ACTIVE.DAY", KEY, "DAY", date)[0]

    def seen(self, client_id):
        return self.redis.execute_command("ACTIVE.SEEN", KEY, client_id)

    def users(self, first, last):
        return self.redis.execute_command("ACTIVE.USERS", KEY, "FROM", first, "TO", last)

    def crowd(self, clients, ids):
        answers = []
        start = threading.Barrier(int(clients))

        def one(place):
            start.wait()
            for number in range(int(ids)):
                answers.append(self.touch("now", f"crowd-{place}-{number}", f"shared-{number}"))

        threads = [threading.Thread(target=one, args=(place,)) for place in range(int(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers


def main():
    page = Page(int(sys.argv[1]), sys.argv[2])
    try:
        for line in sys.stdin:
            action, *words = line.split()
            print(json.dumps(getattr(page, action)(*words)), flush=True)
    except redis.ConnectionError:
        sys.exit(75)


main()
