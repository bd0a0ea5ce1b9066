"""P5, P6, P12, P15: the store's record of a run agrees with what its own process did.

The job itself writes and syncs its ledger lines; `end` is its last action before it exits. So a run with the
state succeeded has an `end`, a killed run writes nothing after its end, and an attempt that wrote a good `end`
is not run again, unless its worker was away beyond the fence (then it is `late`).
"""
from allowances import BOOT_CLOCK_MS, CLOCK_SKEW_MS, END_RACE_MS
from evidence import FINAL
from fault_windows import clock_error, was_lost

QUESTION = "truth"
ENDED_BY_ROTA = {"killed", "timed_out", "cancelled", "kill_failed"}
LOSSES = {"worker_lost", "attempt_died", "refused_by_worker", "start_failed", "signalled"}
ENDED_BY_WORKER = {"succeeded", "failed", "timed_out", "killed", "kill_failed"}


def ask(evidence, findings, bounds):
    compared = 0
    for run in evidence.store["run"]:
        lives = evidence.lives_of.get(run["run_id"], [])
        compared += bool(lives)
        rows_agree(run, evidence, findings)
        if is_ledgered(evidence, run):
            results_agree(evidence, run, lives, findings, bounds)
        nothing_after_the_end(evidence, run, lives, findings)
        no_needless_repeat(evidence, run, lives, findings, bounds)
        nothing_before_its_row(evidence, run, lives, findings)
        policies_kept(evidence, run, lives, findings)
    for life in evidence.lives:
        if life.run not in evidence.runs and not was_lost(evidence, evidence.wall(life.first or 0)):
            findings.violated(QUESTION, f"a process ran as run {life.run}, which is not stored",
                              run=life.run, at=(evidence.wall(life.first),))
    findings.note(f"runs_compared_with_ledgers={compared}")


def is_ledgered(evidence, run):
    work = evidence.work_of(run)
    return "ledger_job" in " ".join(work.get("argv") or []) + work.get("script", "")


def exit_asked(evidence, run):
    """The exit status in ledger_job's command line."""
    argv = evidence.work_of(run).get("argv") or []
    for at, word in enumerate(argv[:-1]):
        if word == "--exit":
            return int(argv[at + 1])
    return 0


def rows_agree(run, evidence, findings):
    """The row by itself, and with its earlier attempts."""
    subject = {"run": run["run_id"], "job": run["job_id"], "at": (run["recorded_ms"], run["ended_ms"])}
    name = f"run {run['run_id']}"
    if run["state"] in FINAL and run["ended_ms"] is None:
        findings.violated(QUESTION, f"{name} is {run['state']}, and no end is recorded", **subject)
    if run["state"] in ENDED_BY_WORKER and run["attempt"] > 0 and run["outcome_state"] != run["state"]:
        findings.violated(QUESTION, f"{name} is {run['state']}, its outcome says {run['outcome_state']}",
                          **subject)
    rows = [row["attempt"] for row in evidence.attempts.get(run["run_id"], ())]
    # A database that went back has forgotten attempts, and may get their ends while an older attempt runs.
    beyond = [row for row in evidence.attempts.get(run["run_id"], ()) if row["attempt"] > run["attempt"]
              and not (row["late"] and was_lost(evidence, row["dispatched_ms"] or row["outcome_started_ms"]))]
    if beyond:
        findings.violated(QUESTION, f"{name} has attempt rows {rows}, its newest attempt is "
                          f"{run['attempt']}", **subject)
    # An attempt that its worker refused never began, and has no row.
    began = {life.attempt for life in evidence.lives_of.get(run["run_id"], ())
             if not was_lost(evidence, evidence.wall(life.last or 0))}  # or its row was lost with the database
    missing = sorted(set(range(1, run["attempt"])) & began - set(rows))
    if missing:
        findings.violated(QUESTION, f"{name} is at attempt {run['attempt']}; attempts {missing} began, and "
                          "no row tells how they ended", **subject)


