#!/usr/bin/python3
"""Crons with `skipped_time: quartz` against Quartz itself (Debian's libquartz2-java), around changes of zones too.
usage: against_quartz.py WHEN_ANSWERS"""
import random
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

from answers import Comparison, ask

SEED = 20260329
QUESTIONS = 3000
EACH = 25
NO_31ST = ("31W in a month that has no 31st: Quartz looks at the weekday of the 1st of the next month, and when that "
           "is a weekend fires on a day near the month's end; Rota has no such day in that month")
JARS = ["/usr/share/java/quartz2.jar", "/usr/share/java/slf4j-api.jar", "/usr/share/java/slf4j-nop.jar"]
# Changes by an hour and by half of one, at night and at midnight, on both halves of the earth, and none.
WINDOWS = [("Europe/Berlin", "2026-03-29"), ("Europe/Berlin", "2026-10-25"), ("America/New_York", "2026-03-08"),
           ("America/New_York", "2026-11-01"), ("Australia/Lord_Howe", "2026-04-05"),
           ("Australia/Lord_Howe", "2026-10-04"), ("America/Sao_Paulo", "2018-02-18"),
           ("America/Sao_Paulo", "2018-11-04"), ("Asia/Shanghai", "2026-05-01"), ("UTC", "2028-02-28"),
           ("Pacific/Auckland", "2026-09-27"), ("Pacific/Auckland", "2026-04-05")]
DAYS = ["1-5", "MON-FRI", "SUN", "2,4,6", "6L", "1L", "6#3", "2#1", "7", "FRI-MON"]
MONTH_DAYS = ["1", "15", "31", "1,15", "10-20", "L", "LW", "L-3", "15W", "1W", "31W", "*/5", "29"]


def time_field(dice, high, stars):
    roll = dice.random()
    if roll < stars:
        return "*"
    if roll < stars + 0.2:
        return f"{dice.choice(['0', '*', str(dice.randint(0, high // 2))])}/{dice.randint(2, high // 2)}"
    if roll < stars + 0.3:
        first = dice.randint(0, high)
        return f"{first}-{dice.randint(first, high)}"
    return ",".join(str(dice.randint(0, high)) for _ in range(dice.randint(1, 3)))


def made(dice):
    second = "0" if dice.random() < 0.7 else time_field(dice, 59, 0)
    hour = time_field(dice, 23, 0.3) if dice.random() < 0.5 else dice.choice(["0", "1", "2", "3", "1-3", "2,14", "0,2"])
    month_day, weekday = "*", "?"
    roll = dice.random()
    if roll < 0.3:
        month_day, weekday = "?", dice.choice(DAYS)
    elif roll < 0.6:
        month_day = dice.choice(MONTH_DAYS)
    month = "*" if dice.random() < 0.8 else dice.choice(["1-6", "MAR,OCT", "2", "*/3", "NOV-FEB"])
    return " ".join([second, time_field(dice, 59, 0.15), hour, month_day, month, weekday])


def is_first_passage(moment, zone):
    local = moment.astimezone(zone)
    again = local.replace(fold=1)
    return local.fold == 0 and again.utcoffset() != local.utcoffset() and \
        again.astimezone(timezone.utc).astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None)


def start_of(dice, name, day):
    """A moment some days around a change, but not in a first passage: there Quartz goes on from the same
    local time of the second one, and so leaves out what lies before it; Rota's answer is the same whenever one
    asks, as Quartz's own is when it goes from tick to tick."""
    zone = ZoneInfo(name)
    while True:
        moment = datetime.fromisoformat(day).replace(tzinfo=timezone.utc) + timedelta(
            seconds=dice.randint(-3 * 86400, 86400))
        if not any(is_first_passage(moment + timedelta(seconds=s), zone) for s in (0, 1)):
            return moment


def quartz(lines):
    """What Quartz answers. Debian's small compiler does when there is no JDK."""
    with tempfile.TemporaryDirectory() as folder:
        source = str(Path(__file__).with_name("QuartzAnswers.java"))
        compiler = [shutil.which("javac")] if shutil.which("javac") else ["ecj", "-17", "-proc:none"]
        subprocess.run([*compiler, "-cp", ":".join(JARS), "-d", folder, source], check=True)
        done = subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", ":".join([folder, *JARS]), "QuartzAnswers"],
                              input="\n".join(lines) + "\n", text=True, capture_output=True, check=True)
    return done.stdout.splitlines()


def main():
    dice = random.Random(SEED)
    asked = []
    for _ in range(QUESTIONS):
        zone, day = dice.choice(WINDOWS)
        after = int(start_of(dice, zone, day).timestamp()) * 1000
        asked.append({"cron": made(dice), "zone": zone, "after": after, "count": EACH, "as_quartz": True,
                      "dialect": "quartz"})
    theirs = quartz([f"{q['cron']}|{q['zone']}|{q['after']}|{q['count']}" for q in asked])
    comparison, refused = Comparison([NO_31ST]), 0
    for question, their, ours in zip(asked, theirs, ask(sys.argv[1], asked)):
        if their.startswith("!"):
            refused += 1  # Rota reads more than Quartz 2.3 (lists of specials); those are no answers
            continue
        if "can never fire" in ours:
            ours = []  # Rota refuses what Quartz has no moment for
        reason = NO_31ST if "31W" in question["cron"] else None
        comparison.add(question, ours, [int(word) for word in their.split()], reason)
    print(f"expressions that Quartz refuses: {refused}")
    return comparison.finish(60_000)


if __name__ == "__main__":
    sys.exit(main())
