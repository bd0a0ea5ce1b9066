"""An upgrade in steps while jobs run: programs of an earlier commit beside the present ones."""
import contextlib
import os
import pathlib
import re
import shutil
import time

from cluster import Cluster, check, figure, judge_ledger, wait_until

PROGRAMS = ("rota", "rota-master", "rota-worker", "rota-warden")
RUNS = 10
TOO_OLD = ("run a newer rota-master", "this_rota_master_is_too_old_upgrade_it",  # before it stands, or at a takeover
           "needs_a_newer_rota_master")
# The last schema step with rows that an older master would misread: one that knows it may lead again.
LAST_GUARD = 81
TICKS = "name: beside\nschedule: '@every 1s'\noverlap: allow\ncommand: [/bin/true]\n"


def replace(programs, source, *names):
    """Like a package manager: a new file under the old name; running processes keep the old one."""
    for name in names:
        new = programs / (name + ".new")
        shutil.copy2(pathlib.Path(source) / name, new)
        os.replace(new, programs / name)


def state(cluster, worker):
    rows = [w for w in cluster.json("worker", "list") if w["id"] == worker]
    return rows[0]["state"] if rows else "absent"


def here(cluster, worker):
    return state(cluster, worker) in ("online", "busy", "warning")


def works_on(cluster, worker, what):
    run = cluster.await_run(cluster.submit("/bin/echo", "hello", options=["--worker", worker]), 60)
    check(run["state"] == "succeeded" and run["worker"] == worker, f"{what}: {run}")


def proper_of(cluster, worker):
    """The pid of this worker's proper; empty between two lives."""
    return cluster.pids(worker + ".proper")


def runs_program_of(pid, folder, name):
    """Whether the process runs exactly the file that is there now."""
    try:
        there, wanted = os.stat(f"/proc/{pid}/exe"), os.stat(pathlib.Path(folder, name))
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (wanted.st_dev, wanted.st_ino)


def renew_proper(cluster, worker, programs):
    """kill -9 of the proper: its warden starts the present program, which adopts the running attempts."""
    cluster.kill(worker + ".proper")
    wait_until(lambda: (lambda pid: pid and runs_program_of(pid, programs, "rota-worker"))(proper_of(cluster, worker)),
               30, f"{worker}'s proper runs the new file")
    wait_until(lambda: here(cluster, worker), 30, f"{worker} is back")


def renew_masters(cluster, times):
    """Replaces the leading master: after both, the present program leads."""
    for _ in range(times):
        before = cluster.epoch()
        cluster.kill("leader")
        wait_until(lambda: cluster.leader() and cluster.epoch() > before, 60, "a successor leads")
    wait_until(lambda: here(cluster, "worker-1") and here(cluster, "worker-2"), 60, "both workers are here")



@contextlib.contextmanager
def running_cluster(first, folder, ledger, millis, job):
    """A cluster on programs copied from `first`, with ledger jobs and ticks. Returns (cluster, programs, runs)."""
    programs = pathlib.Path(folder, "bin")
    programs.mkdir(parents=True)
    replace(programs, first, *PROGRAMS)
    cluster = Cluster(folder + "/c", programs, masters=2, workers=2, pages="no", set=["worker.slots=20"])
    try:
        cluster.up()
        cluster.apply(TICKS)
        runs = [cluster.submit(job, ledger, str(millis)) for _ in range(RUNS)]
        cluster.await_started(runs)
        yield cluster, programs, runs
    finally:
        cluster.down()


def judge_runs(cluster, runs, ledger, name, began):
    """Every run succeeded at its first attempt, none was ever alive twice, and every promise is kept."""
    ended = [cluster.await_run(r, 120) for r in runs]
    bad = [(r["id"], r["state"], r["attempt"]) for r in ended if r["state"] != "succeeded" or r["attempt"] != 1]
    check(not bad, f"runs were cut by the upgrade: {bad}")
    ticks = cluster.runs("beside")
    wrong = [(r["id"], r["state"], r["reason"]) for r in ticks if r["ended_at_ms"] and r["state"] != "succeeded"]
    check(not wrong, f"ticks' runs that did not succeed: {wrong[:5]}")
    cluster.ok("job", "delete", "--yes", "beside")
    report = cluster.verify()
    figure(name, runs=len(runs), cut=0, tick_runs=len(ticks), overlap_ms=judge_ledger(ledger).get("max_overlap_ms"),
           verify="ok" if report["ok"] else "BROKEN", seconds=round(time.monotonic() - began))


