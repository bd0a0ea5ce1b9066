"""The smallest timeline of a violation: rows, ledgers, clients, faults and commits, in time order."""
from fault_windows import span

MOST_LINES = 14
NEAR_MS = 1500


def timeline(evidence, violation):
    """Lines "+0.123 s source: what" near the violation; when there are too many, the nearest ones."""
    entries = []
    of_run(evidence, violation.run, entries)
    of_clients(evidence, violation, entries)
    if violation.run is None and violation.job is not None:
        of_job(evidence, violation, entries)
    if violation.transaction is not None:
        for change in violation.transaction.changes[:6]:
            entries.append((violation.transaction.at_ms, "binlog", f"commit {violation.transaction.number}: "
                            f"{change}"))
    moments = violation.at or [at for at, _, _ in entries]
    if moments:
        of_faults(evidence, min(moments) - NEAR_MS, max(moments) + NEAR_MS, entries)
        of_epochs(evidence, min(moments) - NEAR_MS, max(moments) + NEAR_MS, entries)
    entries = sorted(set(entry for entry in entries if entry[0] is not None))
    if len(entries) > MOST_LINES:
        entries = sorted(sorted(entries, key=lambda e: min((abs(e[0] - at) for at in moments), default=0))
                         [:MOST_LINES])
    begin = entries[0][0] if entries else 0
    return [f"    {at:.0f} {(at - begin) / 1000:+9.3f} s {source}: {what}" for at, source, what in entries]


def of_run(evidence, run_id, entries):
    run = evidence.runs.get(run_id)
    if run is not None:
        name = f"run {run_id} of {evidence.job_name(run['job_id'])}"
        if run["tick_ms"] is not None:
            entries.append((run["tick_ms"], "store", f"tick of {name}"))
        entries.append((run["recorded_ms"], "store", f"{name} recorded, kind {run['kind']}, "
                        f"version {run['job_version']}, key {run.get('request_key')}"))
        entries.append((run.get("dispatched_ms"), "store", f"attempt {run['attempt']} dispatched to "
                        f"{run['worker_id']}"))
        entries.append((run.get("started_ms"), "store", f"attempt {run['attempt']} said to be started"))
        entries.append((run.get("ended_ms"), "store", f"{run['state']} ({run['reason']}), status "
                        f"{run.get('exit_status')}, epoch {run['epoch']} {run['detail']}".rstrip()))
    for row in evidence.attempts.get(run_id, ()):
        entries.append((row.get("outcome_ended_ms") or row.get("dispatched_ms"), "store",
                        f"attempt {row['attempt']} on {row['worker_id']}: {row['outcome_state']} "
                        f"({row['outcome_reason']}){' late' if row['late'] else ''}"))
    for life in evidence.lives_of.get(run_id, ()):
        if evidence.boot_to_wall is None:
            continue
        what = f"run {run_id} attempt {life.attempt} epoch {life.epoch} pid {life.pid}"
        entries.append((evidence.wall(life.first), "ledger", f"{what} begins"))
        entries.append((evidence.wall(life.last), "ledger",
                        f"{what} {'ends' if life.end is not None else 'writes its last beat'}"))


def of_clients(evidence, violation, entries):
    for op in evidence.clients:
        same_run = violation.run is not None and op["run"] == violation.run
        if not same_run and not (violation.key and op.get("key") == violation.key):
            continue
        name = f"{op.get('op')} {op.get('id')} key {op.get('key')}"
        entries.append((op.get("asked_ms"), "client", f"{name} asked"))
        entries.append((op.get("answered_ms"), "client",
                        f"{name} answered {op.get('outcome')} run {op['run']} {op.get('error') or ''}".rstrip()))


def of_job(evidence, violation, entries):
    """The job's versions and what was recorded near those moments."""
    for version in evidence.versions.get(violation.job, ()):
        entries.append((version["valid_from_ms"], "store", f"version {version['version']} of "
                        f"{evidence.job_name(violation.job)} begins (enabled {version['enabled']})"))
    if not violation.at:
        return
    low, high = min(violation.at), max(violation.at)
    near = [run for run in evidence.store["run"] if run["job_id"] == violation.job and
            run["tick_ms"] is not None]
    for run in sorted(near, key=lambda one: distance(one["tick_ms"], low, high))[:4]:
        entries.append((run["tick_ms"], "store", f"tick of run {run['run_id']}, recorded "
                        f"{run['recorded_ms'] - run['tick_ms']} ms later"))
    for row in evidence.store["gap"]:
        if row["job_id"] == violation.job and distance(row["from_ms"], low, high) < 10 * NEAR_MS:
            entries.append((row["from_ms"], "store", f"gap to {row['to_ms']}: {row['tick_count']} ticks, "
                            f"{row['reason']} {row['reference']}"))


def distance(at, low, high):
    return max(low - at, at - high, 0)


def of_faults(evidence, low, high, entries):
    for fault in evidence.faults:
        begin, end = span(fault)
        if begin <= high and low <= end:
            name = f"{fault.get('kind')} of {fault.get('target')}"
            entries.append((begin, "fault", f"{name} begins"))
            if end != begin:
                entries.append((end, "fault", f"{name} ends"))


def of_epochs(evidence, low, high, entries):
    for transaction in evidence.transactions:
        if low <= transaction.at_ms <= high:
            for change in transaction.changes:
                if change.table == "epoch" and change.after:
                    entries.append((transaction.at_ms, "binlog", f"commit {transaction.number}: epoch "
                                    f"{change.after['value']} taken by {change.after.get('holder')}"))
