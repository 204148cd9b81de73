#!/usr/bin/env python3
"""Calendar periods in every zone, with every start, from 1970 to 2100.

Two judges that share nothing with core/time: a naive model, which lays the periods out from the
offsets of the zone one after the other, and Python's zoneinfo, which is asked what the zone's clock
shows at the begin and at the end of each period, and one second before.

The rule: a period begins at the first instant at which the clock shows the time of its start, or,
where a change skips it, a later one. By default a share of the zones: SCALE=25 is a million periods in
all of them.
"""

import bisect
import calendar
import os
import random
import subprocess
import sys
import zoneinfo
from datetime import date, datetime, timedelta, timezone

SCALE = float(os.environ.get("SCALE", "1"))
SEED = int(os.environ.get("TALLY_SEED", random.SystemRandom().randrange(2**32)))
PER_ZONE = max(1, int(70 * SCALE))
OTHER_ZONES = max(1, int(40 * SCALE))
# Half hours of summer time, two changes for Ramadan, days that are skipped, years without a law.
ODD = [
    "Africa/Casablanca", "Africa/Monrovia", "America/Caracas", "America/Godthab", "America/St_Johns",
    "America/Scoresbysund", "Antarctica/Troll", "Asia/Gaza", "Asia/Kathmandu", "Asia/Pyongyang",
    "Asia/Tehran", "Australia/Lord_Howe", "Europe/Dublin", "Pacific/Apia", "Pacific/Chatham",
    "Pacific/Kiritimati", "Pacific/Kwajalein",
]
OFFSETS = ["+08:00", "-09:30", "+14:00", "-14:00", "+05:45"]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
DAY = 86400
EPOCH = date(1970, 1, 1).toordinal()
END = (date(2100, 12, 31).toordinal() - EPOCH) * DAY
CLOCK_UNITS = {"second": 1, "minute": 60, "hour": 3600}


def zone_of(name):
    if name[0] not in "+-":
        return zoneinfo.ZoneInfo(name)
    sign = -1 if name[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(name[1:3]), minutes=int(name[4:])))


class Offsets:
    """The offsets of a zone: from begins[i] on it is values[i] seconds."""

    def __init__(self, zone):
        self.zone = zone
        low = -3 * 366 * DAY
        self.begins, self.values = [low], [self.at(low)]
        for at in range(low + DAY, END + 3 * 366 * DAY, DAY):
            while (value := self.at(at)) != self.values[-1]:
                # Of several changes in a day, the first comes first.
                before, after = max(low, self.begins[-1], at - DAY), at
                for step in range(before + 1800, at, 1800):
                    if self.at(step) != self.values[-1]:
                        after = step
                        break
                    before = step
                while after - before > 1:
                    middle = (before + after) // 2
                    if self.at(middle) == self.values[-1]:
                        before = middle
                    else:
                        after = middle
                self.begins.append(after)
                self.values.append(self.at(after))

    def at(self, at):
        return int(datetime.fromtimestamp(at, self.zone).utcoffset().total_seconds())

    def segment(self, at):
        i = bisect.bisect_right(self.begins, at) - 1
        end = self.begins[i + 1] if i + 1 < len(self.begins) else 2**60
        return self.begins[i], end, self.values[i]

    def reaches(self, civil):
        """The first instant at which the clock shows `civil`, in seconds, or more."""
        i = max(0, bisect.bisect_left(self.begins, civil - 3 * DAY) - 1)
        while True:
            begin, value = self.begins[i], self.values[i]
            at = max(begin, civil - value)
            if i + 1 == len(self.begins) or at < self.begins[i + 1]:
                return at
            i += 1


def clock(text):
    return int(text[:2]) * 3600 + int(text[3:]) * 60


def month_day(year, month, day):
    return date(year, month, min(day, calendar.monthrange(year, month)[1])).toordinal() - EPOCH


