"""Mutants of the traces of jobs, clients, logs and faults: ledgers, answers, output, residue."""
import zlib

from mutant import (Collection, copy_of_life, cut_life, one_offs, overlap_of, pick, quiet_ticks,
                    shift_life, ticks)

mutant = Collection()
MUTANTS = mutant.mutants


def life_of(evidence, run):
    return evidence.lives_of[run["run_id"]][0]


# --- ledgers ----------------------------------------------------------------------------------------


@mutant("exclusion")
def overlap_two_attempts(evidence, dice):
    """a second attempt is alive while the first is"""
    run = pick(dice, [run for run in ticks(evidence) if len(life_of(evidence, run).beats) > 4])
    if run is None:
        return False
    life = life_of(evidence, run)
    copy_of_life(evidence, life, (life.last - life.first) / 2, attempt=2, pid=9999)
    return True


@mutant("exclusion")
def overlap_two_runs(evidence, dice):
    """two runs of a job that must not overlap are alive at once"""
    serial = [run for run in ticks(evidence) if overlap_of(evidence, run) != "allow" and
              all(v["definition"]["rules"].get("overlap") != "allow" for v in evidence.versions[run["job_id"]])]
    for run in dice.sample(serial, len(serial)):
        others = [other for other in serial if other["job_id"] == run["job_id"] and other is not run]
        if others:
            one, two = life_of(evidence, run), life_of(evidence, pick(dice, others))
            shift_life(two, (one.first + one.last) / 2 - two.first)
            return True
    return False


@mutant("exclusion")
def start_one_attempt_twice(evidence, dice):
    """one attempt is two processes, one after the other"""
    run = pick(dice, ticks(evidence))
    if run is None:
        return False
    life = life_of(evidence, run)
    copy_of_life(evidence, life, life.last - life.first + 50, pid=9999)
    return True


@mutant("truth")
def drop_a_ledger_end(evidence, dice):
    """a run is called succeeded, its process never ended by itself"""
    run = pick(dice, ticks(evidence))
    return run is not None and cut_life(life_of(evidence, run)) is None


@mutant("truth")
def drop_a_life(evidence, dice):
    """a run is called succeeded, and no process of it ever ran"""
    run = pick(dice, ticks(evidence))
    return run is not None and evidence.lives.remove(life_of(evidence, run)) is None


@mutant("truth")
def writes_on_after_its_end(evidence, dice):
    """a killed process is still alive"""
    dead = [run for run in evidence.store["run"] if run["state"] == "killed" and
            evidence.lives_of[run["run_id"]]]
    run = pick(dice, dead)
    if run is None:
        return False
    life = evidence.lives_of[run["run_id"]][-1]
    life.beats.append(life.last + 70_000)
    life.last = life.beats[-1]
    return True


@mutant("truth")
def needless_repeat(evidence, dice):
    """an attempt that ended well is run again, with no fault near it"""
    run = pick(dice, [run for run in quiet_ticks(evidence, 30_000)])
    if run is None:
        return False
    life = life_of(evidence, run)
    copy_of_life(evidence, life, life.last - life.first + 700, attempt=2)
    evidence.store["attempt"].append({
        "run_id": run["run_id"], "attempt": 1, "worker_id": run["worker_id"], "worker_incarnation": "x",
        "epoch": run["epoch"], "dispatched_ms": run["dispatched_ms"], "late": 0, "outcome_state": "lost",
        "outcome_reason": "worker_lost", "outcome_ended_ms": None, "stdout_bytes": 0})
    run["attempt"] = 2
    return True


@mutant("truth")
def again_where_loss_is_never(evidence, dice):
    """a run with the loss policy never was lost and started again"""
    row = pick(dice, [row for row in evidence.store["attempt"] if row["outcome_reason"] in
                      ("worker_lost", "attempt_died") and any(life.attempt > row["attempt"] for life in
                                                              evidence.lives_of[row["run_id"]])])
    if row is None:
        return False
    evidence.version_of(evidence.runs[row["run_id"]])["definition"]["rules"]["loss"] = "never"
    return True


@mutant("truth")
def gives_up_too_early(evidence, dice):
    """a run failed, and the retries of its job were not made"""
    run = pick(dice, [run for run in evidence.store["run"] if run["state"] == "failed" and
                      run["outcome_reason"] == "exit_status"])
    if run is None:
        return False
    evidence.version_of(run)["definition"]["rules"]["retry"] = {"count": 7}
    return True


@mutant("truth")
def tries_too_often(evidence, dice):
    """a run failed more often than its job allows"""
    run = pick(dice, [run for run in evidence.store["run"] if run["state"] == "failed" and
                      run["outcome_reason"] == "exit_status"])
    if run is None:
        return False
    evidence.version_of(run)["definition"]["rules"]["retry"] = {"count": -1}
    return True


