"""P1 and P3: every planned tick is exactly one run, or lies in exactly one gap row with a lawful reason.

`ticks` enumerates the planned ticks from the stored definitions, for each job version over its validity, up to
where the store says that the job's ticks are recorded (or to the version's end, which its edit recorded).
"""
import bisect
from collections import defaultdict

import ticks
from allowances import CLOCK_SKEW_MS

QUESTION = "accounting"
REASONS = {"overlap_skipped", "queue_full", "coalesced_into", "late_skipped", "late_bounded", "missed"}


def ask(evidence, findings, bounds):
    totals = {"planned": 0, "fired": 0, "skipped": 0, "missed": 0, "doubled": 0}
    check_keys(evidence, findings, totals)
    runs, gaps = by_job(evidence)
    for job_id, versions in sorted(evidence.versions.items()):
        job = evidence.jobs.get(job_id)
        if job is None:
            findings.violated(QUESTION, f"versions of job {job_id} without their job", job=job_id)
        elif not job["one_off"]:
            check_chain(job, versions, findings)
            account(evidence, job, versions, runs[job_id], gaps[job_id], findings, totals)
    for job_id in sorted(set(runs) - set(evidence.versions)):
        totals["doubled"] += len(runs[job_id])
        findings.violated(QUESTION, f"ticks of job {job_id}, which has no version", job=job_id,
                          at=sorted(runs[job_id])[:1])
    findings.figure("ticks", totals["planned"])
    findings.figure("fired", totals["fired"])
    findings.figure("skipped", totals["skipped"])
    findings.figure("missed", totals["missed"])
    findings.figure("doubled", totals["doubled"])
    for row in evidence.store["gap"]:
        check_reason(evidence, row, findings, bounds)


def check_keys(evidence, findings, totals):
    """Checks the dump itself: one row for each primary key."""
    seen = set()
    for run in evidence.store["run"]:
        if run["run_id"] in seen:
            totals["doubled"] += 1
            findings.violated(QUESTION, f"run {run['run_id']} is stored twice", run=run["run_id"])
        seen.add(run["run_id"])


def by_job(evidence):
    """tick -> runs, and gap rows, of each job."""
    runs = defaultdict(lambda: defaultdict(list))
    for run in evidence.store["run"]:
        if run["tick_ms"] is not None:
            runs[run["job_id"]][run["tick_ms"]].append(run)
    gaps = defaultdict(list)
    for row in evidence.store["gap"]:
        gaps[row["job_id"]].append(row)
    return runs, gaps


def check_chain(job, versions, findings):
    """Versions follow each other without a hole: no version would plan a tick between two."""
    for before, after in zip(versions, versions[1:]):
        if before["valid_to_ms"] != after["valid_from_ms"]:
            findings.violated(
                QUESTION, f"job {job['name']}: version {before['version']} ends at "
                f"{before['valid_to_ms']}, version {after['version']} begins at {after['valid_from_ms']}",
                job=job["job_id"], at=(before["valid_to_ms"], after["valid_from_ms"]))
    if job["state"] != "deleted" and versions[-1]["valid_to_ms"] is not None:
        findings.violated(QUESTION, f"job {job['name']} is {job['state']}, and its last version has ended",
                          job=job["job_id"], at=(versions[-1]["valid_to_ms"],))


def account(evidence, job, versions, runs, gaps, findings, totals):
    recorded = evidence.recorded_through(job["job_id"])
    planned_of_job = set()
    for version in versions:
        through = recorded if version["valid_to_ms"] is None else version["valid_to_ms"]
        if not version["enabled"]:
            planned = []
        else:
            try:
                planned = ticks.planned(version["definition"], version["anchor_ms"],
                                        version["valid_from_ms"], through)
            except ticks.NotJudged as why:
                findings.doubt(QUESTION, f"job {job['name']}: {why}")
                planned_of_job.update(runs)
                continue
        planned_of_job.update(planned)
        totals["planned"] += len(planned)
        judge_version(job, version, planned, runs, gaps, findings, totals)
    for tick in sorted(set(runs) - planned_of_job):
        run = runs[tick][0]
        totals["doubled"] += 1
        where = " (beyond the watermark)" if tick > recorded else ""
        findings.violated(QUESTION, f"job {job['name']}: run {run['run_id']} has tick {tick}, which was "
                          f"never planned{where}", job=job["job_id"], run=run["run_id"], at=(tick,))


