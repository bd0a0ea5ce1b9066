"""Mutants of the store: ticks, gaps, versions, results, keys, and the order of the commits."""
import copy

from evidence import FINAL
from fault_windows import holds_ticks
from mutant import (Collection, ID_BITS, copy_of_run, forget_run, is_quiet, one_offs, pick,
                    quiet_ticks, runs, ticks, transactions_after_takeover)

mutant = Collection()
MUTANTS = mutant.mutants


# --- ticks, gaps, versions --------------------------------------------------------------------------


@mutant("accounting")
def drop_a_run(evidence, dice):
    """a tick's run is missing"""
    run = pick(dice, ticks(evidence))
    return run is not None and forget_run(evidence, run) is None


@mutant("accounting")
def double_a_run(evidence, dice):
    """a tick has two runs"""
    run = pick(dice, ticks(evidence))
    return run is not None and bool(copy_of_run(evidence, run))


@mutant("accounting")
def shift_a_tick(evidence, dice):
    """a run's tick is 137 ms away from the plan"""
    run = pick(dice, ticks(evidence))
    if run is None:
        return False
    run["tick_ms"] += 137
    return True


@mutant("accounting")
def shift_a_tick_by_an_hour(evidence, dice):
    """a cron in a zone fires as if its offset were an hour less"""
    found = [run for run in ticks(evidence)
             if evidence.rules_of(run).get("schedule", {}).get("kind") == "cron"]
    for run in found:
        run["tick_ms"] -= 3_600_000
    return bool(found)


@mutant("accounting")
def forget_a_gap(evidence, dice):
    """a tick that did not fire has no gap row"""
    row = pick(dice, evidence.store["gap"])
    return row is not None and evidence.store["gap"].remove(row) is None


@mutant("accounting")
def miscount_a_gap(evidence, dice):
    """a gap row counts one tick more than it contains"""
    row = pick(dice, evidence.store["gap"])
    if row is None:
        return False
    row["tick_count"] += 1
    return True


@mutant("accounting")
def gap_beside_a_run(evidence, dice):
    """a tick is a run and lies in a gap row as well"""
    run = pick(dice, ticks(evidence))
    if run is None:
        return False
    evidence.store["gap"].append({
        "job_id": run["job_id"], "job_version": run["job_version"], "from_ms": run["tick_ms"],
        "to_ms": run["tick_ms"], "tick_count": 1, "reason": "coalesced_into", "reference": run["run_id"],
        "epoch": run["epoch"]})
    return True


@mutant("accounting")
def gap_against_the_policy(evidence, dice):
    """a tick is left out as late, although its job fires late ticks"""
    for row in evidence.store["gap"]:
        version = next((v for v in evidence.versions[row["job_id"]]
                        if v["version"] == row["job_version"]), None)
        if version and version["definition"]["rules"].get("late") == "fire_once":
            row["reason"] = "late_skipped"
            return True
    return False


@mutant("accounting")
def gap_blames_an_ended_run(evidence, dice):
    """a tick is left out for a run that ended long ago"""
    for row in sorted(evidence.store["gap"], key=lambda one: -one["from_ms"]):
        if row["reason"] != "overlap_skipped":
            continue
        old = [run for run in runs(evidence, job_id=row["job_id"]) if run["ended_ms"] and
               run["ended_ms"] < row["from_ms"] - 5000 and is_quiet(evidence, run["ended_ms"]) and
               is_quiet(evidence, row["from_ms"])]
        old = [run for run in old if all(not run["ended_ms"] < (fault.get("from_ms") or 0) < row["from_ms"]
                                         for fault in evidence.faults)]
        if old:
            row["reference"] = pick(dice, old)["run_id"]
            return True
    return False


@mutant("accounting")
def wrong_version(evidence, dice):
    """a run is of another version than the one that planned it"""
    run = pick(dice, [run for run in ticks(evidence) if len(evidence.versions[run["job_id"]]) > 1])
    if run is None:
        return False
    run["job_version"] = pick(dice, [v["version"] for v in evidence.versions[run["job_id"]]
                                     if v["version"] != run["job_version"]])
    return True