def ledger_program(present):
    return str(pathlib.Path(present).parent / "test-bin" / "ledger_job")


def in_place(present, folder):
    """Replaces the files of worker and warden and renews the propers: running jobs are adopted."""
    ledger, began = folder + ".ledger", time.monotonic()
    with running_cluster(present, folder, ledger, 15000, ledger_program(present)) as (cluster, programs, runs):
        replace(programs, present, "rota-worker", "rota-warden")
        for worker in ("worker-1", "worker-2"):
            check(not runs_program_of(proper_of(cluster, worker), programs, "rota-worker"), "the old file runs")
            renew_proper(cluster, worker, programs)
            works_on(cluster, worker, "renewed")
        judge_runs(cluster, runs, ledger, "upgrade_in_place", began)


def schema_step(cluster, master):
    """The newest schema step that this master's program knows."""
    return int(re.findall(r"schema stands step=(\d+)", cluster.log(master))[-1])


def refused_by_name(cluster, old, new):
    """The new one leaves: the old one may not lead."""
    epoch = cluster.epoch()
    cluster.script("stop", new)
    wait_until(lambda: any(words in cluster.log(old) for words in TOO_OLD), 60, "the old one is refused by name")
    check(cluster.leader() is None, "an old master leads beside dispatches that it does not see")
    cluster.script("start", new)
    wait_until(lambda: cluster.leader() == new and cluster.epoch() > epoch, 60, "the new one leads again")


def older_master_stays_out(cluster, programs):
    """An old leader is stopped and comes back when a new one has led: it may not lead again, and says why.

    One that knows all rows which older ones would misread may."""
    old = cluster.leader()
    new = "master-2" if old == "master-1" else "master-1"
    cluster.kill(new)
    wait_until(lambda: (lambda pid: pid and runs_program_of(pid, programs, "rota-master"))(cluster.pids(new)),
               30, f"{new} runs the new file")
    cluster.kill(old, "-STOP")
    wait_until(lambda: cluster.leader() == new, 60, "the new one leads")
    cluster.kill(old, "-CONT")
    wait_until(lambda: {m["id"] for m in cluster.json("cluster", "status")["masters"] if m["address"]} == {old, new},
               60, "the old one stands by")
    check(not runs_program_of(cluster.pids(old), programs, "rota-master"), f"{old} runs the old file")
    if schema_step(cluster, old) < LAST_GUARD:
        refused_by_name(cluster, old, new)
    cluster.kill(old)  # comes back as a new one
    wait_until(lambda: (lambda pid: pid and runs_program_of(pid, programs, "rota-master"))(cluster.pids(old)),
               30, f"{old} runs the new file")
    renew_masters(cluster, 1)


def upgrade(present, old, folder):
    """Old masters and workers; then a worker, the masters, and the other worker are upgraded."""
    ledger, began = folder + ".ledger", time.monotonic()
    with running_cluster(old, folder, ledger, 40000, ledger_program(present)) as (cluster, programs, runs):
        replace(programs, present, "rota-worker", "rota-warden")
        renew_proper(cluster, "worker-1", programs)
        works_on(cluster, "worker-1", "new worker, old warden, old master")
        works_on(cluster, "worker-2", "old worker, old master")
        replace(programs, present, "rota-master", "rota")
        older_master_stays_out(cluster, programs)
        works_on(cluster, "worker-1", "new master, new worker")
        works_on(cluster, "worker-2", "new master, old worker")
        cluster.ok("worker", "drain", "worker-2", "--yes")
        wait_until(lambda: state(cluster, "worker-2") == "draining", 10, "an old worker can be drained")
        cluster.ok("worker", "resume", "worker-2")
        wait_until(lambda: here(cluster, "worker-2"), 10, "and be resumed")
        renew_proper(cluster, "worker-2", programs)
        works_on(cluster, "worker-2", "new master, new worker, old warden")
        judge_runs(cluster, runs, ledger, "rolling_upgrade", began)
        cluster.kill("worker-2")
        wait_until(lambda: here(cluster, "worker-2"), 30, "worker-2 is back, its warden new as well")
        works_on(cluster, "worker-2", "all new")