def starts_near(unit, start, day):
    """Civil seconds of the starts of the unit around a day, in order."""
    if unit == "day":
        into = 0 if start == "-" else clock(start)
        return [(day + i) * DAY + into for i in range(-3, 4)]
    if unit == "week":
        first = 0 if start == "-" else WEEKDAYS.index(start)
        monday = day - (day + 3) % 7  # 1970-01-01 was a Thursday
        return [(monday + first + 7 * i) * DAY for i in range(-2, 3)]
    shown = date.fromordinal(day + EPOCH)
    if unit == "month":
        number, into = 1, 0
        if start != "-":
            text, _, time = start.partition("T")
            number, into = int(text), clock(time) if time else 0
        months = [shown.year * 12 + shown.month - 1 + i for i in range(-2, 3)]
        return [month_day(m // 12, m % 12 + 1, number) * DAY + into for m in months]
    month, number = (1, 1) if start == "-" else map(int, start.split("-"))
    return [month_day(shown.year + i, month, number) * DAY for i in range(-2, 3)]


def model(offsets, unit, start, at):
    begin, end, value = offsets.segment(at)
    if unit in CLOCK_UNITS:
        length = CLOCK_UNITS[unit]
        first = (at + value) // length * length - value
        return max(begin, first), min(end, first + length)
    begins = [offsets.reaches(civil) for civil in starts_near(unit, start, (at + value) // DAY)]
    return max(b for b in begins if b <= at), min(b for b in begins if b > at)


def check_by_zoneinfo(zone, unit, start, at, period):
    """The clock crosses a start at the begin and at the end, and none in between."""
    def shows(second):
        shown = datetime.fromtimestamp(second, zone).replace(tzinfo=None)
        return (shown - datetime(1970, 1, 1)) // timedelta(seconds=1)

    assert period[0] <= at < period[1], "the period does not hold the instant"
    if unit in CLOCK_UNITS:
        length = CLOCK_UNITS[unit]
        assert period[1] - period[0] <= length
        assert shows(period[0]) // length == shows(period[1] - 1) // length
        for edge in period:
            jumps = shows(edge) - shows(edge - 1) != 1
            assert jumps or shows(edge) % length == 0, f"no start at {edge}"
        return
    for edge in period:
        before, after = shows(edge - 1), shows(edge)
        starts = starts_near(unit, start, after // DAY)
        assert any(before < civil <= after for civil in starts), f"no start at {edge}"


def every_start():
    yield from (("day", s) for s in ("-", "20:00", "00:01", "02:30", "23:59"))
    yield from (("week", s) for s in ["-"] + WEEKDAYS)
    yield from (("month", s) for s in ["-"] + [str(day) for day in range(1, 32)] + ["15T10:00", "31T02:30"])
    yield from (("year", s) for s in ["-", "02-29", "04-06", "12-31", "10-01", "03-31"])
    yield from ((unit, "-") for unit in CLOCK_UNITS)


def draw(dice, offsets):
    at = dice.randrange(0, END)
    where = dice.randrange(3)
    if where == 0:
        at = dice.choice(offsets.begins) + dice.choice([-1, 0, 1, -DAY, 3599, DAY])
    elif where == 1:
        at = at // DAY * DAY + dice.choice([-1, 0, 1])
    return min(max(at, 0), END)


def asks_of(dice, name, offsets):
    starts = list(every_start())
    for _ in range(PER_ZONE):
        unit, start = dice.choice(starts)
        yield unit, start, draw(dice, offsets)
    if name in ODD:
        # Each start, and there what begins and ends beside a change of the clocks.
        for unit, start in starts:
            for begin in dice.sample(offsets.begins, min(len(offsets.begins), max(2, int(2 * SCALE)))):
                yield unit, start, min(max(0, begin + dice.choice([-DAY, -1, 0, 1, DAY])), END)


def main():
    program = sys.argv[1]
    dice = random.Random(SEED)
    print(f"TALLY_SEED={SEED}")
    names = sorted(n for n in zoneinfo.available_timezones() if n not in ("localtime", "Factory"))
    kept = dict.fromkeys(ODD + OFFSETS + dice.sample(names, min(len(names), OTHER_ZONES)))
    periods = 0
    for name in kept:
        zone = zone_of(name)
        offsets = Offsets(zone)
        asks = list(asks_of(dice, name, offsets))
        text = "".join(f"{name} {unit} {start} {at * 1000 + 999}\n" for unit, start, at in asks)
        out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
        answers = [tuple(int(ms) for ms in line.split()) for line in out.splitlines()]
        assert len(answers) == len(asks)
        for (unit, start, at), (begin_ms, end_ms) in zip(asks, answers):
            period = begin_ms // 1000, end_ms // 1000
            said = f"{name} {unit} {start} at {at}: {period}"
            assert begin_ms % 1000 == 0 and end_ms % 1000 == 0, said
            expected = model(offsets, unit, start, at)
            assert period == expected, f"{said}, by the model {expected}"
            try:
                check_by_zoneinfo(zone, unit, start, at, period)
            except AssertionError as error:
                raise AssertionError(f"{said}: {error}") from None
            periods += 1
    print(f"{periods} periods in {len(kept)} zones are right")


main()
