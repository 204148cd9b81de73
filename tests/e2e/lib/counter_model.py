"""A naive model of the commands that the counting systems send, to recount what a server acknowledged."""

NO_DEADLINE = -1
CLOCK_SLACK_MS = 1000  # A server reads its clock once a turn, before it reads the request.


class CounterModel:
    """Keys to int, bytes or a list of bytes; deadlines are intervals, for the server read its own clock."""

    def __init__(self):
        self.values = {}
        self.deadlines = {}  # key -> (earliest, latest) unix ms

    def copy(self):
        other = CounterModel()
        other.values = {key: list(value) if isinstance(value, list) else value
                        for key, value in self.values.items()}
        other.deadlines = dict(self.deadlines)
        return other

    def apply(self, command, sent_at, answered_at):
        """Executes a command that the server ran at some time between the two; returns its reply."""
        name, *arguments = command
        return getattr(self, "_" + name.decode().lower())(*arguments, (sent_at, answered_at))

    def holds(self, key, found):
        """Whether the model has for the key what a server has: (value, deadline), or None if absent."""
        if found is None:
            return key not in self.values
        value, deadline = self.values.get(key), found[1]
        earliest, latest = self.deadlines.get(key, (NO_DEADLINE, NO_DEADLINE))
        if NO_DEADLINE not in (deadline, earliest):
            earliest, latest = earliest - CLOCK_SLACK_MS, latest + CLOCK_SLACK_MS
        same_value = found[0] == (str(value).encode() if isinstance(value, int) else value)
        return same_value and earliest <= deadline <= latest

    def differences(self, found):
        """The keys of which the model and a dump tell different things."""
        return {key for key in found.keys() | self.values.keys() if not self.holds(key, found.get(key))}

    def _drop(self, key):
        self.values.pop(key, None)
        self.deadlines.pop(key, None)

    def _get(self, key, _):
        value = self.values.get(key)
        return None if value is None else str(value).encode()

    def _mget(self, *arguments):
        *keys, now = arguments
        return [self._get(key, now) for key in keys]

    def _exists(self, key, _):
        return int(key in self.values)

    def _del(self, key, _):
        existed = self._exists(key, None)
        self._drop(key)
        return existed

    def _incr(self, key, _):
        self.values[key] = self.values.get(key, 0) + 1
        return self.values[key]

    def _setex(self, key, seconds, value, now):
        self.values[key] = int(value)
        self._expire(key, seconds, now)
        return b"OK"

    def _expire(self, key, seconds, now):
        if key not in self.values:
            return 0
        self.deadlines[key] = tuple(at + int(seconds) * 1000 for at in now)
        return 1

    def _llen(self, key, _):
        return len(self.values.get(key, []))

    def _lindex(self, key, index, _):
        entries = self.values.get(key, [])
        return entries[int(index)] if int(index) < len(entries) else None

    def _lpush(self, key, value, _):
        self.values.setdefault(key, []).insert(0, value)
        return len(self.values[key])

    def _rpush(self, key, value, _):
        self.values.setdefault(key, []).append(value)
        return len(self.values[key])

    def _lpop(self, key, _):
        return self._pop(key, 0)

    def _rpop(self, key, _):
        return self._pop(key, -1)

    def _pop(self, key, index):
        if key not in self.values:
            return None
        value = self.values[key].pop(index)
        if not self.values[key]:
            self._drop(key)
        return value


def dump(client):
    """A server's keyspace, read without the client under test: key -> (value, deadline in unix ms)."""
    keys = sorted(client.scan())
    types = client.pipeline(("TYPE", key) for key in keys)
    values = client.pipeline(("LRANGE", key, 0, -1) if kind == "list" else ("GET", key)
                             for key, kind in zip(keys, types))
    deadlines = client.pipeline(("PEXPIRETIME", key) for key in keys)
    return dict(zip(keys, zip(values, deadlines)))
