"""django-redis as Django's cache: counters with a TTL, locks, pages of sessions. Usage: django_cache.py port"""

import sys

import django
from django.conf import settings

settings.configure(
    CACHES={"default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": f"redis://127.0.0.1:{sys.argv[1]}/1",
        "OPTIONS": {"CLIENT_CLASS": "django_redis.client.DefaultClient"},
        "KEY_PREFIX": "app",
    }},
    SESSION_ENGINE="django.contrib.sessions.backends.cache",
)
django.setup()

# pylint: disable=wrong-import-position
from django.contrib.sessions.backends.cache import SessionStore  # noqa: E402
from django.core.cache import cache  # noqa: E402


def show(*values):
    print(*values, flush=True)


def about(ttl, whole):
    return whole / 2 < ttl <= whole


def main():
    show(cache.add("hits", 0, timeout=1000), cache.add("hits", 5), [cache.incr("hits") for _ in range(3)])
    show(about(cache.ttl("hits"), 1000), cache.decr("hits"), cache.get("none"), cache.has_key("hits"))
    cache.set_many({f"page:{i}": {"views": i, "by": ["ann", i]} for i in range(30)}, timeout=500)
    show(sorted(cache.get_many([f"page:{i}" for i in range(5)]).items()))
    show(sorted(cache.keys("page:*"))[:5], len(list(cache.iter_keys("page:*", itersize=7))))
    show(cache.touch("page:1", 50), about(cache.ttl("page:1"), 50), cache.persist("page:2"), cache.ttl("page:2"))
    show(cache.set("once", 1, nx=True), cache.set("once", 2, nx=True), cache.expire("once", 70))

    door = cache.lock("door", timeout=20, blocking_timeout=0.05)
    show(door.acquire(), cache.lock("door", blocking_timeout=0.05).acquire(), door.extend(10), door.release())

    session = SessionStore()
    session["cart"] = [1, 2, 3]
    session.save()
    show("restart")
    sys.stdin.readline()
    show(cache.incr("hits"), about(cache.ttl("hits"), 1000), SessionStore(session.session_key)["cart"])
    session.delete()
    show(SessionStore(session.session_key).load(), cache.delete_pattern("page:*"), cache.get("page:1"))
    with cache.lock("door", timeout=20):
        show("locked again")
    cache.clear()
    show(cache.keys("*"))


main()