@mutant("accounting")
def hole_between_versions(evidence, dice):
    """a version begins later than the one before it ended"""
    rows = [versions[1] for versions in evidence.versions.values() if len(versions) > 1]
    if not rows:
        return False
    pick(dice, rows)["valid_from_ms"] += 400
    return True


@mutant("accounting")
def watermark_moved_back(evidence, dice):
    """the stored watermark lies before ticks that are recorded"""
    newest = max((run["tick_ms"] for run in runs(evidence, kind="tick")
                  if evidence.versions[run["job_id"]][-1]["valid_to_ms"] is None), default=None)
    enabled = any(version["enabled"] and version["valid_to_ms"] is None and
                  version["definition"]["rules"]["schedule"]["kind"] != "none"
                  for version in evidence.store["job_version"])
    if newest is None or not enabled:
        return False
    evidence.store["watermark"][0]["value_ms"] = newest - 20_000
    return True


@mutant("targets")
def ticks_late_without_a_fault(evidence, dice):
    """in quiet time one tick in twenty is recorded 2.5 s late"""
    quiet = quiet_ticks(evidence)
    for run in dice.sample(quiet, len(quiet) // 20 + (len(quiet) > 3)):
        run["recorded_ms"] += 2500
    return bool(quiet)


@mutant("targets")
def tick_late_beyond_its_fault(evidence, dice):
    """a tick in a fault's window is recorded a minute after it"""
    found = [run for run in ticks(evidence) if any(
        holds_ticks(fault) and fault["from_ms"] <= run["tick_ms"] <= fault["to_ms"]
        for fault in evidence.faults)]
    if not found:
        return False
    pick(dice, found)["recorded_ms"] += 90_000
    return True


@mutant("targets")
def run_that_never_ends(evidence, dice):
    """a run stays running forever"""
    old = [run for run in ticks(evidence) if run["recorded_ms"] < evidence.world["ended_ms"] - 110_000]
    run = pick(dice, old) or min(ticks(evidence), key=lambda one: one["recorded_ms"], default=None)
    if run is None:
        return False
    run.update(state="running", ended_ms=None, outcome_state=None)
    run["recorded_ms"] -= 0 if old else 110_000
    return True


@mutant("recovery")
def slow_failover(evidence, dice):
    """the tick after a master's death is 9 s late"""
    for fault in evidence.faults:
        if "master" not in str(fault.get("kind")) + str(fault.get("target")):
            continue
        begin = fault["from_ms"]
        near = [run for run in ticks(evidence) if begin - 500 <= run["tick_ms"] <= begin + 2000]
        alone = all(other is fault or abs(other["from_ms"] - begin) > 20_000 for other in evidence.faults)
        if near and alone:
            pick(dice, near)["recorded_ms"] += 9000
            return True
    return False


# --- results ----------------------------------------------------------------------------------------


@mutant("truth")
def swap_two_results(evidence, dice):
    """a succeeded and a failed run have each other's result"""
    bad = pick(dice, [run for run in runs(evidence, state="failed", outcome_reason="exit_status")
                      if any(life.end for life in evidence.lives_of[run["run_id"]])])
    good = pick(dice, ticks(evidence))
    if bad is None or good is None:
        return False
    for name in ("state", "reason", "outcome_state", "outcome_reason", "exit_status"):
        bad[name], good[name] = good[name], bad[name]
    return True


@mutant("truth")
def wrong_exit_status(evidence, dice):
    """a failed run has another status than its process ended with"""
    bad = pick(dice, [run for run in runs(evidence, state="failed", outcome_reason="exit_status")
                      if any(life.end for life in evidence.lives_of[run["run_id"]])])
    if bad is None:
        return False
    bad["exit_status"] += 1
    return True


@mutant("truth")
def final_without_an_end(evidence, dice):
    """a final run has no end time"""
    run = pick(dice, ticks(evidence))
    if run is None:
        return False
    run["ended_ms"] = None
    return True


@mutant("truth")
def outcome_contradicts_state(evidence, dice):
    """a run is succeeded, its outcome says failed"""
    run = pick(dice, ticks(evidence))
    if run is None:
        return False
    run["outcome_state"] = "failed"
    return True


@mutant("truth")
def forget_an_attempt(evidence, dice):
    """the row of an earlier attempt is missing"""
    row = pick(dice, [row for row in evidence.store["attempt"] if not row["late"] and any(
        life.attempt == row["attempt"] for life in evidence.lives_of[row["run_id"]])])
    if row is None:
        return False
    evidence.store["attempt"].remove(row)
    return True


@mutant("truth")
def killed_that_had_ended(evidence, dice):
    """a run that ended well is called killed, two seconds later"""
    run = pick(dice, quiet_ticks(evidence))
    if run is None:
        return False
    run.update(state="killed", outcome_state="killed", outcome_reason="cancelled_by_user",
               ended_ms=run["ended_ms"] + 2000, outcome_ended_ms=run["outcome_ended_ms"] + 2000)
    return True


# --- what clients were told -------------------------------------------------------------------------


@mutant("clients")
def lose_a_submit(evidence, dice):
    """the run of an acknowledged submit is missing"""
    found = pick(dice, one_offs(evidence))
    return found is not None and forget_run(evidence, found[1]) is None


@mutant("clients")
def key_used_twice(evidence, dice):
    """two runs have one request key"""
    found = pick(dice, one_offs(evidence))
    return found is not None and bool(copy_of_run(evidence, found[1]))


@mutant("clients")
def key_without_its_run(evidence, dice):
    """the run in the answer has another key"""
    found = pick(dice, one_offs(evidence))
    if found is None:
        return False
    found[1]["request_key"] = "another"
    return True


@mutant("clients")
def invent_a_run(evidence, dice):
    """a run that nobody requested"""
    found = pick(dice, one_offs(evidence))
    return found is not None and bool(copy_of_run(evidence, found[1], request_key="nobody-asked"))


@mutant("clients")
def forget_a_cancel(evidence, dice):
    """the run of an acknowledged cancel does not know it and ended well"""
    told = {op["run"]: op for op in evidence.clients if op.get("op") == "cancel" and op["outcome"] == "ok"}
    found = [run for run in evidence.store["run"] if run["run_id"] in told and run["cancel_asked"] and
             run["state"] == "killed"]
    run = pick(dice, found)
    if run is None:
        return False
    end = told[run["run_id"]]["answered_ms"] + 6000
    run.update(cancel_asked=0, state="succeeded", outcome_state="succeeded", ended_ms=end)
    return True


@mutant("clients")
def tick_while_paused(evidence, dice):
    """a paused job's tick fired"""
    for op in evidence.clients:
        if op.get("op") != "pause" or op["outcome"] != "ok":
            continue
        later = [other["asked_ms"] for other in evidence.clients
                 if other.get("job") == op["job"] and other["asked_ms"] > op["asked_ms"]]
        until = min(later, default=evidence.world["ended_ms"])
        mine = [run for run in ticks(evidence) if evidence.job_name(run["job_id"]) == op["job"]]
        if until - op["answered_ms"] > 5000 and mine:
            copy_of_run(evidence, mine[0], tick_ms=(until + op["answered_ms"]) // 2)
            return True
    return False


# --- the order of the commits -----------------------------------------------------------------------


def change_a_write(evidence, dice, spoil):
    """Applies `spoil` to a run's change in a transaction of a later Term."""
    transaction = pick(dice, transactions_after_takeover(evidence))
    if transaction is None:
        return False
    spoil(next(change for change in transaction.changes if change.table == "run" and change.after))
    return True


@mutant("fencing")
def lower_an_epoch(evidence, dice):
    """a write of the first Term after the second one's takeover"""
    return change_a_write(evidence, dice, lambda change: change.after.update(epoch=1))


@mutant("fencing")
def raise_an_epoch(evidence, dice):
    """a write of a Term that never took office"""
    return change_a_write(evidence, dice, lambda change: change.after.update(epoch=999))


@mutant("fencing")
def epoch_used_again(evidence, dice):
    """a takeover uses the epoch of the previous Term"""
    takeovers = [change for transaction in evidence.transactions for change in transaction.changes
                 if change.table == "epoch" and change.after and change.after["value"]]
    if len(takeovers) < 2:
        return False
    takeovers[-1].after["value"] = takeovers[-2].after["value"]
    return True


@mutant("fencing")
def office_of_a_second_cluster(evidence, dice):
    """the last takeover belongs to a second cluster on the same database"""
    takeovers = [change for transaction in evidence.transactions for change in transaction.changes
                 if change.table == "epoch" and change.after and change.after["value"]]
    if not takeovers:
        return False
    takeovers[-1].after["holder"] = "stranger"
    return True


@mutant("fencing")
def old_run_id_after_takeover(evidence, dice):
    """a run is inserted under an id of an older Term"""
    for transaction in transactions_after_takeover(evidence):
        for change in transaction.changes:
            if change.table == "run" and change.before is None and change.after:
                change.after["run_id"] = (1 << ID_BITS) + 4_000_000
                return True
    return False


@mutant("fencing")
def final_state_changes(evidence, dice):
    """a succeeded run becomes failed"""
    for transaction in reversed(evidence.transactions):
        for change in transaction.changes:
            if change.table == "run" and change.after and change.after["state"] in FINAL:
                later = copy.deepcopy(change)
                later.before = copy.deepcopy(change.after)
                later.after["state"] = "failed" if change.after["state"] != "failed" else "succeeded"
                transaction.changes.append(later)
                return True
    return False


@mutant("fencing")
def watermark_goes_back(evidence, dice):
    """a commit sets the watermark to an earlier moment"""
    found = [change for transaction in evidence.transactions for change in transaction.changes
             if change.table == "watermark" and change.after]
    if len(found) < 3:
        return False
    found[len(found) // 2].after["value_ms"] -= 10_000_000
    return True


@mutant("fencing")
def slice_goes_back(evidence, dice):
    """a slice of ticks has passed fewer jobs than before"""
    found = [change for transaction in evidence.transactions for change in transaction.changes
             if change.table == "watermark" and change.after]
    if len(found) < 2:
        return False
    for change, job in zip(found[-2:], (9, 5)):
        change.after.update(value_ms=found[-1].after["value_ms"], reaching_ms=found[-1].after["value_ms"] + 1,
                            job_id=job)
    return True


@mutant("accounting")
def slice_said_to_be_further(evidence, dice):
    """a slice of ticks claims to have passed jobs that it has not recorded"""
    row = evidence.store["watermark"][0]
    due = any(version["enabled"] and version["valid_to_ms"] is None and
              version["definition"]["rules"]["schedule"]["kind"] != "none"
              for version in evidence.store["job_version"])
    row.update(reaching_ms=row["value_ms"] + 120_000, job_id=max(evidence.jobs))
    return due


@mutant("fencing")
def watermark_outside_the_transaction(evidence, dice):
    """ticks are committed without the watermark"""
    spoiled = 0
    for transaction in evidence.transactions:
        if any(change.table == "run" and change.before is None and change.after and
               change.after["tick_ms"] is not None for change in transaction.changes):
            transaction.changes = [c for c in transaction.changes if c.table != "watermark"]
            spoiled += 1
    return spoiled > 0


@mutant("fencing")
def gap_rewritten(evidence, dice):
    """a gap row is updated"""
    for transaction in evidence.transactions:
        for change in transaction.changes:
            if change.table == "gap" and change.after:
                later = copy.deepcopy(change)
                later.before = copy.deepcopy(change.after)
                later.after["tick_count"] += 5
                transaction.changes.append(later)
                return True
    return False


@mutant("fencing")
def committed_and_gone(evidence, dice):
    """a committed run is not in the store"""
    run = pick(dice, evidence.store["run"])
    if run is None:
        return False
    evidence.store["run"].remove(run)
    return True


@mutant("fencing", makes_unknown=True)
def no_binlog(evidence, dice):
    """the order of the commits is unknown"""
    evidence.transactions = []
    return True
