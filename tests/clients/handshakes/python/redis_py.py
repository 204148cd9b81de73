"""The steps with redis-py. Usage: redis_py.py port protocol-or-- step…"""

import sys

import redis


def connect(db=0):
    options = {} if PROTOCOL == "-" else {"protocol": int(PROTOCOL)}
    return redis.Redis(port=PORT, db=db, **options)


def failure(function, *arguments):
    """The error reply as a value to show."""
    try:
        return ("no error", function(*arguments))
    except redis.ResponseError as error:
        return (type(error).__name__, str(error))


def about_100(ttl):
    """A time to live of 100 s may have lost some of it on a slow machine."""
    return 50 < ttl <= 100


def strings(client, show):
    show(client.ping(), client.echo("hello"))
    show(client.set("s", "value"), client.get("s"), client.get("none"))
    show(client.set("s", "other", nx=True), client.append("s", "!"), client.strlen("s"))
    octets = b"\0\r\n\xff$"
    show(client.set(octets, octets), client.get(octets))
    show(client.mset({"a": 1, "b": 2}), client.mget("a", "none", "b"))


def counters(client, show):
    show(client.incr("n"), client.incrby("n", 41), client.decr("n"))
    show(client.incrbyfloat("f", 1.5), failure(client.incr, "s"))
    show(failure(client.execute_command, "INCR"), failure(client.execute_command, "NOSUCH", "a"))


def expiry(client, show):
    show(client.setex("e", 100, 1), about_100(client.ttl("e")), client.persist("e"))
    show(client.ttl("e"), client.ttl("none"), client.expire("e", 100))
    show(about_100(client.pttl("e") / 1000), client.expire("none", 100))


def lists(client, show):
    show(client.rpush("l", 1, 2, "three"), client.lpush("l", 0), client.llen("l"))
    show(client.lrange("l", 0, -1), client.lindex("l", 2), client.lindex("l", 9))
    show(client.lpop("l"), client.rpop("l"), client.lpop("none"))
    show(failure(client.lpush, "s", 1))


def keys(client, show):
    show(client.exists("l", "s", "none"), client.type("l"), client.type("none"))
    show(sorted(client.scan_iter(match="[ab]")), client.delete("a", "b", "none"))


def pipeline(client, show):
    batch = client.pipeline(transaction=False)
    for _ in range(100):
        batch.incr("p")
    show(batch.execute())


def databases(client, show):
    other = connect(3)
    show(other.set("only in 3", "x"), client.get("only in 3"), other.dbsize())


def transaction(client, show):
    batch = client.pipeline(transaction=True)
    show(batch.incr("t").rpush("tl", "x").get("none").lrange("tl", 0, -1).execute())


def limit(client, _):
    through = 0
    for _ in range(3):
        allowed, *_ = client.execute_command("LIMIT.TAKE", "door", "FIXED", 1, "1h")
        through += bool(allowed)
    print("let through:", through)


def main():
    client = connect()
    for step in sys.argv[3:]:
        globals()[step](client, lambda *values: print(step, values))


PORT, PROTOCOL = int(sys.argv[1]), sys.argv[2]
main()
