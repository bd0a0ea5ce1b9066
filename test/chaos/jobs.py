"""The saved jobs that run during the faults, in the form of job files (YAML)."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def saved_jobs(programs, evidence):
    """The jobs that are applied before the first fault. Each writes a ledger of its own, or prints."""
    def ledger(name, millis, *more):
        return [f"{programs}/ledger_job", f"{evidence}/ledger/{name}.log", str(millis), *more]

    def job(name, millis, *more, **rules):
        return {"name": name, "command": ledger(name, millis, *more), "kill_grace": "1s", **rules}

    return [
        job("second", 300, schedule="@every 1s", overlap="skip"),
        job("berlin", 400, schedule={"cron": "*/5 * * * * *"}, time_zone="Europe/Berlin", overlap="allow"),
        job("kathmandu", 1500, schedule={"cron": "3/7 * * * * ?", "dialect": "quartz"},
            time_zone="Asia/Kathmandu", overlap="skip", late="skip", tick_grace="3s"),
        job("lined-up", 2500, schedule={"every": "3s"}, overlap="queue", queue_limit=10,
            retry={"count": 2, "delay": "500ms"}),
        job("crowd", 4000, schedule={"every": "2s"}, overlap="allow", loss="after_fence"),
        job("only-once", 3000, schedule={"every": "4s"}, overlap="queue", queue_limit=5, loss="never"),
        job("coalesced", 100, schedule="@every 1s", overlap="allow", late="fire_once", tick_grace="2s"),
        job("failing", 200, "--exit", "3", schedule={"every": "5s"}, overlap="skip",
            retry={"count": 2, "delay": "1s"}),
        job("too-slow", 20000, schedule={"every": "9s"}, overlap="skip", timeout="3s"),
        job("patient", 8000, schedule={"every": "10s"}, overlap="skip", disconnect_grace="15s"),
        job("stubborn", 6000, "--ignore-term", schedule={"every": "11s"}, overlap="queue", queue_limit=3),
        job("edited-1", 300, schedule={"every": "2s"}, overlap="skip"),
        job("edited-2", 900, schedule={"cron": "*/2 * * * * *"}, time_zone="America/New_York",
            overlap="queue", queue_limit=4),
        job("by-hand", 700, overlap="queue", queue_limit=50),
        {"name": "printing", "schedule": {"every": "3s"}, "overlap": "allow",
         "command": ["/usr/bin/python3", f"{HERE}/printing_job.py", f"{evidence}/printed", "40", "50"]},
    ]


def edits_of(job, dice):
    """Another version of a saved job, with changes that an operator may make."""
    changed = dict(job)
    if dice.random() < 0.6:
        changed["schedule"] = dice.choice([{"every": "1s"}, {"every": "2s"}, {"every": "1500ms"},
                                           {"cron": "*/3 * * * * *"}, {"cron": "1/2 * * * * *"}])
    changed["late"] = dice.choice(["fire_once", "skip"])
    changed["time_zone"] = dice.choice(["UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York"])
    return changed


def millis(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)", str(text)).groups()
    return int(number) * UNITS[unit]


def schedule_of(types, job):
    wanted = job.get("schedule")
    schedule = types.Schedule(time_zone=job.get("time_zone", "UTC"))
    if wanted is None:
        return schedule
    if isinstance(wanted, str) and wanted.startswith("@every "):
        wanted = {"every": wanted.split()[1]}
    elif isinstance(wanted, str):
        wanted = {"cron": wanted}
    if "every" in wanted:
        schedule.kind, schedule.interval_ms = "fixed_rate", millis(wanted["every"])
    else:
        schedule.kind, schedule.cron = "cron", wanted["cron"]
        schedule.dialect = wanted.get("dialect", "guess")
    return schedule


def retry_of(types, job):
    retry = job.get("retry", {"count": 0})
    made = types.Retry(count=retry["count"])
    if "delay" in retry:
        made.delay_ms = millis(retry["delay"])
    return made


def definition(types, job):
    """The job as the IDL's JobDefinition."""
    rules = types.Rules(schedule=schedule_of(types, job), retry_rule=retry_of(types, job))
    for key in ("overlap", "late", "loss", "queue_limit"):
        if key in job:
            setattr(rules, key, job[key])
    for key in ("tick_grace", "timeout", "kill_grace", "disconnect_grace"):
        if key in job:
            setattr(rules, key + "_ms", millis(job[key]))
    return types.JobDefinition(name=job["name"], rules=rules, work=types.Work(argv=job["command"]))
