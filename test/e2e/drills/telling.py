"""What people see while things break: who is away since when, what follows for its runs, what was missed."""
import json
import time

from cluster import PATIENCE, check, figure, wait_until


def row_of(cluster, worker):
    return next((w for w in cluster.json("worker", "list") if w["id"] == worker), None)


def is_online(cluster, worker):
    row = row_of(cluster, worker)
    return bool(row) and row["state"] in ("online", "busy", "warning")


def on_worker(worker):
    return ["--worker", worker]


def quiet_start(cluster):
    """An online worker has no remarks, from the first moment on."""
    cluster.kill("worker-2", "-9")
    row = wait_until(lambda: (lambda r: r and r["state"] == "online" and r)(row_of(cluster, "worker-2")), 30, "it is back")
    check(row["remarks"] in ("", None), f"online, with a reason why not: {row['remarks']}")


def figures_of_runs(cluster):
    """What a run has used so far, and a worker's load, at most a few seconds old."""
    run = cluster.submit("/bin/sh", "-c", "while :; do :; done", options=on_worker("worker-1"))
    usage = wait_until(lambda: (cluster.run(run)["now"] or {}).get("usage"), 20, "its figures")
    first = usage["cpu_us"]
    wait_until(lambda: (cluster.run(run)["now"]["usage"] or usage)["cpu_us"] > first, 20, "they go on")
    usage = cluster.run(run)["now"]["usage"]
    check(usage["memory_bytes"] > 0 and usage["processes"] > 0, f"usage: {usage}")
    shown = cluster.ok("run", "show", run)
    check("cpu so far" in shown and "so far" in shown and "memory" in shown, shown)
    oldest = 0
    for _ in range(8):
        ages = [w["vitals"]["age_ms"] for w in cluster.json("worker", "list") if w["vitals"] and w["state"] != "offline"]
        oldest = max([oldest, usage["age_ms"], *ages])
        time.sleep(1)
    check(oldest <= 5000 * PATIENCE, f"figures are {oldest} ms old")
    cluster.ok("run", "cancel", run)
    cluster.await_run(run)
    return oldest


def told_of(cluster, run):
    why = cluster.json("run", "why", run)
    return why["sentence"], why


def dead_host(cluster):
    """kill -9 of all of a worker: its run is not shown as running, and the end of the fence is named."""
    run = cluster.submit("/bin/sleep", "600", options=on_worker("worker-1"))
    wait_until(lambda: cluster.run(run)["state"] == "running", 30, "it runs")
    free = [cluster.submit("/bin/sleep", "600") for _ in range(4)]
    cluster.await_started(free)
    cluster.kill("worker-1.host")
    killed = time.monotonic()
    told = []

    def lost():
        sentence, why = told_of(cluster, run)
        told.append((round(time.monotonic() - killed, 1), sentence))
        return len(cluster.run(run)["attempts"]) == 1
    wait_until(lost, 60, "the attempt is given up")
    silent = [(at, text) for at, text in told if "has not answered since" in text]
    gone = [(at, text) for at, text in told if "is gone since" in text]
    check(silent, f"nobody said that the worker does not answer: {told}")
    check("another attempt starts at about" in silent[0][1], f"no end of the fence: {silent[0]}")
    late = [(at, text) for at, text in told if "It is running." in text and at > silent[0][0]]
    check(not late, f"it was said to run again: {late}")
    lost_attempt = cluster.run(run)["attempts"][0]
    check(lost_attempt["state"] == "lost" and lost_attempt["started_at_ms"], f"a lost attempt without its start: {lost_attempt}")
    wait_until(lambda: {cluster.run(r)["worker"] for r in free} == {"worker-2"}, 30, "the others go on elsewhere")
    for each in (run, *free):
        cluster.ok("run", "cancel", each)
    return silent[0][0], bool(gone)


def offline_is_kept(cluster):
    """It is listed with since when and why, also after a change of the leader, until it is forgotten or back."""
    row = row_of(cluster, "worker-1")
    check(row and row["state"] == "offline" and row["left_at_ms"], f"a dead worker is not listed as offline: {row}")
    check("gone since" in row["remarks"] and "its node is gone" in row["remarks"], row["remarks"])
    check("worker-1" in json.dumps(cluster.json("cluster", "status")["health"]), "health does not name it")
    shown = cluster.ok("worker", "show", "worker-1")
    check("offline" in shown and "gone since" in shown, shown)
    before = cluster.epoch()
    cluster.kill("leader")
    wait_until(lambda: cluster.leader() and cluster.epoch() > before, 60, "a successor leads")
    again = wait_until(lambda: row_of(cluster, "worker-1"), 10, "the successor knows it")
    check(again["state"] == "offline" and again["left_at_ms"] == row["left_at_ms"], f"{row} became {again}")
    refused = cluster.rota("worker", "forget", "worker-2")
    check(refused.returncode == 5 and "is here" in refused.stderr, refused.stderr)
    reasons_beside(cluster)
    cluster.ok("worker", "forget", "worker-1")
    wait_until(lambda: row_of(cluster, "worker-1") is None, 5, "it is listed no more")
    cluster.script("start", "worker-1")
    wait_until(lambda: is_online(cluster, "worker-1"), 60, "worker-1 is back")


