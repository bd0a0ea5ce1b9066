#!/usr/bin/python3
"""Entries with calendars, moved days, hours and working days, in zones, against Python's own dates and zoneinfo.
usage: against_zoneinfo.py WHEN_ANSWERS"""
import random
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from answers import Comparison, ask

SEED = 20261025
CRONS = 220
RATES = 60
WORKING_DAYS = 60
EACH = 700
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "America/Sao_Paulo",
         "Asia/Kolkata", "Europe/London", "Pacific/Auckland", "America/St_Johns", "UTC"]
NAMES = "mon tue wed thu fri sat sun".split()
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MOST_SHIFT = 15


def ms(moment):
    return (moment - EPOCH) // timedelta(milliseconds=1)


class Calendar:
    """A calendar, both as a question has it and as a set of closed and open days."""

    def __init__(self, dice, year):
        self.weekdays = {day for day in range(7) if dice.random() < 0.75} or {0}
        self.exclude, self.include, self.ranges = set(), set(), []
        for _ in range(dice.randint(0, 60)):
            first = date(year, 1, 1) + timedelta(days=dice.randint(0, 1400))
            length = dice.choice([1, 1, 1, 2, 3, 9, 20])
            self.ranges.append(f"{first}..{first + timedelta(days=length - 1)}")
            self.exclude |= {first + timedelta(days=i) for i in range(length)}
        for _ in range(dice.randint(0, 30)):
            self.include.add(date(year, 1, 1) + timedelta(days=dice.randint(0, 1400)))

    def json(self):
        return {"days": ",".join(NAMES[day] for day in sorted(self.weekdays)), "exclude": self.ranges,
                "include": [str(day) for day in sorted(self.include)]}

    def is_open(self, day):
        return day in self.include or (day not in self.exclude and day.weekday() in self.weekdays)


def placed(day, calendars, otherwise, asked):
    """The day to which what falls on this day goes; None: nowhere."""
    for moved in range(MOST_SHIFT + 1):
        there = day + timedelta(days=moved if otherwise == "next" else -moved)
        if all(calendar.is_open(there + timedelta(days=asked)) for calendar in calendars):
            return there
        if otherwise == "skip":
            return None
    return None


def moments_of(local, zone, skipped, repeated):
    """The moments of a local time: none or one where it does not exist, one or two where it exists twice."""
    first = local.replace(tzinfo=zone, fold=0).astimezone(timezone.utc)
    second = local.replace(tzinfo=zone, fold=1).astimezone(timezone.utc)
    if first == second:
        return [first]
    if first.astimezone(zone).replace(tzinfo=None) == local:
        return {"first": [first], "second": [second], "both": [first, second]}[repeated]
    if skipped == "skip":
        return []
    # What is skipped ends where the zone changes: the first moment that shows the offset of after the gap.
    low, high = second - timedelta(hours=3), first + timedelta(hours=3)
    after = high.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        low, high = (low, middle) if middle.astimezone(zone).utcoffset() == after else (middle, high)
    return [high.replace(microsecond=0)]


def cron_case(dice):
    year = dice.randint(2012, 2026)
    minutes = sorted(dice.sample(range(60), dice.randint(1, 3)))
    hours = sorted(dice.sample(range(24), dice.randint(1, 3)) if dice.random() < 0.5
                   else dice.sample(range(0, 4), dice.randint(1, 3)))
    days = sorted(dice.sample(range(1, 32), dice.randint(4, 25))) if dice.random() < 0.5 else list(range(1, 32))
    calendars = [Calendar(dice, year) for _ in range(dice.choice([0, 1, 1, 2]))]
    otherwise = dice.choice(["skip", "next", "previous"]) if calendars else "skip"
    asked = dice.choice([0, 0, 0, -1]) if calendars else 0
    skipped, repeated = dice.choice(["run_at_end", "skip"]), dice.choice(["first", "second", "both"])
    name = dice.choice(ZONES)
    day_field = "*" if len(days) == 31 else ",".join(map(str, days))
    question = {"cron": f"{','.join(map(str, minutes))} {','.join(map(str, hours))} {day_field} * *",
                "zone": name, "skipped": skipped, "repeated": repeated, "otherwise": otherwise, "day": asked,
                "calendars": [calendar.json() for calendar in calendars]}
    zone, found = ZoneInfo(name), set()
    first = date(year, 1, 1)
    for offset in range(-20, 1300):
        day = first + timedelta(days=offset)
        there = placed(day, calendars, otherwise, asked) if day.day in days else None
        for hour in hours if there else []:
            for minute in minutes:
                local = datetime(there.year, there.month, there.day, hour, minute)
                found |= set(moments_of(local, zone, skipped, repeated))
    return question, year, sorted(found)


