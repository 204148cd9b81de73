"""Local batches: 100 tokens are taken at a time and spent in the process; what is left over is given back."""
import os
import uuid
import redis

tallyd = redis.Redis.from_url(os.environ.get("TALLYD", "redis://127.0.0.1:6379"))
RULE = ("FIXED", 950, "1h")


class Batch:
    """Allows as LIMIT.TAKE does, in whichever process; the limit is never exceeded. For one thread.

    A process that dies gives back what it had not counted when ten minutes are over."""

    def __init__(self, key, size=100):
        self.key, self.size, self.requests, self.tokens, self.spent, self.id = key, size, 0, 0, 0, None

    def call(self, *words):
        self.requests += 1
        return tallyd.execute_command(*words)

    def allow(self):
        if self.spent == self.tokens and not self.refill():
            return False
        self.spent += 1
        return True

    def refill(self):
        self.give_back()
        size = self.size
        while size > 0:
            name = str(uuid.uuid4())
            allowed, _, remaining, *_ = self.call("LIMIT.RESERVE", name, "10m", self.key, *RULE, "COST", size)
            if allowed:
                self.id, self.tokens = name, size
                return True
            size = min(size - 1, remaining)
        return False

    def give_back(self):
        if self.id:
            self.call("LIMIT.COMMIT", self.id, self.key, "COST", self.spent)
        self.id, self.tokens, self.spent = None, 0, 0


batch = Batch("calls:ann")
allowed = sum(batch.allow() for _ in range(940))
batch.give_back()
print(f"{allowed} allowed by {batch.requests} requests: {batch.requests / allowed:.3f} a decision")
print("left for others:", tallyd.execute_command("LIMIT.PEEK", "calls:ann", *RULE, "COST", 0)[2])
# prints
#   940 allowed by 21 requests: 0.022 a decision
#   left for others: 10