def judge_version(job, version, planned, runs, gaps, findings, totals):
    own = [row for row in gaps if row["job_version"] == version["version"]]
    covering = defaultdict(list)
    for row in own:
        first = bisect.bisect_left(planned, row["from_ms"])
        last = bisect.bisect_right(planned, row["to_ms"])
        for tick in planned[first:last]:
            covering[tick].append(row)
        if last - first != row["tick_count"]:
            totals["missed"] += max(0, last - first - row["tick_count"])
            findings.violated(
                QUESTION, f"job {job['name']}: a gap row counts {row['tick_count']} ticks, "
                f"{last - first} were planned in it", job=job["job_id"], at=(row["from_ms"], row["to_ms"]))
    for tick in planned:
        fired, skipped = runs.get(tick, ()), covering.get(tick, ())
        totals["fired"] += bool(fired)
        totals["skipped"] += bool(skipped)
        place = f"job {job['name']} tick {tick}"
        if not fired and not skipped:
            totals["missed"] += 1
            findings.violated(QUESTION, f"{place}: neither a run nor a gap row", job=job["job_id"],
                              at=(tick,))
        elif len(fired) + len(skipped) > 1:
            totals["doubled"] += 1
            findings.violated(QUESTION, f"{place}: {len(fired)} runs and {len(skipped)} gap rows",
                              job=job["job_id"], at=(tick,), run=fired[0]["run_id"] if fired else None)
        for run in fired:
            if run["job_version"] != version["version"]:
                findings.violated(QUESTION, f"{place}: run {run['run_id']} is of version "
                                  f"{run['job_version']}, version {version['version']} planned it",
                                  job=job["job_id"], run=run["run_id"], at=(tick,))


def check_reason(evidence, row, findings, bounds):
    """A tick may be left out only for a reason that its job's policy allows and that was true at the time."""
    job = evidence.job_name(row["job_id"])
    rules = next((version["definition"]["rules"] for version in evidence.versions.get(row["job_id"], ())
                  if version["version"] == row["job_version"]), None)
    subject = {"job": row["job_id"], "at": (row["from_ms"],), "run": row["reference"] or None}
    if rules is None or row["reason"] not in REASONS:
        findings.violated(QUESTION, f"job {job}: a gap row of version {row['job_version']} with reason "
                          f"{row['reason']}", **subject)
        return
    overlap, late = rules.get("overlap", "skip"), rules.get("late", "fire_once")
    lawful = {"overlap_skipped": overlap == "skip", "queue_full": overlap == "queue",
              "coalesced_into": late == "fire_once", "late_skipped": late == "skip",
              "late_bounded": late == "fire_all",
              "missed": overlap in ("skip", "queue")}[row["reason"]]
    if not lawful:
        findings.violated(QUESTION, f"job {job}: ticks left out as {row['reason']}, with overlap "
                          f"{overlap} and late {late}", **subject)
    if row["reason"] == "overlap_skipped":
        check_blocking(evidence, row, job, findings, bounds, subject)


def check_blocking(evidence, row, job, findings, bounds, subject):
    """The blocking run had not ended before the tick, unless a fault delayed its report."""
    blocking = evidence.runs.get(row["reference"])
    if blocking is None or blocking["job_id"] != row["job_id"]:
        if row["reference"] and not evidence.world.get("restored"):
            findings.violated(QUESTION, f"job {job}: a tick was left out because of run "
                              f"{row['reference']}, which is no run of the job", **subject)
        return
    ended = blocking.get("ended_ms")
    if ended is not None and blocking["state"] != "skipped" and \
            ended + CLOCK_SKEW_MS + 2 * bounds.stalls.within(ended, row["from_ms"]) < row["from_ms"] and \
            not bounds.windows.touches(ended, row["from_ms"]):
        findings.violated(QUESTION, f"job {job}: tick {row['from_ms']} was left out because of run "
                          f"{row['reference']}, which had ended at {ended}", **subject)

