"""P10, P11: the clients' answers were true. OK is never lost, rejected never happened, a key is one run.

A database that is promoted without its last transactions loses acknowledged answers. When the faults' log says
so, this is counted and is no breach, but it must not reach further back than its time allows.
"""
import json
from collections import defaultdict

from allowances import CANCEL_IN_FLIGHT_MS, CLOCK_SKEW_MS, LATE_EFFECT_MS
from evidence import FINAL
from fault_windows import clock_error, was_lost

QUESTION = "clients"
RUN_OPS = ("submit", "run_now")


def ask(evidence, findings, bounds):
    counts = defaultdict(int)
    by_key = stored_keys(evidence, findings)
    for op in evidence.clients:
        if op.get("op") in RUN_OPS:
            judge_submit(evidence, op, by_key, findings, counts)
        elif op.get("op") == "cancel" and op.get("outcome") == "ok":
            judge_cancel(evidence, op, findings, bounds)
    judge_keys(evidence, findings)
    nothing_invented(evidence, findings)
    judge_edits(evidence, findings)
    for name in ("ok", "unknown", "lost", "rejected"):
        findings.figure(f"submits_{name}", counts[name])
    findings.note("clients " + " ".join(f"{op}_{outcome}={count}" for (op, outcome), count
                                        in sorted(tally(evidence).items())))


def tally(evidence):
    counts = defaultdict(int)
    for op in evidence.clients:
        counts[(str(op.get("op")), str(op.get("outcome")))] += 1
    return counts


def stored_keys(evidence, findings):
    """key -> run; a key in the store twice is a violation by itself."""
    found = {}
    for run in evidence.store["run"]:
        key = run.get("request_key")
        if not key:
            continue
        if key in found:
            other = found[key]
            findings.violated(QUESTION, f"request key {key} has two runs: {other['run_id']} and "
                              f"{run['run_id']}", run=run["run_id"], key=key,
                              at=(other["recorded_ms"], run["recorded_ms"]))
        found[key] = run
    return found


def judge_submit(evidence, op, by_key, findings, counts):
    outcome, key = op.get("outcome"), op.get("key")
    counts[outcome] += 1
    stored = by_key.get(key)
    subject = {"key": key, "run": op["run"], "at": (op.get("asked_ms"), op.get("answered_ms"))}
    if outcome == "ok":
        run = evidence.runs.get(op["run"])
        if run is None:
            counts["lost"] += 1
            if not was_lost(evidence, op["answered_ms"]):
                findings.violated(QUESTION, f"{op['op']} {op['id']} was answered with run {op['run']}, "
                                  "which is not stored", **subject)
        elif key and run.get("request_key") != key:
            findings.violated(QUESTION, f"{op['op']} {op['id']} with key {key} was answered with run "
                              f"{op['run']}, which has the key {run.get('request_key')}", **subject)
        elif run["recorded_ms"] > op["answered_ms"] + CLOCK_SKEW_MS + \
                clock_error(evidence, op["asked_ms"], op["answered_ms"]):
            findings.violated(QUESTION, f"{op['op']} {op['id']} was answered "
                              f"{run['recorded_ms'] - op['answered_ms']} ms before its run was recorded",
                              **subject)
    if outcome == "rejected" and stored is not None and not others_with(evidence, op, key):
        findings.violated(QUESTION, f"{op['op']} {op['id']} was rejected, and run {stored['run_id']} "
                          "has its key", key=key, run=stored["run_id"], at=subject["at"])


def others_with(evidence, op, key):
    return any(other is not op and other.get("key") == key and other.get("outcome") != "rejected"
               for other in evidence.clients)


def judge_keys(evidence, findings):
    """One key, one run; one key, one content."""
    answered = defaultdict(list)
    for op in evidence.clients:
        if op.get("op") in RUN_OPS and op.get("key") and op.get("outcome") == "ok":
            answered[op["key"]].append(op)
    for key, ops in answered.items():
        runs = {op["run"] for op in ops}
        subject = {"key": key, "run": ops[0]["run"], "at": [op["answered_ms"] for op in ops]}
        if len(runs) > 1 and not any(was_lost(evidence, op["answered_ms"]) for op in ops):
            findings.violated(QUESTION, f"key {key} was answered with {len(runs)} runs: "
                              f"{sorted(runs)}", **subject)
        # A database that went back has forgotten the key with its run: the key may be used again.
        contents = {json.dumps(op.get("content"), sort_keys=True) for op in ops
                    if not was_lost(evidence, op["answered_ms"])}
        if len(contents) > 1:
            findings.violated(QUESTION, f"key {key} was taken with {len(contents)} contents", **subject)


