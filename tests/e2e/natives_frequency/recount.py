"""What LIMIT's rules must answer, from the hits alone. Instants are unix ms and never go back."""

import copy

DAY_MS = 86_400_000
SHANGHAI_MS = 8 * 3_600_000  # ahead of UTC, without daylight saving in these years


class Fixed:
    def __init__(self, limit, period):
        self.limit = limit
        self.period = period
        self.end = self.count = 0

    def counted(self, at):
        return self.count if at < self.end else 0

    def remaining(self, at):
        return max(0, self.limit - self.counted(at))

    def free_from(self, at):
        """The first instant at which one more is allowed."""
        return at if self.counted(at) < self.limit else self.end

    def add(self, at):
        if self.counted(at) == 0:
            self.end, self.count = self.window_end(at), 0
        self.count += 1

    def give(self, n, at):
        self.count = max(0, self.counted(at) - n)

    def window_end(self, at):
        return at + self.period


class ShanghaiDay(Fixed):
    def __init__(self, limit):
        super().__init__(limit, DAY_MS)

    def window_end(self, at):
        return at - (at + SHANGHAI_MS) % DAY_MS + DAY_MS


class Sliding:
    def __init__(self, limit, period):
        self.limit = limit
        self.period = period
        self.times = []

    def remaining(self, at):
        return max(0, self.limit - sum(time > at - self.period for time in self.times))

    def free_from(self, at):
        return at if self.remaining(at) else self.times[-self.limit] + self.period

    def add(self, at):
        self.times.append(at)

    def give(self, n, at):
        kept = [time for time in self.times if time > at - self.period]
        self.times = kept[:len(kept) - n] if n < len(kept) else []


class Base:
    """From the base-th hit of the day on, at most limit a period."""

    def __init__(self, base, limit, period):
        self.base = base
        self.day = ShanghaiDay(base)
        self.window = Fixed(limit, period)

    def remaining(self, at):
        free = self.day.remaining(at)
        if not free:
            return self.window.remaining(at)
        # The base-th of the day is the first that counts in the window, too.
        return free + max(0, self.window.remaining(at) - 1)

    def free_from(self, at):
        instants = sorted({at, self.day.end, self.window.end})
        return next(time for time in instants if time >= at
                    and (self.day.remaining(time) or self.window.remaining(time)))

    def add(self, at):
        self.day.add(at)
        if self.day.counted(at) >= self.base:
            self.window.add(at)


KINDS = {
    "count": ([Fixed(5, DAY_MS)], "FIXED 5 1d"),
    "natural": ([ShanghaiDay(4)], "CALENDAR 4 day TZ Asia/Shanghai"),
    "base": ([Base(3, 2, 3_600_000)], "BASE 3 2 1h TZ Asia/Shanghai"),
    "leak": ([Sliding(2, DAY_MS)], "SLIDING 2 1d"),
    "several": ([Sliding(2, 3_600_000), Fixed(4, DAY_MS // 2), ShanghaiDay(6)],
                "SLIDING 2 1h FIXED 4 12h CALENDAR 6 day TZ Asia/Shanghai"),
}


class Recount:
    def __init__(self):
        self.rules = {}  # by key

    def of(self, kind, key):
        return self.rules.setdefault(key, copy.deepcopy(KINDS[kind][0]))

    def browse(self, kind, key, at):
        """[allowed, the rule that denied, retry_after_ms]"""
        rules = self.of(kind, key)
        waits = [rule.free_from(at) - at for rule in rules]
        denied = [place for place, wait in enumerate(waits, 1) if wait]
        return [0, denied[0], max(waits)] if denied else [1, 0, 0]

    def update(self, kind, key, at):
        answer = self.browse(kind, key, at)
        if answer[0]:
            for rule in self.of(kind, key):
                rule.add(at)
        return answer

    def feedback(self, kind, key, at, n):
        for rule in self.of(kind, key):
            rule.give(n, at)
