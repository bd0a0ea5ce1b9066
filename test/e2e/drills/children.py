"""Child jobs while leaders die: chains and fans whose commands note themselves in a ledger. Each end has exactly the
children that the keys say, by the ledger as by the rows."""
import collections
import json
import os
import time

from cluster import check, figure, wait_until

CHAIN = 5
FAN = 16
KILL_EVERY_S = 2


def job(ledger, name, command="", **keys):
    lines = [f"  - name: {name}", "    overlap: allow", "    labels: {drill: children}",
             f"    command: 'echo {name} $ROTA_RUN_ID ${{ROTA_PARENT_RUN:-0}} ${{ROTA_PARENT_STATE:-none}} >> {ledger}{command}'"]
    return lines + [f"    {key}: [{', '.join(names)}]" for key, names in keys.items()]


def files(ledger):
    fan = [f"fan-{i}" for i in range(FAN)]
    lines = ["jobs:"]
    lines += job(ledger, "root", on_success=["step-1"], on_end=fan)
    for i in range(1, CHAIN):
        lines += job(ledger, f"step-{i}", on_success=[f"step-{i + 1}"], on_failure=["never"])
    lines += job(ledger, f"step-{CHAIN}", command="; exit 3", on_success=["never"], on_failure=["alarm"])
    for name in ["never", "alarm"] + fan:
        lines += job(ledger, name)
    return "\n".join(lines) + "\n"


def refused(cluster):
    told = cluster.rota("apply", "-f", "-", "--yes", input="jobs:\n  - {name: x, command: [echo], on_end: [nowhere]}\n")
    check(told.returncode == 2 and 'there is no job "nowhere"' in told.stderr, f"an unknown child: {told.stderr}")
    told = cluster.rota("apply", "-f", "-", "--yes", input="jobs:\n  - {name: x, command: [echo], on_end: [y]}\n"
                                                           "  - {name: y, command: [echo], on_success: [x]}\n")
    check(told.returncode == 2 and "x -> y -> x" in told.stderr, f"a circle: {told.stderr}")


def lines_of(ledger):
    return [line.split() for line in open(ledger, encoding="utf-8")] if os.path.exists(ledger) else []


def all_of_them(cluster, folder, roots):
    ledger = f"{folder}/children.ledger"
    refused(cluster)
    cluster.apply(files(ledger))
    wait_until(cluster.is_whole, 60, "all are here")
    started, killed, last = [], 0, time.monotonic()
    while len(started) < roots:
        done = cluster.rota("-o", "json", "job", "run", "root", "--key", f"root-{len(started)}")
        if done.returncode == 0:
            started.append(int(json.loads(done.stdout)["id"]))
        if time.monotonic() - last > KILL_EVERY_S:
            cluster.kill("leader")
            killed += 1
            last = time.monotonic()
        time.sleep(0.2)
    each = 1 + CHAIN + 1 + FAN
    wait_until(lambda: len(lines_of(ledger)) >= roots * each, 180, "all children have run")
    wait_until(lambda: not any(run["job"].startswith(("root", "step", "fan", "alarm", "never")) for run in
                               cluster.runs(state="waiting,queued,dispatched,running")), 60, "nothing is left to run")
    judge(cluster, ledger, started)
    looked_at(cluster, started[0], each)
    cluster.ok("job", "delete", "--yes", "-l", "drill=children")  # children come before their parents in the list
    told = cluster.rota("job", "undelete", "step-1")
    check(told.returncode == 2 and 'there is no job "step-2"' in told.stderr, f"brought back: {told.stderr}")
    cluster.verify()
    figure("children", roots=roots, runs=len(lines_of(ledger)), leaders_killed=killed)


def judge(cluster, ledger, roots):
    """A run whose worker lives on is not run twice when a leader dies."""
    lines = lines_of(ledger)
    runs = collections.Counter(line[1] for line in lines)
    check(max(runs.values()) == 1, f"a run ran twice: {runs.most_common(3)}")
    by_parent = collections.defaultdict(collections.Counter)
    name_of = {line[1]: line[0] for line in lines}
    for name, _, parent, state in lines:
        by_parent[parent][name] += 1
        if parent != "0":
            check(state == ("failed" if name == "alarm" else "succeeded"), f"{name} was told that its parent {state}")
    for run, name in name_of.items():
        wanted = {f"fan-{i}" for i in range(FAN)} | {"step-1"} if name == "root" else set()
        if name.startswith("step-"):
            number = int(name.split("-")[1])
            wanted = {"alarm"} if number == CHAIN else {f"step-{number + 1}"}
        check(by_parent[run] == collections.Counter(wanted), f"{name} {run} has the children {by_parent[run]}")
    began = {int(run) for run, name in name_of.items() if name == "root"}
    check(began == set(roots), f"other roots than those that were asked for: {began ^ set(roots)}")


def looked_at(cluster, root, each):
    below = cluster.json("run", "list", "--root", str(root), "--all")
    check(len(below) == each - 1, f"{len(below)} runs below the root instead of {each - 1}")
    children = cluster.json("run", "list", "--parent", str(root))
    check(len(children) == FAN + 1, f"{len(children)} children instead of {FAN + 1}")
    child = next(run for run in children if run["job"] == "step-1")
    shown = cluster.ok("run", "show", str(child["id"]))
    check(f"{root} root" in shown and "on_failure" in shown and " *" in shown, f"the tree: {shown}")
    why = cluster.ok("run", "why", str(child["id"]))
    check(f"a child of run {root}" in why, f"why: {why}")
    refused_delete = cluster.rota("job", "delete", "--yes", "alarm")
    check(refused_delete.returncode == 5 and "step-" in refused_delete.stderr, f"deleted: {refused_delete.stderr}")