def rate_case(dice):
    year = dice.randint(2012, 2026)
    zone_name = dice.choice(ZONES)
    zone = ZoneInfo(zone_name)
    step = dice.choice([7, 11, 25, 45, 90, 200]) * 60
    opens, closes = dice.randint(0, 1439), dice.randint(0, 1439)
    calendars = [Calendar(dice, year) for _ in range(dice.choice([0, 1]))]
    anchor = datetime(year, 1, 1, tzinfo=timezone.utc)
    question = {"kind": "every", "interval": step * 1000, "zone": zone_name, "anchor": ms(anchor),
                "between": f"{opens // 60:02}:{opens % 60:02}-{closes // 60:02}:{closes % 60:02}",
                "calendars": [calendar.json() for calendar in calendars]}
    found = []
    moment, end = anchor + timedelta(seconds=step), anchor + timedelta(days=400)
    while moment < end and len(found) < 3 * EACH:
        local = moment.astimezone(zone)
        minute = local.hour * 60 + local.minute + local.second / 60
        inside = opens <= minute <= closes if opens <= closes else minute >= opens or minute <= closes
        if inside and all(calendar.is_open(local.date()) for calendar in calendars):
            found.append(moment)
        moment += timedelta(seconds=step)
    return question, year, found


def working_day_case(dice):
    year = dice.randint(2012, 2026)
    zone_name = dice.choice(ZONES)
    zone = ZoneInfo(zone_name)
    nth = dice.choice([1, 2, 3, 5, 10, 18, -1, -2, -3, -7])
    calendar = Calendar(dice, year)
    hour = dice.randint(0, 23)
    question = {"kind": "working_day", "working_day": nth, "time": f"{hour:02}:15", "zone": zone_name,
                "calendars": [calendar.json()]}
    found = []
    for month in range(12 * 40):
        first = date(year + month // 12, month % 12 + 1, 1)
        after = (first + timedelta(days=32)).replace(day=1)
        days = [first + timedelta(days=i) for i in range((after - first).days)]
        days = [day for day in days if calendar.is_open(day)]
        if len(days) < abs(nth):
            continue
        day = days[nth - 1 if nth > 0 else nth]
        found += moments_of(datetime(day.year, day.month, day.day, hour, 15), zone, "run_at_end", "first")
    return question, year, found


def main():
    dice = random.Random(SEED)
    cases = [cron_case(dice) for _ in range(CRONS)] + [rate_case(dice) for _ in range(RATES)]
    cases += [working_day_case(dice) for _ in range(WORKING_DAYS)]
    asked = []
    for question, year, moments in cases:
        after = datetime(year, 1, 1, tzinfo=timezone.utc) + timedelta(days=dice.randint(2, 20))
        theirs = [ms(moment) for moment in moments if moment > after][:EACH]
        asked.append((question | {"after": ms(after), "count": len(theirs)}, theirs))
    comparison = Comparison()
    for (question, theirs), ours in zip(asked, ask(sys.argv[1], [question for question, _ in asked])):
        comparison.add(question, ours, theirs)
    return comparison.finish(120_000)


if __name__ == "__main__":
    sys.exit(main())