def nothing_invented(evidence, findings):
    """Every run that is not of a tick was requested."""
    keys = {op.get("key") for op in evidence.clients if op.get("key")}
    told = {op["run"] for op in evidence.clients if op["run"]}
    keyless = sum(1 for op in evidence.clients if op.get("op") in RUN_OPS and not op.get("key") and
                  op.get("outcome") == "unknown")
    strangers = [run for run in evidence.store["run"] if run["kind"] != "tick" and
                 run["run_id"] not in told and run.get("request_key") not in keys]
    if len(strangers) > keyless:
        first = strangers[0]
        findings.violated(QUESTION, f"{len(strangers)} runs were asked for by nobody, "
                          f"{keyless} answers without a key were unknown; the first is run "
                          f"{first['run_id']}", run=first["run_id"], at=(first["recorded_ms"],))


# --- cancels ----------------------------------------------------------------------------------------


def judge_cancel(evidence, op, findings, bounds):
    run = evidence.runs.get(op["run"])
    subject = {"run": op["run"], "at": (op["asked_ms"], op["answered_ms"])}
    if run is None:
        if not was_lost(evidence, op["answered_ms"]):
            findings.violated(QUESTION, f"cancel {op['id']} was taken for run {op['run']}, which is not "
                              "stored", **subject)
        return
    answered, lost = op["answered_ms"], was_lost(evidence, op["answered_ms"])
    if not run["cancel_asked"] and not lost:
        findings.violated(QUESTION, f"cancel {op['id']} of run {op['run']} was taken, and the run does "
                          f"not know of it ({run['state']})", **subject)
        return
    if evidence.boot_to_wall is None or lost:
        return
    limit = bounds.windows.end_of(answered) + CANCEL_IN_FLIGHT_MS
    starts = [evidence.wall(life.start) for life in evidence.lives_of.get(run["run_id"], ())
              if life.start is not None]
    late = [start for start in starts if start > limit]
    if late and run["cancel_asked"]:
        findings.violated(QUESTION, f"run {op['run']} was cancelled, and an attempt of it began "
                          f"{late[0] - answered:.0f} ms later", run=op["run"], at=(answered, late[0]))
    grace = evidence.rules_of(run).get("kill_grace_ms", 10_000)
    if run["cancel_asked"] and run["state"] not in FINAL and \
            bounds.windows.end_of(answered) + grace + bounds.fence() < evidence.world["ended_ms"]:
        findings.violated(QUESTION, f"run {op['run']} was cancelled and never ended: {run['state']}",
                          **subject)


# --- apply, pause, resume, delete -------------------------------------------------------------------


def judge_edits(evidence, findings):
    """After the answer "paused" or "deleted", a job has no tick until the next edit."""
    edits = defaultdict(list)
    for op in evidence.clients:
        if op.get("op") in ("apply", "pause", "resume", "delete") and op.get("job"):
            edits[op["job"]].append(op)
    for name, ops in edits.items():
        ops.sort(key=lambda op: op["asked_ms"])
        jobs = [job for job in evidence.store["job"] if job["name"] == name and not job["one_off"]]
        if not jobs and any(op["outcome"] == "ok" and op["op"] == "apply" and
                            not was_lost(evidence, op["answered_ms"]) for op in ops):
            findings.violated(QUESTION, f"job {name} was applied, and is not stored",
                              at=(ops[0]["answered_ms"],))
        for at, op in enumerate(ops):
            if op["outcome"] == "ok" and op["op"] in ("pause", "delete") and \
                    not was_lost(evidence, op["answered_ms"]):
                rest = ops[at + 1:]
                until = min((other["asked_ms"] for other in rest), default=evidence.world["ended_ms"])
                # A request without an answer may be done a while later.
                overlapped = any(other["answered_ms"] > op["asked_ms"] or other["outcome"] == "unknown" and
                                 other["asked_ms"] > op["asked_ms"] - LATE_EFFECT_MS for other in ops[:at])
                if not overlapped:
                    quiet(evidence, jobs, op, until, findings)


def quiet(evidence, jobs, op, until, findings):
    ids = {job["job_id"] for job in jobs}
    error = clock_error(evidence, op["answered_ms"], until) + CLOCK_SKEW_MS
    for run in evidence.store["run"]:
        if run["job_id"] in ids and run["tick_ms"] is not None and \
                op["answered_ms"] + error < run["tick_ms"] < until - error:
            findings.violated(QUESTION, f"job {op['job']}: {op['op']} was acknowledged, and its tick "
                              f"{run['tick_ms']} fired", run=run["run_id"], job=run["job_id"],
                              at=(op["answered_ms"], run["tick_ms"]))
            return
