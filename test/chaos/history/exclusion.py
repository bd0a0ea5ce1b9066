"""P4: at most one live attempt of a run, and of a job unless its overlap is `allow`, by their own ledgers.

All hosts of a test share one kernel, so one boot clock orders every line. A life without an end was alive at
least until its last beat, so a found overlap is a lower bound. A process that a signal had stopped may write for
a moment after it continues; that overlap is counted, and excused only for that moment. The proof that it was
stopped is its row, as `rota verify` reads it (`still_from_ms`, `still_to_ms`), or, when the worker could not
report it, the list of faults. In both cases its own ledger must be silent meanwhile.
"""
from collections import defaultdict

from allowances import CLOCK_GRAIN_MS, RESUME_MS
from fault_windows import is_stop, span, was_lost

QUESTION = "exclusion"


def ask(evidence, findings, bounds):
    largest = 0.0
    excused = 0.0
    for group, what, across_runs in groups_of(evidence):
        for ms, one, two in overlaps(group):
            if across_runs and one.run == two.run:
                continue  # already reported for the run
            rest = ms - stopped_share(evidence, one, two)
            if rest < CLOCK_GRAIN_MS:
                excused = max(excused, ms)
                continue
            largest = max(largest, ms)
            findings.violated(
                QUESTION, f"{what}: run {one.run} attempt {one.attempt} (epoch {one.epoch}, pid {one.pid}) "
                f"and run {two.run} attempt {two.attempt} (epoch {two.epoch}, pid {two.pid}) were alive "
                f"together for {ms:.0f} ms", run=two.run, job=job_of(evidence, two),
                at=(evidence.wall(two.first), evidence.wall(min(one.last, two.last))))
    for life in evidence.lives:
        if life.starts > 1:
            findings.violated(QUESTION, f"run {life.run} attempt {life.attempt} was started "
                              f"{life.starts} times under one pid", run=life.run,
                              at=(evidence.wall(life.first),))
    check_copies(evidence, findings)
    findings.figure("max_overlap_ms", round(max(largest, excused), 1))
    findings.figure("after_thaw_ms", round(longest_after_thaw(evidence), 1))
    if excused:
        findings.note(f"overlap excused_by_stops_ms={excused:.1f}")
    findings.note(f"lives={len(evidence.lives)} ended={sum(l.end is not None for l in evidence.lives)} "
                  f"torn_lines={evidence.torn_lines}")


def job_of(evidence, life):
    run = evidence.runs.get(life.run)
    return run["job_id"] if run else None


def groups_of(evidence):
    """Lives that must not overlap: those of one run, and those of one job that is always serial."""
    for run_id, lives in evidence.lives_of.items():
        if len(lives) > 1:
            yield lives, f"run {run_id}", False
    jobs = defaultdict(list)
    for life in evidence.lives:
        run = evidence.runs.get(life.run)
        if run is not None and run["kind"] != "one_off":
            jobs[run["job_id"]].append(life)
    for job_id, lives in jobs.items():
        if all(version["definition"]["rules"].get("overlap", "skip") != "allow"
               for version in evidence.versions.get(job_id, ()) if version.get("definition")):
            yield lives, f"job {evidence.job_name(job_id)}", True


def overlaps(lives):
    """(ms, earlier, later) of each pair whose spans overlap; a pair of one run is reported once."""
    still = []
    for life in sorted(lives, key=lambda one: one.first):
        still = [other for other in still if other.last > life.first]
        for other in still:
            if (other.run, other.attempt, other.pid) != (life.run, life.attempt, life.pid):
                yield min(other.last, life.last) - life.first, other, life
        still.append(life)


def stopped_share(evidence, one, two):
    """The part of the overlap that a stopped process explains: the stop itself and a moment after it."""
    if evidence.boot_to_wall is None:
        return 0
    begin, end = evidence.wall(two.first), evidence.wall(min(one.last, two.last))
    share = max(told_share(evidence, life, begin, end) for life in (one, two))
    for fault in evidence.faults:
        if not is_stop(fault) or fault.get("took_effect") is False:
            continue
        first, last = span(fault)
        if silent_through(evidence, one, first, last) or silent_through(evidence, two, first, last):
            share = max(share, min(end, last + RESUME_MS) - max(begin, first))
    return share


def told_share(evidence, life, begin, end):
    """By its row: for how much of the time from `begin` to `end` its host stood still, or had just gone on."""
    first, last = told_stretch(evidence, life)
    if first is None or not quiet_between(evidence, life, first, last):
        return 0
    return min(end, last + RESUME_MS) - max(begin, first)


def told_stretch(evidence, life):
    rows = [row for row in evidence.attempts.get(life.run, ()) if row["attempt"] == life.attempt]
    run = evidence.runs.get(life.run)
    if run is not None and run["attempt"] == life.attempt:
        rows.append(run)
    return next(((row["still_from_ms"], row["still_to_ms"]) for row in rows
                 if row.get("still_from_ms") is not None), (None, None))


def longest_after_thaw(evidence):
    """The longest time that an attempt whose row reports a stretch wrote on after it, by its ledger."""
    longest = 0.0
    for life in evidence.lives:
        _, last = told_stretch(evidence, life)
        if last is not None and evidence.boot_to_wall is not None:
            longest = max(longest, evidence.wall(life.last) - last)
    return longest


def quiet_between(evidence, life, first, last):
    return not [at for at in life.beats if first + 100 < evidence.wall(at) < last - 100]


def silent_through(evidence, life, first, last):
    """A stopped life wrote nothing meanwhile: the excuse needs this proof from the ledger."""
    return quiet_between(evidence, life, first, last) and evidence.wall(life.first) <= first + 100 and evidence.wall(life.last) >= last - 100


def check_copies(evidence, findings):
    """One attempt is one process: two of them under different pids are a double start."""
    for run_id, lives in evidence.lives_of.items():
        pids = defaultdict(set)
        for life in lives:
            pids[life.attempt].add((life.pid, life.incarnation))
        for attempt, copies in pids.items():
            first = min(life.first for life in lives if life.attempt == attempt)
            if len(copies) > 1 and not was_lost(evidence, evidence.wall(first)):
                findings.violated(QUESTION, f"run {run_id} attempt {attempt} was started "
                                  f"{len(copies)} times: {sorted(map(str, copies))}", run=run_id,
                                  at=tuple(evidence.wall(life.first) for life in lives))
