"""Calendars on real processes: applied, listed, previewed, edited beside somebody else, deleted; and an edit whose
leader dies between it and the moment from which it counts."""
import datetime
import json
import os
import time

import pages
from cluster import ROOT, check, figure, wait_until

DAYS = """calendars:
  - name: {name}
    days: mon-fri
    exclude: [{exclude}]
"""


def apply(cluster, name, exclude, *options):
    return cluster.rota("-o", "json", "apply", *options, "-f", "-",
                        input=DAYS.format(name=name, exclude=", ".join(f'"{day}"' for day in exclude)))


def versions(cluster, name):
    return cluster.json("calendar", "show", name)["versions"]


def first_day(cluster):
    example = str(ROOT / "examples/calendars/germany.yaml")
    dry = cluster.rota("apply", "--dry-run", "-f", example)
    check(dry.returncode == 11 and "created" in dry.stderr, f"dry run: {dry.returncode} {dry.stderr}")
    check("germany" not in cluster.ok("calendar", "list"), "a dry run stores nothing")
    cluster.ok("apply", "--yes", "-f", example)
    check(cluster.rota("apply", "--dry-run", "-f", example).returncode == 0, "the same again is no change")
    days = {d["day"]: d for d in cluster.json("calendar", "preview", "germany", "--days", "2026-12-23..2026-12-28")}
    check([d["answer"] for d in days.values()] == ["open", "open", "closed", "closed", "closed", "open"], days)
    check(days["2026-12-25"]["why"] == "exclude: 2026-12-25", days)
    held = cluster.json("calendar", "preview", "germany", "--days", "2028-01-03")
    check(held[0]["answer"] == "held", held)
    nobody = cluster.rota("calendar", "show", "nobody")
    check(nobody.returncode == 3 and "no calendar 'nobody'" in nobody.stderr, nobody.stderr)
    wrong = cluster.rota("apply", "--yes", "-f", "-", input=DAYS.format(name="x", exclude='"2026-02-30"'))
    check(wrong.returncode == 2 and "calendars[0].exclude[0]" in wrong.stderr, wrong.stderr)
    jobs = cluster.rota("calendar", "apply", "--yes", "-f", "-", input="name: a\ncommand: [x]\n")
    check(jobs.returncode == 2 and "`rota apply` takes both" in jobs.stderr, jobs.stderr)


def folder_of_both(cluster, folder):
    here = os.path.join(folder, "both")
    os.makedirs(here + "/more")
    with open(here + "/days.yaml", "w") as file:
        file.write(DAYS.format(name="both", exclude=""))
    with open(here + "/more/job.yml", "w") as file:
        file.write("name: beside\ncommand: [/bin/true]\n")
    done = cluster.json("apply", "--yes", "-f", here)
    check([row["name"] for row in done] == ["both", "beside"], done)
    with open(here + "/again.yaml", "w") as file:
        file.write("name: beside\ncommand: [/bin/false]\n")
    twice = cluster.rota("apply", "--yes", "-f", here)
    check(twice.returncode == 2 and "job beside stands in" in twice.stderr, twice.stderr)
    cluster.ok("job", "delete", "--yes", "beside")
    cluster.ok("calendar", "delete", "--yes", "both")
    check(cluster.rota("calendar", "delete", "--yes", "both").returncode == 3, "a deleted calendar is gone")


def edit_outlives_its_leader(cluster):
    """What was answered is stored: with its moment, which lies ahead, whoever leads by then."""
    check(apply(cluster, "edited", [], "--yes").returncode == 0, "created")
    before = time.time()
    row = json.loads(apply(cluster, "edited", ["2026-12-25"], "--yes").stdout)[0]
    check(row["version"] == 2 and row["what"] == "changed", row)
    check(row["counts_from_ms"] >= before * 1000 + 10_000, f"it counts too early: {row}")
    epoch = cluster.epoch()
    cluster.kill("leader")
    wait_until(lambda: cluster.leader() and cluster.epoch() > epoch, 60, "another leader")
    stands = versions(cluster, "edited")
    check([v["version"] for v in stands] == [2, 1], stands)
    check(stands[0]["counts_from_ms"] == row["counts_from_ms"], stands)
    day = cluster.json("calendar", "preview", "edited", "--days", "2026-12-25")
    check(day[0]["answer"] == "closed" and day[0]["version"] == 2, day)
    again = json.loads(apply(cluster, "edited", ["2026-12-25"], "--yes").stdout)[0]
    check(again["what"] == "unchanged" and again["version"] == 2, again)
    third = json.loads(apply(cluster, "edited", ["2026-12-26"], "--yes").stdout)[0]
    check(third["version"] == 3 and third["counts_from_ms"] > row["counts_from_ms"], third)
    wait_until(cluster.is_whole, 60, "the killed leader is back")


