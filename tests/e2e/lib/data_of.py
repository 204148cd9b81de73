"""All that a server holds, as reads show it: equal for equal data, whatever order a table has it in."""

import time

from lib.resp import ReplyError

USERS = ["ann", "bob", *map(str, range(50))]
SKUS = ["1", "2", "3", "7", "shoe", "sale", *(f"sku{n}" for n in range(10))]
HOUR = 3600


def answer(client, *words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return str(error)


def quota_of(client, key):
    calls = [("QUOTA.LIMITS", key, *SKUS)]
    calls += [(name, key, user) for user in USERS for name in ("QUOTA.LEFTBYUSER", "QUOTA.HISTORY")]
    *counts, _bytes = client.call("QUOTA.STATS", key)
    return [counts, *(answer(client, *call) for call in calls)]


def active_of(client, key, now):
    ids, cursor = [], b"0"
    while True:
        cursor, page = client.call("ACTIVE.SCAN", key, cursor, "COUNT", 1000)
        ids += page
        if cursor == b"0":
            break
    calls = [("ACTIVE.SHOW", key), ("ACTIVE.DAY", key, "DAYS", 5), ("ACTIVE.ONLINE", key), ("ACTIVE.PEAK", key)]
    return [sorted(map(str, ids)), *(answer(client, *call) for call in calls)]


def value_of(client, key, kind, now):
    if kind == "string":
        return client.call("GET", key)
    if kind == "list":
        return client.call("LRANGE", key, 0, -1)
    if kind == "set":
        return sorted(client.call("SMEMBERS", key))
    if kind == "hash":
        words = client.call("HGETALL", key)
        return sorted(zip(words[::2], words[1::2]))
    if kind == "zset":
        return client.call("ZRANGE", key, 0, -1, "WITHSCORES")
    if kind == "hits":
        begin, end = now // 1000 - 100 * HOUR, now // 1000 + 30 * HOUR
        return [answer(client, "HITS.COUNT", key), answer(client, "HITS.SHOW", key),
                answer(client, "HITS.RANGE", key, "FROM", begin, "TO", end, "STEP", "1h")]
    if kind == "limit":
        return [answer(client, "LIMIT.SHOW", key), answer(client, "LIMIT.HELD", key)]
    if kind == "active":
        return active_of(client, key, now)
    return quota_of(client, key)


def data_of(server, databases=16):
    """By database and key: the type, the deadline and the value."""
    data = {}
    with server.client() as client:
        now = int(client.call("TIME")[0]) * 1000
        for database in range(databases):
            client.call("SELECT", database)
            for key in client.scan("COUNT", 1000):
                kind = client.call("TYPE", key)
                if kind != "none":  # it has not expired
                    data[database, key] = (kind, client.call("PEXPIRETIME", key), value_of(client, key, kind, now))
        data["policies"] = client.call("POLICY.LIST")
    return data


def differences(*servers):
    """What differs between the servers, as a text. Their clocks stand still meanwhile, a little after now: so a key that
    one of them removes just before has expired for all."""
    now = int(time.time() * 1000) + 1000
    for server in servers:
        with server.client() as client:
            client.call("DEBUG", "CLOCK", "SET", now)
    data = [data_of(server) for server in servers]
    for server in servers:
        with server.client() as client:
            client.call("DEBUG", "CLOCK", "REAL")
    return "\n".join(filter(None, (difference(data[0], other) for other in data[1:])))


def difference(one, other, most=5):
    """A text about what differs; empty if nothing does."""
    keys = sorted((key for key in one.keys() | other.keys() if one.get(key) != other.get(key)), key=str)
    if not keys:
        return ""
    lines = [f"{len(keys)} of {len(one)} differ"]
    for key in keys[:most]:
        text, other_text = str(one.get(key)), str(other.get(key))
        same = next((i for i, (a, b) in enumerate(zip(text, other_text)) if a != b), 0)
        begin = max(same - 80, 0)
        lines.append(f"{key}: …{text[begin:same + 120]}…\n  / …{other_text[begin:same + 120]}…")
    return "\n".join(lines)
