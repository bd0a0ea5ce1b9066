"""Jobs with @worker_start: one run for each start of a worker, also when the leader dies at that moment, and none for a
ZooKeeper session that is lost, a worker proper that dies, or a new leader."""
import time

import zk_session
from cluster import check, figure, wait_until

JOB = """name: boot
command: 'echo "$ROTA_SCHEDULE $ROTA_WORKER"'
overlap: allow
schedule:
  - {cron: "@worker_start", name: up}
"""
QUIET_S = 4


def on(cluster, worker):
    """Its runs on that worker, oldest first."""
    runs = [run for run in cluster.runs("boot") if run["worker"] == worker]
    return sorted(runs, key=lambda run: run["id"])


def await_runs(cluster, worker, count, why):
    wait_until(lambda: len(on(cluster, worker)) >= count, 60, why)
    wait_until(lambda: all(run["state"] == "succeeded" for run in on(cluster, worker)), 30, f"{why}: it succeeds")


def stays(cluster, worker, count, why):
    """No other run comes, now that the worker is back."""
    wait_until(cluster.is_whole, 60, f"{why}: all are back")
    time.sleep(QUIET_S)
    runs = on(cluster, worker)
    check(len(runs) == count, f"{why}: {len(runs)} runs on {worker} instead of {count}: {runs}")


def end_session(cluster, worker):
    ended = [zk_session.end(*one) for one in zk_session.sessions_in(f"{cluster.folder}/{worker}/session")]
    check(any(ended), f"no session of {worker} was ended")


def run_all(cluster):
    wait_until(cluster.is_whole, 60, "all are here")
    cluster.apply(JOB)
    told = cluster.rota("job", "next", "boot")
    check("once for each start of a worker" in told.stdout + told.stderr, f"job next: {told.stdout} {told.stderr}")
    time.sleep(QUIET_S)
    check(not cluster.runs("boot"), "a worker that was there before the job fires it")

    cluster.script("stop", "worker-1")
    cluster.script("start", "worker-1")
    await_runs(cluster, "worker-1", 1, "the worker was started")
    check({run["kind"] for run in cluster.runs("boot")} == {"worker_start"}, "the kind of these runs")
    told = cluster.ok("run", "logs", str(on(cluster, "worker-1")[0]["id"])).split()
    check(told == ["up", "worker-1"], f"the run was told {told}")

    cluster.script("stop", "worker-1")
    cluster.script("start", "worker-1")
    cluster.kill("leader")
    await_runs(cluster, "worker-1", 2, "the leader was killed when the worker started")
    stays(cluster, "worker-1", 2, "a leader died at a start")

    end_session(cluster, "worker-1")
    time.sleep(1)
    stays(cluster, "worker-1", 2, "its session was ended")
    cluster.kill("worker-1.proper")
    time.sleep(1)
    stays(cluster, "worker-1", 2, "its proper was killed")
    cluster.kill("worker-1.warden")
    await_runs(cluster, "worker-1", 3, "its warden was killed")
    stays(cluster, "worker-1", 3, "its warden was killed")
    cluster.ok("job", "delete", "--yes", "boot")
    cluster.verify()
    figure("worker_starts", runs=len(on(cluster, "worker-1")))
