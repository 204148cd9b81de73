"""All that a server holds, in a form that is equal for equal data."""


def value_of(client, key, kind):
    kind = kind if isinstance(kind, str) else kind.decode()
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
    return client.call("DUMP", key)


def data_of(server, databases=16):
    """By database and key: the type, the value and the deadline."""
    data = {}
    with server.client() as client:
        for database in range(databases):
            client.call("SELECT", database)
            for key in client.scan("COUNT", 1000):
                kind = client.call("TYPE", key)
                data[database, key] = (kind, value_of(client, key, kind), client.call("PEXPIRETIME", key))
        data["policies"] = client.call("POLICY.LIST")
    return data


def difference(one, other, most=5):
    """A text about what differs; empty if nothing does."""
    keys = sorted(one.keys() | other.keys(), key=str)
    lines = [f"{key}: {str(one.get(key))[:300]} / {str(other.get(key))[:300]}"
             for key in keys if one.get(key) != other.get(key)]
    return "\n".join([f"{len(lines)} differ", *lines[:most]]) if lines else ""
