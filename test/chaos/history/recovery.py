"""P17 to P20: how long single faults delayed ticks, and that outages of servers kill no job.

Only faults that occur alone are judged here: among several, nobody can say which one caused a delay (`targets`
bounds several together).
"""
from collections import defaultdict

from allowances import DRAIN_MS, LATE_P99_MS, NOISE_MS
from fault_windows import (HOST_WORDS, STORE_WORDS, TERM_WORDS, ZOOKEEPER_WORDS, clock_error, has, is_clock,
                           is_kill, is_on_store, is_on_zookeeper, is_restore, is_stop, span)
from findings import percentile

QUESTION = "recovery"
WORKER_WORDS = ("worker", "proper", "warden")


def ask(evidence, findings, bounds):
    figures = defaultdict(list)
    ticks = sorted(((run["tick_ms"], run) for run in evidence.store["run"]
                    if run["tick_ms"] is not None), key=lambda one: one[0])
    for begin, _, fault in bounds.windows.alone():
        if spares_jobs(fault):
            nobody_killed(evidence, begin, span(fault)[1], fault, findings)
    for fault in evidence.faults:
        if fault.get("took_effect") is True and str(fault.get("kind")).startswith("restart_worker"):
            nothing_new(evidence, fault, findings, bounds)
    for begin, end, fault in bounds.tick_windows.alone():
        worst, run = latest_within(ticks, begin, end)
        if run is None:
            continue
        bound, promise = bound_of(fault, bounds)
        error = clock_error(evidence, begin, end) + 2 * bounds.stalls.within(run["tick_ms"], run["recorded_ms"])
        figures[f"{fault.get('kind')}"].append(worst)
        if bound is not None and worst > bound + error:
            findings.violated(QUESTION, f"{promise}: after {fault.get('kind')} of {fault.get('target')} a tick "
                              f"was {worst} ms late, {bound} ms are allowed", run=run["run_id"],
                              job=run["job_id"], at=(begin, run["tick_ms"], run["recorded_ms"]))
    for kind, values in sorted(figures.items()):
        findings.note(f"recovery kind={kind} alone={len(values)} median_ms={percentile(values, 50)} "
                      f"worst_ms={max(values)}")


def latest_within(ticks, begin, end):
    worst, which = 0, None
    for tick, run in ticks:
        if begin - LATE_P99_MS <= tick <= end and run["recorded_ms"] - tick >= worst:
            worst, which = run["recorded_ms"] - tick, run
    return worst, which


def bound_of(fault, bounds):
    """How late a tick may be because of that fault, and which promise says so; None: nothing is promised.
    Faults of workers alone are not asked about: `targets` counts their ticks as undisturbed."""
    lasted = span(fault)[1] - span(fault)[0]
    if is_restore(fault) or is_clock(fault):
        return None, ""
    if is_on_store(fault):
        return lasted + bounds.store_return(), "P20"
    if is_on_zookeeper(fault):
        return LATE_P99_MS + bounds.failover_host(), "P19"
    if is_kill(fault) and not has(fault, HOST_WORDS):
        return bounds.failover_process(), "P17"
    return bounds.failover_host() + bounds.of("store_give_up_ms"), "P17"


def nothing_new(evidence, fault, findings, bounds):
    """P18: a worker that is told to stop starts nothing new."""
    if evidence.boot_to_wall is None:
        return
    worker, told = fault.get("target"), span(fault)[0]
    ended = [life["ended_ms"] for life in evidence.processes if life.get("host") == worker and
             life.get("ended_ms") and life["ended_ms"] >= told]
    until = min(ended, default=span(fault)[1])
    for run in evidence.store["run"]:
        places = {run["attempt"]: run["worker_id"]}
        places.update({row["attempt"]: row["worker_id"] for row in evidence.attempts.get(run["run_id"], ())})
        for life in evidence.lives_of.get(run["run_id"], ()):
            if places.get(life.attempt) != worker or life.start is None:
                continue
            start = evidence.wall(life.start)
            if told + DRAIN_MS + NOISE_MS + 2 * bounds.stalls.within(told, start) < start < until:
                findings.violated(QUESTION, f"P18: {worker} was told to stop, and began run {life.run} attempt "
                                  f"{life.attempt} {start - told:.0f} ms later",
                                  run=life.run, job=run["job_id"], at=(told, start))
                return


def spares_jobs(fault):
    """Outages that must kill no job: only ZooKeeper, only the database, only masters."""
    if is_restore(fault) or is_clock(fault) or has(fault, WORKER_WORDS) or has(fault, TERM_WORDS):
        return False
    return has(fault, STORE_WORDS + ZOOKEEPER_WORDS) and (is_kill(fault) or is_stop(fault))


def nobody_killed(evidence, begin, end, fault, findings):
    """A life that broke off in the outage, without a cancel or a timeout of its run."""
    if evidence.boot_to_wall is None:
        return
    for life in evidence.lives:
        if life.end is not None or not begin <= evidence.wall(life.last) <= end:
            continue
        run = evidence.runs.get(life.run)
        if run is None or run["cancel_asked"]:
            continue
        reasons = {row["outcome_reason"] for row in evidence.attempts.get(life.run, ())
                   if row["attempt"] == life.attempt}
        if run["attempt"] == life.attempt:
            reasons.add(run["outcome_reason"])
        if reasons & {"worker_lost", "attempt_died"}:
            promise = "P20" if is_on_store(fault) else "P19"
            findings.violated(QUESTION, f"{promise}: run {life.run} attempt {life.attempt} broke off while "
                              f"only {fault.get('target')} was away ({fault.get('kind')}): "
                              f"{sorted(map(str, reasons))}", run=life.run, job=run["job_id"],
                              at=(begin, evidence.wall(life.last), end))
            return
