#!/usr/bin/python3
"""Holds the calendars of examples/calendars against the rules by which their holidays are published.

Easter is found as the church defines it: the Sunday after the full moon of its tables on or after 21 March. All other
days are found by looking at each day of the year.
"""
import datetime
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
YEARS = (2026, 2027)
MON, THU, SAT, SUN = 0, 3, 5, 6
DAY = datetime.timedelta(days=1)


def calendar(name):
    text = (ROOT / f"examples/calendars/{name}.yaml").read_text()
    return text, yaml.safe_load(text)["calendars"][0]


def days_of(year):
    day = datetime.date(year, 1, 1)
    while day.year == year:
        yield day
        day += DAY


def full_moon(year):
    """The 14th day of the moon in the Gregorian tables, on or after 21 March."""
    golden, century = year % 19 + 1, year // 100 + 1
    solar, lunar = 3 * century // 4 - 12, (8 * century + 5) // 25 - 5
    epact = (11 * golden + 20 + lunar - solar) % 30
    if epact == 24 or (epact == 25 and golden > 11):
        epact += 1
    march = 44 - epact
    return datetime.date(year, 3, 1) + (march - 1 + (30 if march < 21 else 0)) * DAY


def easter(year):
    day = full_moon(year) + DAY
    while day.weekday() != SUN:
        day += DAY
    return day


def weekdays(year, month, weekday):
    return [day for day in days_of(year) if day.month == month and day.weekday() == weekday]


def observed(day):
    return {SAT: day - DAY, SUN: day + DAY}.get(day.weekday(), day)


def united_states(year):
    """Those that the offices and the exchange share: {name: day of the law}."""
    return [datetime.date(year, 1, 1), weekdays(year, 1, MON)[2], weekdays(year, 2, MON)[2],
            weekdays(year, 5, MON)[-1], datetime.date(year, 6, 19), datetime.date(year, 7, 4),
            weekdays(year, 9, MON)[0], weekdays(year, 11, THU)[3], datetime.date(year, 12, 25)]


class Examples(unittest.TestCase):
    def closed(self, name, wanted):
        found = calendar(name)[1]
        self.assertEqual(sorted(found["exclude"]), sorted(str(day) for day in wanted))
        self.assertEqual(found["days"], "mon-fri")
        self.assertEqual((found["covers"], found["beyond"]), ("2026-01-01..2027-12-31", "hold"))

    def test_easter_of_known_years(self):
        known = {1954: (4, 18), 1981: (4, 19), 2000: (4, 23), 2008: (3, 23), 2011: (4, 24), 2026: (4, 5), 2027: (3, 28)}
        for year, (month, day) in known.items():
            self.assertEqual(easter(year), datetime.date(year, month, day))

    def test_germany(self):
        wanted = []
        for year in YEARS:
            wanted += [easter(year) + after * DAY for after in (-2, 1, 39, 50)]
            wanted += [datetime.date(year, *day) for day in ((1, 1), (5, 1), (10, 3), (12, 25), (12, 26))]
        self.closed("germany", wanted)

    def test_us_federal(self):
        wanted = []
        for year in (*YEARS, YEARS[-1] + 1):
            of_law = united_states(year) + [weekdays(year, 10, MON)[1], datetime.date(year, 11, 11)]
            wanted += [observed(day) for day in of_law if observed(day).year in YEARS]
        self.closed("us_federal", wanted)

    def test_nyse(self):
        wanted, early = [], []
        for year in YEARS:
            # None moves into another year: no accounting period may end on the day off.
            wanted += [observed(day) for day in united_states(year)] + [easter(year) - 2 * DAY]
            early.append(weekdays(year, 11, THU)[3] + DAY)
            early += [datetime.date(year, 7, 3), datetime.date(year, 12, 24)]
        self.closed("nyse", wanted)
        early = {str(day): "09:30-13:00" for day in early if day.weekday() < SAT and day not in wanted}
        self.assertEqual(calendar("nyse")[1]["hours"], early)

    def test_make_up_days_are_marked_as_invented(self):
        text, found = calendar("make_up_days")
        self.assertIn("not an official list", text.splitlines()[0])
        self.assertIn("not an official list", found["description"])
        for day in found["include"]:
            self.assertGreaterEqual(datetime.date.fromisoformat(day).weekday(), SAT)

    def test_comments_name_the_weekday(self):
        for name in ("germany", "us_federal", "nyse", "make_up_days"):
            for line in calendar(name)[0].splitlines():
                if line.startswith('      - "') and ".." not in line:
                    day = datetime.date.fromisoformat(line.split('"')[1])
                    self.assertIn(f"# {day:%a}", line)


if __name__ == "__main__":
    unittest.main()