def reasons_beside(cluster):
    """One worker is gone, the other drained: each command names both in the same way."""
    cluster.ok("worker", "drain", "worker-2", "--yes", "--why", "new disk", "--deadline", "1s")
    row = wait_until(lambda: (lambda r: r and "its deadline was" in r["remarks"] and r)(row_of(cluster, "worker-2")), 20,
                     "the deadline is over")
    check("hands over at" not in row["remarks"], row["remarks"])
    run = cluster.submit("/bin/true")
    sentence, why = wait_until(lambda: (lambda s: s[1]["reason"] == "workers_draining" and s)(told_of(cluster, run)), 20, "why")
    for part in ("worker-1 is offline since", "worker-2 is draining", "new disk"):
        check(part in sentence, sentence)
    check("very worker" not in sentence, sentence)
    named = cluster.submit("/bin/true", options=on_worker("worker-1"))
    sentence, why = told_of(cluster, named)
    check("worker-1 is offline since" in sentence and why["reason"] == cluster.run(named)["reason"], f"{sentence} {why}")
    cluster.ok("worker", "resume", "worker-2")
    cluster.await_run(run)
    cluster.ok("run", "cancel", named)


def stopping(cluster):
    """SIGTERM: a reason, with the moment at which running attempts are handed over."""
    run = cluster.submit("/bin/sleep", "8", options=on_worker("worker-2"))
    cluster.await_started([run])
    cluster.kill("worker-2.watchdog", "-TERM")
    row = wait_until(lambda: (lambda r: r and r["state"] == "draining" and r)(row_of(cluster, "worker-2")), 20, "it drains")
    check("told to stop on its own host" in row["remarks"] and "hands over at" in row["remarks"], row["remarks"])
    check(cluster.await_run(run)["state"] == "succeeded", "its run was cut")
    row = wait_until(lambda: (lambda r: r and r["state"] == "offline" and r)(row_of(cluster, "worker-2")), 30, "it is gone")
    check("it was stopped" in row["remarks"], row["remarks"])
    wait_until(lambda: not cluster.pids("worker-2.watchdog"), 60, "its watchdog has ended")
    cluster.script("start", "worker-2")
    wait_until(lambda: is_online(cluster, "worker-2"), 60, "worker-2 is back")


def missed_by_all(cluster):
    """Nobody leads for a while: its ticks were missed, whatever else ran."""
    cluster.apply("name: eaten\nschedule: '@every 500ms'\ncommand: [/bin/sleep, '600']\n")
    wait_until(lambda: cluster.runs(job="eaten"), 20, "it fires")
    for master in ("master-1.host", "master-2.host"):
        cluster.kill(master)
    down = time.time()
    time.sleep(6)
    for master in ("master-1", "master-2"):
        cluster.script("start", master)
    wait_until(cluster.leader, 60, "somebody leads")
    up = time.time()
    wait_until(lambda: any(g["to_at_ms"] / 1000 > up + 1 for g in cluster.json("job", "gaps", "eaten")), 30, "ticks go on")
    gaps = cluster.json("job", "gaps", "eaten")
    inside = [g for g in gaps if g["from_at_ms"] / 1000 <= down + 3 <= g["to_at_ms"] / 1000]
    check(inside and all(g["reason"] == "missed" for g in inside), f"what the outage ate: {gaps[:5]}")
    check(any(g["reason"] == "overlap_skipped" for g in gaps), f"and what it did not: {gaps[:5]}")
    for run in cluster.runs(job="eaten"):
        cluster.rota("run", "cancel", run["id"])
    cluster.ok("job", "pause", "eaten", "--why", "seen enough")
    cluster.ok("job", "delete", "--yes", "eaten")
    return sum(g["count"] for g in inside)


LINES = ("worker is here", "worker does not answer", "worker is gone", "attempt lost", "run started again after a loss",
         "drain started", "drain ended", "worker is stopping", "job created", "job paused", "job deleted",
         "worker forgotten")


def log_lines(cluster):
    text = cluster.log("master-1") + cluster.log("master-2")
    missing = [line for line in LINES if f"term: {line} " not in text]
    check(not missing, f"the leaders' logs lack {missing}")
    return sum(text.count(f"term: {line} ") for line in LINES)


def all_of_them(cluster):
    quiet_start(cluster)
    oldest = figures_of_runs(cluster)
    silent, gone = dead_host(cluster)
    offline_is_kept(cluster)
    stopping(cluster)
    missed = missed_by_all(cluster)
    figure("telling", figures_oldest_ms=oldest, silence_told_after_s=silent, fence_told=gone, missed=missed,
           lines=log_lines(cluster))
