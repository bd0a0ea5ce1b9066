#!/usr/bin/python3
"""Crons of five fields against croniter, in UTC. usage: against_croniter.py WHEN_ANSWERS"""
import random
import sys
from datetime import datetime, timezone

from croniter import croniter

from answers import Comparison, ask

SEED = 20260829
QUESTIONS = 2600
EACH = 30
EVERY_DAY = ("a list that names every day, beside a list in the other day field: to croniter it is no restriction, "
             "to cronie and Rota it is one, so that a day matches when either field does")
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat".split()


def field(dice, low, high, stars, names=None):
    """A field: star, star with step, or a list of values and ranges (with steps)."""
    roll = dice.random()
    if roll < stars:
        return "*"
    if roll < stars + 0.1 and names is None:
        return f"*/{dice.randint(2, max(2, (high - low) // 2))}"
    items = []
    for _ in range(dice.randint(1, 3)):
        first = dice.randint(low, high)
        last = dice.randint(first, high)
        roll = dice.random()
        if roll < 0.5 or first == last:
            items.append(names[first - low] if names and dice.random() < 0.5 else str(first))
        elif roll < 0.8:
            items.append(f"{first}-{last}")
        else:
            items.append(f"{first}-{last}/{dice.randint(1, max(1, last - first))}")
    return ",".join(items)


def day_fields(dice):
    """Both may be given (then either counts), except for a star with a step, on which cronie and croniter
    do not agree, and Rota goes by cronie: it is left out beside another day field."""
    kind = dice.randint(0, 4)
    month_day = "*" if kind in (0, 1) else field(dice, 1, 31, 0, [str(d) for d in range(1, 32)])
    weekday = "*" if kind in (0, 2) else field(dice, 0, 6, 0, DAYS)
    if kind == 4:
        weekday = dice.choice(["1#2", "5#1", "0#3", "6#4", "L5", "L1"])
        month_day = "*"
    return month_day, weekday


def made(dice):
    month_day, weekday = day_fields(dice)
    return " ".join([field(dice, 0, 59, 0.2), field(dice, 0, 23, 0.3), month_day,
                     field(dice, 1, 12, 0.6, MONTHS), weekday])


def values_of(field, low, high, names):
    """The values that a list of values and ranges stands for."""
    values = set()
    for item in field.split(","):
        bounds, _, step = item.partition("/")
        first, _, last = bounds.partition("-")
        first, last = (names.index(each) + low if each in names else each for each in (first, last or first))
        values |= set(range(int(first), int(last) + 1, int(step or 1)))
    return values & set(range(low, high + 1))


def is_known(cron):
    """Both day fields are lists, and one of them names every day."""
    month_day, weekday = cron.split()[2], cron.split()[4]
    if "*" in (month_day, weekday) or "#" in weekday or "L" in weekday:
        return False
    return len(values_of(month_day, 1, 31, [])) == 31 or len(values_of(weekday, 0, 6, DAYS)) == 7


def ours_of(cron):
    """croniter writes the last Friday as L5; cron dialects with L as 5L."""
    fields = cron.split()
    if fields[4].startswith("L"):
        fields[4] = fields[4][1:] + "L"
    return " ".join(fields)


def main():
    dice = random.Random(SEED)
    asked = []
    while len(asked) < QUESTIONS:
        cron = made(dice)
        after = dice.randint(1577836800, 1893456000)
        try:
            steps = croniter(cron, datetime.fromtimestamp(after, timezone.utc), max_years_between_matches=60)
            theirs = [round(steps.get_next(float)) * 1000 for _ in range(EACH)]
        except Exception:  # it can never fire, or is beyond what croniter looks at
            continue
        reason = EVERY_DAY if is_known(cron) else None
        asked.append(({"cron": ours_of(cron), "after": after * 1000, "count": EACH, "dialect": "unix"}, theirs, reason))
    comparison = Comparison([EVERY_DAY])
    answers = ask(sys.argv[1], [question for question, _, _ in asked])
    for (question, theirs, reason), ours in zip(asked, answers):
        comparison.add(question, ours, theirs, reason)
    return comparison.finish(70_000)


if __name__ == "__main__":
    sys.exit(main())
