"""Login: five wrong passwords of a user, or twenty from an address, lock for 15 minutes, and each time for longer."""
import os
import redis

tallyd = redis.Redis.from_url(os.environ.get("TALLYD", "redis://127.0.0.1:6379"))
USER = ("LOCKOUT", 5, "15m", "15m", "GROW", 2, "MAX", "1d")
ADDRESS = ("LOCKOUT", 20, "15m", "1h", "GROW", 2, "MAX", "7d")


def login(user, address, is_right):
    """Counts the attempt before the password is looked at, so that guesses at the same time cannot pass together."""
    by_user, by_address = f"login:user:{user}", f"login:address:{address}"
    allowed, _, _, retry_after_ms, _, rule = tallyd.execute_command(
        "LIMIT.TAKE", by_user, *USER, "AND", by_address, *ADDRESS)
    if not allowed:
        return f"{'user' if rule == 1 else 'address'} is locked for {round(retry_after_ms / 60_000)} minutes"
    if not is_right():
        return "wrong password"
    # The user is forgiven. The address gets only this attempt back: who has one password may be guessing others.
    tallyd.execute_command("LIMIT.RESET", by_user)
    tallyd.execute_command("LIMIT.GIVE", by_address)
    return "welcome"


for guess in range(6):
    print("ann:", login("ann", "192.0.2.1", lambda: False))
print("bob:", login("bob", "192.0.2.1", lambda: True))
# prints
#   ann: wrong password
#   ann: wrong password
#   ann: wrong password
#   ann: wrong password
#   ann: wrong password
#   ann: user is locked for 15 minutes
#   bob: welcome
