"""Workers die, in every way: no result lost, nothing alive twice, nothing left (P4, P6, P12, P17, P18)."""
import os
import time

from cluster import check, figure, judge_ledger, median, wait_until

RUNS = 20


def slots_busy(cluster, worker):
    rows = [w for w in cluster.json("worker", "list") if w["id"] == worker]
    return rows and rows[0]["running"]


def start_ledger_runs(cluster, ledger, worker, count, millis):
    """`count` runs of the ledger job, on that worker first."""
    runs = [cluster.submit(cluster.ledger_job(), ledger, str(millis), options=["--name", f"ledger-{i}"])
            for i in range(count)]
    wait_until(lambda: all(cluster.run(r)["state"] == "running" or cluster.run(r)["started_at_ms"]
                           or cluster.run(r)["state"] == "dispatched" for r in runs), 30, "all run")
    time.sleep(1.5)  # a run is stored as running when it has lasted for a second
    return [r for r in runs if cluster.run(r)["worker"] == worker], runs


def beats_after(ledger, at_us):
    """Of each run, the first line after the moment, by CLOCK_BOOTTIME in us."""
    first = {}
    with open(ledger, "rb") as file:
        for line in file.read().split(b"\n")[:-1]:
            words = line.split()
            at = int(words[5])
            if at > at_us:
                first.setdefault(words[1].decode(), at)
    return first


def boottime_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def killed(cluster, folder, part, runs=RUNS, millis=6000):
    """kill -9 of a part of worker-1 with commands running; each run must end well, exactly once. Of
    `.host` nothing comes back by itself: its runs go on elsewhere after the fence."""
    ledger = os.path.join(folder, f"ledger-{part.replace('.', '-')}")
    there, all_runs = start_ledger_runs(cluster, ledger, "worker-1", runs, millis)
    check(there, "no run went to worker-1")
    killed_at = boottime_us()
    cluster.kill(part)
    ended = [cluster.await_run(r, 90) for r in all_runs]
    not_good = [(r["id"], r["state"], r["reason"]) for r in ended if r["state"] != "succeeded"]
    check(not not_good, f"runs that did not succeed after all: {not_good[:5]}")
    judged = judge_ledger(ledger)
    tries = sum(r["attempt"] for r in ended)
    back = beats_after(ledger, killed_at)
    delays = [(back[r] - killed_at) / 1000 for r in there if r in back]
    figure("worker_killed", part=part, runs=len(all_runs), on_it=len(there), attempts=tries,
           back_median_ms=round(median(delays)) if delays else -1,
           back_worst_ms=round(max(delays)) if delays else -1,
           overlap_ms=judged.get("max_overlap_ms", judged))
    if part.endswith(".host"):
        cluster.script("start", "worker-1")
    wait_until(lambda: any(w["id"] == "worker-1" and w["state"] in ("online", "busy")
                           for w in cluster.json("worker", "list")), 30, "worker-1 is back")


def terminated(cluster):
    """SIGTERM: nothing new, what runs finishes, the node goes, exit 0."""
    runs = [cluster.submit("/bin/sleep", "3") for _ in range(4)]
    wait_until(lambda: all(cluster.run(r)["state"] in ("dispatched", "running") for r in runs), 20, "started")
    mine = [r for r in runs if cluster.run(r)["worker"] == "worker-2"]
    at = int(cluster.kill("worker-2.watchdog", "-TERM")["at_ms"])
    time.sleep(0.1)
    later = [cluster.submit("/bin/true") for _ in range(6)]
    ended = [cluster.await_run(r) for r in later]
    check(all(r["worker"] == "worker-1" for r in ended), "a stopping worker got a new attempt")
    for run in [cluster.await_run(r) for r in mine]:
        check(run["state"] == "succeeded" and run["attempt"] == 1, f"a running attempt was cut: {run}")
    wait_until(lambda: all(w["id"] != "worker-2" or w["state"] == "offline"
                           for w in cluster.json("worker", "list")), 20, "worker-2 is gone")
    wait_until(lambda: "worker-2" in cluster.script("status", may_fail=True), 1, "status")
    figure("worker_terminated", running=len(mine), cut=0, at=at)
    cluster.script("start", "worker-2")
    wait_until(lambda: any(w["id"] == "worker-2" and w["state"] == "online"
                           for w in cluster.json("worker", "list")), 30, "worker-2 is back")
