"""P2, P3 and liveness: how late ticks were recorded, and a blind matching of executions to targets.

Labelled: each tick's run row says when it was recorded. Outside fault windows the 99th percentile is bounded
(P2); inside them each tick is bounded by the end of its window; delays by the machine's own stalls are counted
separately. Blind, as in Jepsen's analysis of Chronos:
a job's executions, by its own ledger, are matched to its target windows without labels; a target without a
match was missed, whatever the rows say. "Inside" means near a fault on a master, its servers or a link between
them: a fault that affects only a worker must make no tick late.
"""
from collections import defaultdict

import ticks
from allowances import BOOT_CLOCK_MS, CLOCK_SKEW_MS, LATE_P99_MS, START_MS
from evidence import FINAL
from fault_windows import clock_error, lost_stretches, is_tick_lost
from findings import percentile

QUESTION = "targets"
NEVER_STARTED = {"cancelled", "lost", "skipped", "failed"}


def ask(evidence, findings, bounds):
    lateness(evidence, findings, bounds)
    liveness(evidence, findings, bounds)
    blind(evidence, findings, bounds)


def lateness(evidence, findings, bounds):
    windows = bounds.tick_windows
    inside, outside, stalled = [], [], []
    for run in evidence.store["run"]:
        tick = run["tick_ms"]
        if tick is None:
            continue
        late = run["recorded_ms"] - tick
        error = clock_error(evidence, tick, run["recorded_ms"])
        if late < -error - CLOCK_SKEW_MS:
            findings.violated(QUESTION, f"run {run['run_id']} was recorded {-late} ms before its tick",
                              run=run["run_id"], job=run["job_id"], at=(tick,))
        chain = chain_of(windows, run)
        if is_tick_lost(evidence, tick):
            inside.append(late)  # held until an operator accepted what was lost
        elif chain is None:
            held_up = late > 0 and bounds.stalls.explains(tick, run["recorded_ms"])
            (stalled if held_up else outside).append(late)
        else:
            inside.append(late)
            end = max(tick, chain[1])
            end += 2 * bounds.stalls.within(end, run["recorded_ms"])
            if run["recorded_ms"] > end + LATE_P99_MS + error:
                findings.violated(
                    QUESTION, f"run {run['run_id']} was recorded {late} ms late, "
                    f"{run['recorded_ms'] - end} ms after the faults around it must be over",
                    run=run["run_id"], job=run["job_id"], at=(tick, run["recorded_ms"]))
    worst = percentile(outside, 99)
    if worst > LATE_P99_MS:
        findings.violated(QUESTION, f"outside fault windows ticks were recorded {worst} ms late (p99), "
                          f"at most {LATE_P99_MS} is promised", at=latest(evidence, bounds))
    findings.figure("late_p99_inside_ms", percentile(inside, 99))
    findings.figure("late_p99_outside_ms", worst)
    findings.note(f"lateness ticks_inside={len(inside)} p50_inside={percentile(inside, 50)} "
                  f"max_inside={max(inside, default=0)} ticks_outside={len(outside)} "
                  f"p50_outside={percentile(outside, 50)} max_outside={max(outside, default=0)} "
                  f"ticks_in_stalls={len(stalled)} p99_in_stalls={percentile(stalled, 99)} "
                  f"p99_outside_with_stalls={percentile(outside + stalled, 99)}")


def chain_of(windows, run):
    """The faults near a tick: those that were on, or that began before it was late."""
    in_time = min(run["recorded_ms"], run["tick_ms"] + LATE_P99_MS)
    return windows.chain_at(run["tick_ms"]) or windows.chain_at(in_time)


def latest(evidence, bounds):
    rows = [run for run in evidence.store["run"]
            if run["tick_ms"] is not None and chain_of(bounds.tick_windows, run) is None and
            not is_tick_lost(evidence, run["tick_ms"]) and
            not bounds.stalls.explains(run["tick_ms"], run["recorded_ms"])]
    worst = max(rows, key=lambda run: run["recorded_ms"] - run["tick_ms"])
    return worst["tick_ms"], worst["recorded_ms"]


def liveness(evidence, findings, bounds):
    """After the faults and the time to settle, everything that can end has ended, and ticks still come."""
    ended = evidence.world.get("ended_ms")
    settled = evidence.world.get("settled_ms") or ended
    if ended is None:
        findings.doubt(QUESTION, "world.json does not say when the history ended")
        return
    if evidence.watermark() < ended - 30_000 and has_schedule(evidence):
        findings.violated(QUESTION, f"the watermark stands at {evidence.watermark()}, "
                          f"{ended - evidence.watermark()} ms before the end", at=(evidence.watermark(),))
    unended = [run for run in evidence.store["run"] if run["state"] not in FINAL]
    findings.note(f"runs={len(evidence.store['run'])} unended={len(unended)}")
    for run in unended:
        patience = longest_life(evidence.work_of(run), evidence.rules_of(run)) + bounds.fence()
        if run["recorded_ms"] < settled - patience and not waits_behind(evidence, run, settled, patience):
            findings.violated(QUESTION, f"run {run['run_id']} never ended: {run['state']}, "
                              f"{run['reason']} {run['detail']}", run=run["run_id"], job=run["job_id"],
                              at=(run["recorded_ms"],))


def has_schedule(evidence):
    return any(job["state"] == "enabled" and not job["one_off"] and evidence.versions[job["job_id"]] and
               evidence.versions[job["job_id"]][-1]["definition"]["rules"]["schedule"]["kind"] != "none"
               for job in evidence.store["job"] if evidence.versions.get(job["job_id"]))