def results_agree(evidence, run, lives, findings, bounds):
    """The newest attempt's ledger against the run's state."""
    newest = [life for life in lives if life.attempt == run["attempt"]]
    ended = [life for life in newest if life.end is not None]
    late = any(row["late"] and row["outcome_state"] == run["state"]
               for row in evidence.attempts.get(run["run_id"], ()))
    subject = {"run": run["run_id"], "job": run["job_id"],
               "at": (run["ended_ms"],) + tuple(evidence.wall(life.last) for life in lives)}
    name, asked = f"run {run['run_id']}", exit_asked(evidence, run)
    if run["state"] == "succeeded":
        if not ended and not late:
            findings.violated(QUESTION, f"{name} is called succeeded, its process wrote no end", **subject)
        if asked != 0:
            findings.violated(QUESTION, f"{name} is called succeeded, its process ends with {asked}",
                              **subject)
    if run["state"] == "failed" and run["outcome_reason"] == "exit_status":
        if ended and run["exit_status"] != asked:
            findings.violated(QUESTION, f"{name} failed with status {run['exit_status']}, its process "
                              f"ended with {asked}", **subject)
        if not newest and run["exit_status"] in (0, asked):
            findings.violated(QUESTION, f"{name} failed with status {run['exit_status']}, and no process "
                              "of it ever wrote a line", **subject)
    if run["state"] in ("killed", "timed_out"):
        killed = run["outcome_ended_ms"] or run["ended_ms"]
        if any(not is_killed_in_its_end(evidence, life, killed, error_of(evidence, run, life), bounds)
               for life in ended if evidence.boot_to_wall is not None):
            findings.violated(QUESTION, f"{name} is called {run['state']}, its process had ended by itself",
                              **subject)
    if run["state"] == "cancelled" and any(life.attempt == run["attempt"] and life.end is None
                                           for life in newest) and run["attempt"] > 0 and \
            not evidence.attempts.get(run["run_id"]):
        findings.violated(QUESTION, f"{name} is called cancelled before it began, and a process of it ran",
                          **subject)


def is_killed_in_its_end(evidence, life, killed, error, bounds):
    """It had written its end and was killed before it exited, while it waited for the disk's sync."""
    wrote = evidence.wall(life.end)
    return killed - wrote <= END_RACE_MS + error + bounds.stalls.within(wrote, killed)


def error_of(evidence, run, life):
    """End times are by the worker's clock, which a fault may have moved; the ledger's time is true."""
    moment = run["outcome_ended_ms"] or run["ended_ms"]
    truly = evidence.wall(life.last)
    return max(clock_error(evidence, moment - 1000, moment + 1000),
               clock_error(evidence, truly - 1000, truly + 1000)) + BOOT_CLOCK_MS


def nothing_after_the_end(evidence, run, lives, findings):
    """KILLED means dead (P15), and a finished run writes no more."""
    if run["state"] not in ENDED_BY_ROTA | {"succeeded", "failed"} or evidence.boot_to_wall is None:
        return
    if run["state"] == "kill_failed":
        return  # the state itself says that the process may be alive
    end = max(run["ended_ms"] or 0, run["outcome_ended_ms"] or 0)
    for life in lives:
        after = evidence.wall(life.last) - end
        if life.attempt == run["attempt"] and end and after > CLOCK_SKEW_MS + error_of(evidence, run, life):
            findings.violated(QUESTION, f"run {run['run_id']} ended as {run['state']}, and attempt "
                              f"{life.attempt} wrote on for {after:.0f} ms", run=run["run_id"],
                              job=run["job_id"], at=(end, evidence.wall(life.last)))


