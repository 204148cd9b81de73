"""Random calls of tallyd's own commands, right and wrong ones, on few keys of every type."""

import random

DAY_MS = 86_400_000
ZONES = ["UTC", "Asia/Shanghai", "America/New_York", "europe/berlin"]


class NativeCommands:
    """A seeded stream. `now` is unix ms, which the caller moves on."""

    def __init__(self, seed, now, keys=40, holds=True):
        """Without `holds` no order of a book is held: the digest of a book has the numbers of its texts, and these
        depend on when a server freed the last line that used a text."""
        self.random = random.Random(seed)
        self.now = now
        self.keys = keys
        self.holds = holds
        self.orders = 0

    def call(self):
        choice = self.random.random()
        if choice < 0.4:
            call = self.limit_call()
        elif choice < 0.55:
            call = self.hits_call()
        elif choice < 0.7:
            call = self.active_call()
        elif choice < 0.92:
            call = self.quota_call()
        elif choice < 0.96:
            call = self.policy_call()
        else:
            call = self.other_call()
        is_native = "." in call[0]
        return self.spoiled(call) if is_native and self.random.random() < 0.02 else call

    def pick(self, *values):
        return self.random.choice(values)

    def key(self, family):
        """Mostly of the family, sometimes one that any family uses."""
        if self.random.random() < 0.02:
            return self.mixed()
        return self.own_key(family)

    def own_key(self, family):
        return f"{{k}}:{family}:{int(self.keys * self.random.random() ** 2)}"

    def mixed(self):
        return f"{{k}}:mixed:{self.random.randrange(self.keys)}"

    def duration(self):
        return self.pick("1", "0.5", "1500ms", "5s", "1m", "10m", "2h", "24h", "7d")

    def at(self):
        """Mostly none; early and late ones."""
        if self.random.random() < 0.75:
            return []
        offset = self.pick(0, -1, 1, -500, -5_000, -60_000, -3_600_000, -DAY_MS, -30 * DAY_MS, 900, 60_000, DAY_MS)
        moment = self.now + offset
        return ["AT", self.pick(f"{moment}ms", f"{moment // 1000}.{moment % 1000:03}")]

    def rule(self):
        limit = self.pick(0, 1, 2, 3, 5, 20, 1000)
        kind = self.random.randrange(10)
        if kind == 0:
            return ["FIXED", limit, self.duration()]
        if kind == 1:
            words = ["CALENDAR", limit, self.pick("second", "minute", "hour", "day", "week", "month", "year")]
            words += ["TZ", self.pick(*ZONES)] if self.random.random() < 0.4 else []
            return words + (["WEEKSTART", "sunday"] if self.random.random() < 0.1 else [])
        if kind in (2, 3):
            return ["SLIDING", limit, self.duration()]
        if kind == 4:
            return ["ROLLING", limit, self.duration()]
        if kind in (5, 6):
            return ["BUCKET", self.pick(1, 3, 10, 100), self.pick(1, 2, 7), self.duration()]
        if kind == 7:
            return ["BASE", self.pick(0, 1, 3), limit, self.duration()]
        if kind == 8:
            return ["POLICY", f"{{k}}:policy:{self.random.randrange(4)}"]
        return [self.pick("ALLOW", "DENY")]

    def rules(self):
        words = self.rule()
        while self.random.random() < 0.3:
            words += self.rule()
        return words

    def limit_call(self):
        choice = self.random.random()
        key = self.key("limit")
        if choice < 0.75:
            words = [self.pick("LIMIT.TAKE", "LIMIT.TAKE", "LIMIT.TAKE", "LIMIT.PEEK", "LIMIT.FORCE"), key]
            words += self.rules()
            while self.random.random() < 0.2:
                words += ["AND", self.key("limit")] + self.rules()
            if self.random.random() < 0.3:
                words += ["COST", self.pick(0, 1, 2, 3, 100, 2_000_000)]
            return words + self.at()
        if choice < 0.82:
            return ["LIMIT.GIVE", key] + ([self.pick(0, 1, 5)] if self.random.random() < 0.5 else []) + self.at()
        if choice < 0.85:
            return ["LIMIT.RESET", key]
        if choice < 0.92:
            return ["LIMIT.SHOW", key]
        words = ["CL.THROTTLE", key, self.pick(0, 1, 15), self.pick(1, 30), self.pick(1, 60)]
        return words + ([self.pick(0, 1, 3)] if self.random.random() < 0.5 else [])

    def hits_call(self):
        key = self.key("hits")
        choice = self.random.random()
        if choice < 0.6:
            words = ["HITS.ADD", key, self.duration()]
            words += ["COUNT", self.pick(0, 1, 2, 50)] if self.random.random() < 0.3 else []
            words += ["CAP", self.pick(0, 1, 10, 100)] if self.random.random() < 0.3 else []
            return words + self.at()
        if choice < 0.8:
            window = ["WINDOW", self.duration()] if self.random.random() < 0.5 else []
            return ["HITS.COUNT", key] + window + self.at()
        if choice < 0.9:
            return ["HITS.UNDO", key] + ([self.pick(0, 1, 4, 1000)] if self.random.random() < 0.5 else [])
        if choice < 0.93:
            return ["HITS.SHOW", key]
        begin = self.now - self.pick(1000, 60_000, DAY_MS)
        return ["HITS.RANGE", key, "FROM", f"{begin}ms", "TO", f"{self.now}ms", "STEP", self.pick("1", "10s", "1h")]

    def ids(self):
        return [self.pick("ann", "bob", "carl", f"user:{self.random.randrange(300)}", self.random.randrange(300))
                for _ in range(1 + int(3 * self.random.random() ** 3))]

    def date(self):
        days = (self.now // DAY_MS) - self.random.randrange(4)
        era = days + 719468
        # Howard Hinnant's days-to-civil.
        cycle, day_of_era = divmod(era, 146097)
        year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
        day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
        month = (5 * day_of_year + 2) // 153
        day = day_of_year - (153 * month + 2) // 5 + 1
        month += 3 if month < 10 else -9
        return f"{year_of_era + cycle * 400 + (month <= 2)}-{month:02}-{day:02}"

    def active_call(self):
        key = self.key("active")
        choice = self.random.random()
        if choice < 0.5:
            at = self.at()
            return ["ACTIVE.TOUCHAT", key, at[1]] + self.ids() if at else ["ACTIVE.TOUCH", key] + self.ids()
        if choice < 0.55:
            words = ["ACTIVE.CREATE", key]
            words += ["WINDOW", self.duration()] if self.random.random() < 0.5 else []
            words += ["TZ", self.pick(*ZONES)] if self.random.random() < 0.5 else []
            return words + (["KEEP", self.pick("1d", "3d", "30d")] if self.random.random() < 0.5 else [])
        if choice < 0.57:
            return ["ACTIVE.ALTER", key, self.pick("WINDOW", "KEEP"), self.duration()]
        if choice < 0.6:
            return ["ACTIVE.FORGET", key] + self.ids()
        dates = sorted([self.date(), self.date()])
        return self.pick(
            ["ACTIVE.ONLINE", key] + self.at(), ["ACTIVE.SEEN", key, self.ids()[0]], ["ACTIVE.PEAK", key],
            ["ACTIVE.PEAK", key, "DAY", self.date()], ["ACTIVE.DAY", key, "DAYS", self.pick(1, 3)],
            ["ACTIVE.USERS", key, "FROM", dates[0], "TO", dates[1]],
            ["ACTIVE.SERIES", key, "FROM", f"{self.now - 600_000}ms", "TO", f"{self.now}ms", "STEP", "1m"],
            ["ACTIVE.SCAN", key, self.pick(0, 0, 5), "COUNT", self.pick(1, 10, 100)],
            ["ACTIVE.SCAN", key, 0, "ONLINE"])

    def sku(self):
        return self.pick(1, 2, 3, "shoe", f"sku{self.random.randrange(10)}")

    def action(self):
        return self.pick(0, 0, 0, 1, 2, "sale")

    def quota_call(self):
        book = self.key("quota")
        user = self.pick("ann", "bob", self.random.randrange(50))
        choice = self.random.random()
        if choice < 0.15:
            words = ["QUOTA.SETLIMIT", book]
            for _ in range(self.random.randrange(1, 3)):
                words += [self.sku(), self.action(), self.pick(0, 1, 5, 30, 2_000_000_000), self.duration()]
            return words
        if choice < 0.55:
            self.orders += 1
            words = [self.pick("QUOTA.BUY", "QUOTA.BUY", "QUOTA.RECORD"), book, user,
                     self.pick(f"order{self.orders}", self.orders, self.random.randrange(20)), "ITEMS"]
            for _ in range(self.random.randrange(1, 4)):
                words += [self.sku(), self.action(), self.pick(1, 1, 2, 10)]
            words += self.at() + (["ONCE"] if self.random.random() < 0.2 else [])
            return words + (["HOLD", self.pick("1m", "10m", "2h", "24h", "7d")] if self.holds and self.random.random() < 0.3 else [])
        if choice < 0.6:
            return ["QUOTA.CONFIRM", book, user, self.pick(self.orders, f"order{self.orders}", self.random.randrange(20))]
        if choice < 0.65:
            words = ["QUOTA.RETURN", book, user, self.pick(self.orders, self.random.randrange(20)), "ITEMS"]
            return words + [self.sku(), self.pick(1, 5)] + (["ONCE"] if self.random.random() < 0.3 else [])
        actions = ["ACTIONS", self.action()] if self.random.random() < 0.3 else []
        if choice < 0.68:
            return ["QUOTA.DELLIMIT", book, self.sku()] + actions
        if choice < 0.71:
            return ["QUOTA.RESET", book, user] + actions
        return self.pick(["QUOTA.LEFT", book, user, self.sku(), self.sku()] + self.at(),
                         ["QUOTA.LEFTBYUSER", book, user] + actions, ["QUOTA.LIMITS", book, self.sku()] + actions,
                         ["QUOTA.SHOW", book, user, self.sku(), self.sku()], ["QUOTA.HISTORY", book, user])

    def policy_call(self):
        name = f"{{k}}:policy:{self.random.randrange(4)}"
        return self.pick(["POLICY.SET", name] + self.rules(), ["POLICY.GET", name], ["POLICY.LIST"],
                         ["POLICY.DEL", name])

    def other_call(self):
        return self.pick(["SET", self.mixed(), "text"], ["LIMIT", "HELP"], ["HITS", "HELP"],
                         ["COPY", self.own_key("quota"), self.own_key("quota"), "REPLACE"],
                         ["COPY", self.own_key("active"), self.own_key("active"), "REPLACE"],
                         ["UNLINK", self.own_key("quota")], ["DEL", self.own_key("active")])

    def spoiled(self, call):
        """One word is missing, doubled or another one."""
        call = list(call)
        index = self.random.randrange(1, len(call)) if len(call) > 1 else 0
        kind = self.random.randrange(3)
        if kind == 0 and len(call) > 1:
            del call[index]
        elif kind == 1:
            call.insert(index, call[index])
        else:
            call[index] = self.pick("", "x", -1, 9_223_372_036_854_775_807, 1e300, "AND", "AT", "\x01\r\n", "1e3")
        return call