def waits_behind(evidence, run, settled, patience):
    """In a serial queue a run may wait for others; then these must make progress."""
    if run["state"] != "waiting" or run["reason"] != "waits_for_run":
        return False
    return any((other.get("ended_ms") or 0) > settled - patience for other in evidence.store["run"]
               if other["job_id"] == run["job_id"])


def longest_life(work, rules):
    """How long an attempt of this job may take, by its command; unknown commands get a minute."""
    argv = work.get("argv") or []
    for at, word in enumerate(argv[:-2]):
        if word.rsplit("/", 1)[-1] == "ledger_job" and str(argv[at + 2]).isdigit():
            return int(argv[at + 2]) + rules.get("kill_grace_ms", 10_000)
    return (rules.get("timeout_ms") or 60_000) + rules.get("kill_grace_ms", 10_000)


# --- blind ------------------------------------------------------------------------------------------


def blind(evidence, findings, bounds):
    if evidence.boot_to_wall is None:
        findings.doubt(QUESTION, "no ledger line can be placed in time, so no execution is matched")
        return
    totals = {"targets": 0, "matched": 0, "extra": 0}
    executions = first_starts(evidence)
    skipped = defaultdict(list)
    for row in evidence.store["gap"]:
        skipped[row["job_id"]].append((row["from_ms"], row["to_ms"]))
    for job_id, versions in evidence.versions.items():
        if evidence.jobs.get(job_id, {"one_off": 1})["one_off"] or not is_ledgered(versions):
            continue
        targets = [(tick - CLOCK_SKEW_MS - clock_error(evidence, tick, tick),
                    latest_start(evidence, bounds, tick, version), tick)
                   for version in versions for tick in planned(evidence, version)
                   if not any(low <= tick <= high for low, high in skipped[job_id])]
        match(evidence, findings, job_id, targets, executions[job_id], totals)
    findings.note("blind targets={targets} matched={matched} extra={extra}".format(**totals))


def first_starts(evidence):
    """The first start of each scheduled run, by its own ledger; later attempts are lawful repeats."""
    found = defaultdict(list)
    for run_id, lives in evidence.lives_of.items():
        run = evidence.runs.get(run_id)
        starts = [life.start for life in lives if life.start is not None]
        if run is not None and run["kind"] == "tick" and starts:
            found[run["job_id"]].append((evidence.wall(min(starts)), run_id))
    return {job: sorted(starts) for job, starts in found.items()} | \
        {job: [] for job in evidence.versions if job not in found}


def is_ledgered(versions):
    return all("ledger_job" in " ".join(version["definition"]["work"].get("argv") or []) +
               version["definition"]["work"].get("script", "") for version in versions)


def planned(evidence, version):
    through = version["valid_to_ms"] or evidence.recorded_through(version["job_id"])
    if not version["enabled"]:
        return []
    try:
        return ticks.planned(version["definition"], version["anchor_ms"], version["valid_from_ms"], through)
    except ticks.NotJudged:
        return []  # reported by the accounting


def latest_start(evidence, bounds, tick, version):
    """By when a process of that tick must have begun, without any knowledge of its run."""
    rules = version["definition"]["rules"]
    late = bounds.windows.end_of(tick)
    stalled = 2 * bounds.stalls.within(tick, late + LATE_P99_MS + START_MS)
    if is_tick_lost(evidence, tick):
        late = max(late, max(end for _, end in lost_stretches(evidence)) + bounds.store_return())
    extra = bounds.fence() if late > tick else 0
    if rules.get("overlap") == "queue":
        return late + extra + 3_600_000  # waits behind other runs of its job for as long as they take
    return late + extra + LATE_P99_MS + START_MS + BOOT_CLOCK_MS + stalled


def match(evidence, findings, job_id, targets, executions, totals):
    """Intervals and points: giving each point to the interval that ends first is a maximum matching."""
    import heapq
    targets.sort()
    totals["targets"] += len(targets)
    waiting, missed, extra, at = [], [], [], 0
    for start, run_id in executions:
        while at < len(targets) and targets[at][0] <= start:
            heapq.heappush(waiting, targets[at][1:])
            at += 1
        while waiting and waiting[0][0] < start:
            missed.append(heapq.heappop(waiting)[1])
        if waiting:
            heapq.heappop(waiting)
            totals["matched"] += 1
        else:
            extra.append((start, run_id))
    missed += [one[1] for one in waiting] + [one[2] for one in targets[at:]]
    excused = never_started(evidence, job_id)
    totals["extra"] += len(extra)
    for start, run_id in extra[:3]:
        findings.violated(QUESTION, f"job {evidence.job_name(job_id)}: an execution (run {run_id}) at "
                          f"{start:.0f} matches no target that is free", run=run_id, job=job_id, at=(start,))
    beyond = len(missed) - excused
    if beyond > 0:
        findings.violated(QUESTION, f"job {evidence.job_name(job_id)}: {len(missed)} targets have no "
                          f"execution in their window, {excused} runs say why they never began",
                          job=job_id, at=sorted(missed)[:1])


def never_started(evidence, job_id):
    """Runs whose rows say that no process ever began, or not yet."""
    count = 0
    for run in evidence.store["run"]:
        if run["job_id"] == job_id and run["kind"] == "tick" and not evidence.lives_of.get(run["run_id"]):
            if run["state"] not in FINAL or run["state"] in NEVER_STARTED or \
                    run["outcome_reason"] == "start_failed":
                count += 1
    return count