@mutant("recovery")
def starts_on_a_stopping_worker(evidence, dice):
    """a worker that was told to stop starts an attempt"""
    run = pick(dice, quiet_ticks(evidence))
    if run is None:
        return False
    start = evidence.wall(life_of(evidence, run).start)
    evidence.faults.append({"kind": "restart_worker", "target": run["worker_id"], "took_effect": True,
                            "from_ms": start - 3000, "to_ms": start + 3000, "proof": "stopped"})
    return True


@mutant("truth")
def process_before_its_row(evidence, dice):
    """a process begins five seconds before its run is recorded"""
    run = pick(dice, quiet_ticks(evidence))
    return run is not None and shift_life(life_of(evidence, run), -5000) is None


@mutant("truth")
def process_of_no_run(evidence, dice):
    """a process ran for a run that is not stored"""
    run = pick(dice, ticks(evidence))
    return run is not None and bool(copy_of_life(evidence, life_of(evidence, run), 3, run=4242))


@mutant("targets")
def execution_far_too_late(evidence, dice):
    """in quiet time a process begins 25 s after its tick"""
    runs = [run for run in quiet_ticks(evidence, 40_000) if overlap_of(evidence, run) != "queue"]
    run = pick(dice, runs)
    return run is not None and shift_life(life_of(evidence, run), 25_000) is None


@mutant("targets")
def execution_without_a_target(evidence, dice):
    """a process of a scheduled job without a tick"""
    runs = [run for run in quiet_ticks(evidence) if overlap_of(evidence, run) == "allow"]
    run = pick(dice, runs)
    if run is None:
        return False
    twin = dict(run, run_id=run["run_id"] + 7_000_000)
    evidence.store["run"].append(twin)
    copy_of_life(evidence, life_of(evidence, run), 150, run=twin["run_id"])
    return True


@mutant("recovery")
def outage_kills_a_job(evidence, dice):
    """a job breaks off while only the database is away, and counts as lost"""
    for fault in evidence.faults:
        if "mariadb" not in str(fault.get("kind")) or not is_alone(evidence, fault):
            continue
        for life in evidence.lives:
            if fault["from_ms"] < evidence.wall(life.last) < fault["to_ms"]:
                return call_lost(evidence, life)
        life = max(evidence.lives, key=lambda one: evidence.wall(one.last) < fault["from_ms"] and one.last)
        life.beats.append((fault["from_ms"] + fault["to_ms"]) / 2 - evidence.boot_to_wall)
        life.last = life.beats[-1]
        return call_lost(evidence, life)
    return False


def is_alone(evidence, fault):
    return all(other is fault or abs(other["from_ms"] - fault["from_ms"]) > 25_000
               for other in evidence.faults)


def call_lost(evidence, life):
    life.end = None
    run = evidence.runs[life.run]
    run.update(state="lost", outcome_state="lost", outcome_reason="worker_lost", cancel_asked=0)
    return True


# --- clients ----------------------------------------------------------------------------------------


@mutant("clients")
def key_answered_with_two_runs(evidence, dice):
    """one key is answered with one run and then with another"""
    found = one_offs(evidence)
    if len(found) < 2:
        return False
    (one, _), (_, other) = dice.sample(found, 2)
    evidence.clients.append({**one, "id": "again", "run": other["run_id"]})
    return True


@mutant("clients")
def key_taken_with_other_content(evidence, dice):
    """one key is accepted with two different contents"""
    found = pick(dice, one_offs(evidence))
    if found is None:
        return False
    evidence.clients.append({**found[0], "id": "other", "content": "something else"})
    return True


@mutant("clients")
def rejected_and_done(evidence, dice):
    """a submit was rejected, and its run is there"""
    found = pick(dice, one_offs(evidence))
    if found is None:
        return False
    found[0].update(outcome="rejected", run=None)
    return True


@mutant("clients")
def attempt_after_a_cancel(evidence, dice):
    """a cancelled run is started again, a minute later"""
    cancelled = [op for op in evidence.clients if op.get("op") == "cancel" and op["outcome"] == "ok" and
                 evidence.lives_of[op["run"]] and evidence.runs[op["run"]]["cancel_asked"]]
    op = pick(dice, cancelled)
    if op is None:
        return False
    copy_of_life(evidence, evidence.lives_of[op["run"]][0], 120_000, attempt=2, pid=9999)
    return True


# --- output -----------------------------------------------------------------------------------------


def chunk_of(evidence, dice, last=False):
    """One chunk of a checkable stream that has several."""
    streams = {}
    for chunk in evidence.store["log_chunk"]:
        key = (chunk["run_id"], chunk["attempt"])
        run = evidence.runs.get(chunk["run_id"])
        if chunk["stream"] == 1 and key in evidence.printed and len(chunk["content"]) > 20 and \
                run and run["state"] == "succeeded" and run["attempt"] == chunk["attempt"]:
            streams.setdefault(key, []).append(chunk)
    found = [chunks for chunks in streams.values() if len(chunks) > 1]
    chunks = pick(dice, found)
    return sorted(chunks, key=lambda one: one["offset_bytes"])[-1 if last else 1] if chunks else None