DAYS_OPEN = """calendars:
  - name: shift
"""
JOB = """calendars:
  - name: shift
    exclude: [{exclude}]
jobs:
  - name: on_shift
    schedule: {{every: 1s, calendar: shift}}
    handler: noop
    overlap: allow
"""


def today():
    return datetime.datetime.now(datetime.timezone.utc).date()


def jobs_follow_edits(cluster):
    """An edit opens the day; its leader dies before it counts. The next one plans by it, from its moment on."""
    near = [str(today() + datetime.timedelta(days=day)) for day in (-1, 0, 1)]
    closed = ", ".join(f'"{day}"' for day in near)
    cluster.ok("apply", "--yes", "-f", "-", input=JOB.format(exclude=closed))
    told = cluster.rota("job", "next", "on_shift", "-n", "1")
    check(f"closed by calendar shift: {today()}" in told.stderr, f"job next: {told.stdout} {told.stderr}")
    used = cluster.rota("calendar", "delete", "--yes", "shift")
    check(used.returncode == 5 and "is used by 1 job: on_shift" in used.stderr, used.stderr)
    time.sleep(2)
    check(not cluster.runs("on_shift"), "nothing fires on a closed day")
    edit = cluster.rota("-o", "json", "calendar", "apply", "--yes", "-f", "-", input=DAYS_OPEN)
    counts = json.loads(edit.stdout)[0]["counts_from_ms"]
    epoch = cluster.epoch()
    cluster.kill("leader")
    wait_until(lambda: cluster.leader() and cluster.epoch() > epoch, 60, "another leader")
    wait_until(lambda: len(cluster.runs("on_shift")) >= 3, 60, "the job fires on the opened day")
    first = min(run["tick_at_ms"] for run in cluster.runs("on_shift"))
    check(counts <= first < counts + 1000, f"the edit counts from {counts}, the first tick is {first}")
    cluster.await_verified()
    cluster.ok("job", "delete", "--yes", "on_shift")
    cluster.ok("calendar", "delete", "--yes", "shift")
    wait_until(cluster.is_whole, 60, "the killed leader is back")


OPEN = """calendars:
  - {{name: ends, covers: "{first}..{last}", beyond: hold}}
"""
USERS = """jobs:
  - {name: dies, schedule: {cron: "0 18 * * *", calendar: ends}, handler: noop}
  - {name: half, schedule: [{cron: "0 18 * * *", calendar: ends}, "0 9 * * *"], handler: noop}
"""


def ends_are_told(cluster):
    """A plan and an edit name the jobs that can never fire again; the status names the calendar before that."""
    first = today() - datetime.timedelta(days=400)
    soon = today() + datetime.timedelta(days=30)
    cluster.ok("apply", "--yes", "-f", "-", input=OPEN.format(first=first, last=soon))
    cluster.ok("apply", "--yes", "-f", "-", input=USERS)

    def status():
        return [(c["name"], c["last_day"], c["beyond"], c["jobs"]) for c in cluster.json("cluster", "status")["calendars_ending"]]
    wait_until(lambda: ("ends", str(soon), "hold", 2) in status(), 20, "the status names the calendar that ends")
    shown = cluster.ok("cluster", "status")
    check(f"calendar default/ends covers no day after {soon} (" in shown and "2 jobs use it" in shown, shown)
    over = OPEN.format(first=first, last=today() - datetime.timedelta(days=2))
    words = "2 jobs can never fire again once it counts: dies, half (only schedule[0]; its other entries fire)"
    dry = cluster.rota("apply", "--dry-run", "-f", "-", input=over)
    check(dry.returncode == 11 and f"calendar ends, version 2: {words}" in dry.stderr, f"the plan: {dry.stderr}")
    done = cluster.rota("-o", "json", "apply", "--yes", "-f", "-", input=over)
    told = json.loads(done.stdout)[0]["jobs_over"]
    check(words in done.stderr and told["count"] == told["looked_at"] == told["users"] == 2, f"the edit: {done}")
    for name in ("dies", "half"):
        cluster.ok("job", "delete", "--yes", name)
    wait_until(lambda: not any(name == "ends" for name, *_ in status()), 20, "no job uses it any more")
    cluster.ok("calendar", "delete", "--yes", "ends")


def run_all(cluster, folder):
    here = folder + "/calendars"
    os.makedirs(here, exist_ok=True)
    first_day(cluster)
    folder_of_both(cluster, here)
    edit_outlives_its_leader(cluster)
    jobs_follow_edits(cluster)
    ends_are_told(cluster)
    for name in ("germany", "edited"):
        cluster.ok("calendar", "delete", "--yes", name)
    examples = pages.documented(cluster, "docs/calendars.md", here + "/pages",
                                ("examples/calendars/germany.yaml", "examples/calendars/nyse.yaml"))
    cluster.await_verified()
    figure("calendars", failed=0, examples=examples)
