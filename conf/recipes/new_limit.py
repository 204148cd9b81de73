"""A new limit in the shadow of the old one: it is judged and counted, and denies nobody, until one has seen whom it would."""
import os
import redis

tallyd = redis.Redis.from_url(os.environ.get("TALLYD", "redis://127.0.0.1:6379"))
OLD, NEW = ("FIXED", 100, "1m"), ("FIXED", 10, "1m")


def policy(*rules):
    tallyd.execute_command("POLICY.SET", "api", *rules)


def allow(user):
    return tallyd.execute_command("LIMIT.TAKE", f"api:{user}", "POLICY", "api")[0] == 1


def would_be_denied():
    """[(key, how often)] of the last hour."""
    return [(row[0].decode(), row[2]) for row in tallyd.execute_command("DENIALS", "WINDOW", "1h", "POLICY", "api")
            if row[5] == 1]


policy(*OLD, "SHADOW", *NEW)
print("ann:", sum(allow("ann") for _ in range(12)), "of 12; bob:", sum(allow("bob") for _ in range(3)), "of 3")
print("would be denied:", would_be_denied())
policy(*NEW)  # What was counted in the shadow counts at once.
print("ann:", allow("ann"), "bob:", allow("bob"))
# prints
#   ann: 12 of 12; bob: 3 of 3
#   would be denied: [('api:ann', 2)]
#   ann: False bob: True