@mutant("logs")
def flip_a_byte(evidence, dice):
    """a stored byte differs from what its CRC says"""
    chunk = chunk_of(evidence, dice)
    if chunk is None:
        return False
    chunk["content"] = flipped(chunk["content"], dice)
    return True


@mutant("logs")
def flip_a_byte_and_its_crc(evidence, dice):
    """a stored byte differs from what the job printed, and the CRC agrees with it"""
    chunk = chunk_of(evidence, dice)
    if chunk is None:
        return False
    chunk["content"] = flipped(chunk["content"], dice)
    chunk["crc32"] = zlib.crc32(chunk["content"])
    return True


def flipped(data, dice):
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


@mutant("logs")
def drop_a_chunk(evidence, dice):
    """a chunk in the middle is missing"""
    chunk = chunk_of(evidence, dice)
    return chunk is not None and evidence.store["log_chunk"].remove(chunk) is None


@mutant("logs")
def drop_the_last_chunk(evidence, dice):
    """the end of a stream is missing"""
    chunk = chunk_of(evidence, dice, last=True)
    return chunk is not None and evidence.store["log_chunk"].remove(chunk) is None


@mutant("logs")
def double_some_bytes(evidence, dice):
    """a chunk begins ten bytes before the one before it ends"""
    chunk = chunk_of(evidence, dice)
    if chunk is None:
        return False
    chunk["offset_bytes"] -= 10
    return True


@mutant("logs")
def hide_bytes_as_dropped(evidence, dice):
    """a chunk is lost and its bytes are reported as cut by the cap, where the cap cut nothing"""
    chunk = chunk_of(evidence, dice)
    if chunk is None:
        return False
    chunk["dropped_bytes"] += 5
    chunk["content"] = chunk["content"][5:]
    chunk.update(crc32=zlib.crc32(chunk["content"]), length_bytes=len(chunk["content"]),
                 offset_bytes=chunk["offset_bytes"] + 5)
    return True


@mutant("logs")
def outcome_names_less(evidence, dice):
    """the outcome names fewer bytes than the job printed"""
    chunk = chunk_of(evidence, dice)
    if chunk is None:
        return False
    evidence.runs[chunk["run_id"]]["stdout_bytes"] -= 7
    return True


# --- residue, logs, faults --------------------------------------------------------------------------


@mutant("leftovers")
def leave_an_orphan(evidence, dice):
    """a process outlived the cluster"""
    evidence.residue["processes"] = (evidence.residue.get("processes") or []) + [
        {"pid": 4711, "host": "worker-1", "command": "ledger_job"}]
    return True


@mutant("leftovers")
def leave_a_file(evidence, dice):
    """an attempt's folder was left behind"""
    evidence.residue["files"] = ["worker-1/work/run-4711"] + (evidence.residue.get("files") or [])
    return True


@mutant("leftovers")
def process_that_asserts(evidence, dice):
    """a master ended itself"""
    evidence.logs["master-9"] = "2026-01-01T00:00:00Z FATAL CHECK failed: a skipped tick is a gap\n"
    return True


@mutant("vacuity", makes_unknown=True)
def faults_without_effect(evidence, dice):
    """no fault of one kind had an effect"""
    return spoil_faults(pick(dice, faults_by_kind(evidence)), took_effect=False, proof="the process lives on")


@mutant("vacuity", makes_unknown=True)
def kills_of_unknown_effect(evidence, dice):
    """it is unknown whether kills of one kind had an effect"""
    kills = [faults for faults in faults_by_kind(evidence) if str(faults[0].get("kind")).startswith("kill")]
    return spoil_faults(pick(dice, kills), took_effect=None)


@mutant("vacuity", makes_unknown=True)
def too_many_without_effect(evidence, dice):
    """every kind of fault had an effect, and more than a tenth of all had none"""
    fault = pick(dice, [fault for faults in faults_by_kind(evidence) for fault in faults])
    evidence.faults += [dict(fault or {}, took_effect=None)] * (1 + len(evidence.faults) // 8)
    return fault is not None


def faults_by_kind(evidence):
    kinds = {}
    for fault in evidence.faults:
        if fault.get("took_effect") is True:
            kinds.setdefault(fault.get("kind"), []).append(fault)
    return list(kinds.values())


def spoil_faults(faults, **changed):
    for fault in faults or ():
        fault.update(changed)
    return bool(faults)


@mutant("vacuity", makes_unknown=True)
def no_faults(evidence, dice):
    """nothing was ever broken"""
    had = bool(evidence.faults)
    evidence.faults = []
    return had


@mutant("vacuity", makes_unknown=True)
def nobody_looked_for_orphans(evidence, dice):
    """residue.json is missing"""
    evidence.residue = None
    return True


@mutant("vacuity", makes_unknown=True)
def few_ticks(evidence, dice):
    """a history of a few seconds"""
    for table in ("run", "gap", "job_version", "job"):
        evidence.store[table] = []
    evidence.lives, evidence.transactions = [], []
    return True