def no_needless_repeat(evidence, run, lives, findings, bounds):
    """A finished attempt is not run again for a lost report or a crash of the worker proper (P12)."""
    rows = {row["attempt"]: row for row in evidence.attempts.get(run["run_id"], ())}
    done = [life for life in lives if life.end is not None and exit_asked(evidence, run) == 0]
    for life in done:
        later = [other for other in lives if (other.attempt or 0) > (life.attempt or 0)]
        row = rows.get(life.attempt)
        if not later:
            continue
        subject = {"run": run["run_id"], "job": run["job_id"],
                   "at": (evidence.wall(life.end), evidence.wall(later[0].first))}
        was_killed = evidence.boot_to_wall is not None and row is not None and row["outcome_ended_ms"] and \
            row["outcome_state"] == "killed" and is_killed_in_its_end(
                evidence, life, row["outcome_ended_ms"], error_of(evidence, row, life), bounds)
        if row is not None and row["outcome_reason"] not in LOSSES and not row["late"] and not was_killed:
            findings.violated(QUESTION, f"run {run['run_id']}: attempt {life.attempt} had ended well, its "
                              f"row says {row['outcome_state']} ({row['outcome_reason']}), and it was run "
                              "again", **subject)
        elif evidence.boot_to_wall is not None and not bounds.windows.touches(
                evidence.wall(life.first), evidence.wall(later[0].first)):
            findings.violated(QUESTION, f"run {run['run_id']}: attempt {life.attempt} had ended well and "
                              "was run again, with no fault near it", **subject)


def losses_of(rows):
    return [row["attempt"] for row in rows
            if row["outcome_state"] == "lost" and not row["late"]
            and row["outcome_reason"] in ("worker_lost", "attempt_died")]


def policies_kept(evidence, run, lives, findings):
    """P5 and retries: no second attempt after a loss that allows none; as many tries as the job says."""
    rules, rows = evidence.rules_of(run), evidence.attempts.get(run["run_id"], ())
    subject = {"run": run["run_id"], "job": run["job_id"],
               "at": tuple(evidence.wall(life.first) for life in lives if evidence.boot_to_wall is not None)}
    if rules.get("loss") == "never":
        lost = [row["attempt"] for row in rows if row["outcome_reason"] in ("worker_lost", "attempt_died")]
        again = [life.attempt for life in lives if lost and life.attempt > min(lost)]
        if again:
            findings.violated(QUESTION, f"run {run['run_id']}: attempt {min(lost)} was lost, loss is never, "
                              f"and attempt {again[0]} began", **subject)
    most, losses = rules.get("loss_most", 3), losses_of(rows)
    beyond = [life.attempt for life in lives if sum(no < (life.attempt or 0) for no in losses) >= most]
    if beyond:
        findings.violated(QUESTION, f"run {run['run_id']}: attempts {losses} were lost, its job allows {most} "
                          f"losses, and attempt {beyond[0]} began", **subject)
    allowed = (rules.get("retry") or {}).get("count", 0) + 1
    states = [row["outcome_state"] for row in rows if not row["late"] and row["attempt"] < run["attempt"]]
    tries = sum(state in ("failed", "timed_out") for state in states + [run["outcome_state"]])
    if tries > allowed:
        findings.violated(QUESTION, f"run {run['run_id']} failed {tries} times, {allowed} tries were asked for",
                          **subject)
    if run["state"] == "failed" and run["outcome_reason"] == "exit_status" and tries < allowed and \
            not run["cancel_asked"]:
        findings.violated(QUESTION, f"run {run['run_id']} gave up after {tries} of {allowed} tries", **subject)


def nothing_before_its_row(evidence, run, lives, findings):
    """No attempt starts before its row is committed (P6)."""
    if evidence.boot_to_wall is None or not lives:
        return
    first = evidence.wall(lives[0].first)
    error = clock_error(evidence, first, run["recorded_ms"]) + CLOCK_SKEW_MS
    if first + error < run["recorded_ms"]:
        findings.violated(QUESTION, f"run {run['run_id']} was recorded "
                          f"{run['recorded_ms'] - first:.0f} ms after its process began",
                          run=run["run_id"], job=run["job_id"], at=(first, run["recorded_ms"]))
    known = [life for life in lives if not was_lost(evidence, evidence.wall(life.first))]
    if known and (run["state"] == "skipped" or max(life.attempt or 0 for life in known) > run["attempt"]):
        findings.violated(QUESTION, f"run {run['run_id']} is {run['state']} at attempt {run['attempt']}, "
                          f"a process ran as attempt {max(life.attempt or 0 for life in lives)}",
                          run=run["run_id"], job=run["job_id"], at=(first,))
