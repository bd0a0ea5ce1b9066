"""What workers and masters do, as people see it: figures of a few seconds ago, minutes that outlive their leader, capacity."""
from cluster import PATIENCE, Cluster, check, figure, wait_until

FRESH_MS = 5000 * PATIENCE


def row_of(cluster, worker):
    """Empty: a new leader does not know it yet."""
    return next((w for w in cluster.json("worker", "list") if w["id"] == worker), {})


def burning(cluster):
    """A process that burns CPU is seen with its rate, in figures that are at most five seconds old."""
    run = cluster.submit("/bin/sh", "-c", "while :; do :; done", options=["--worker", "worker-1"])

    def usage():
        rows = cluster.json("worker", "show", "worker-1")["running"]
        row = next((r for r in rows if r["id"] == run), None)
        return row and row["usage"] and row["usage"]["cpu_percent"] and row["usage"]
    seen = wait_until(usage, 20, "its CPU is seen")
    check(seen["cpu_percent"] >= 20 and seen["memory_bytes"] > 0, f"{seen}")
    check(seen["age_ms"] <= FRESH_MS, f"figures are {seen['age_ms']} ms old")
    shown = cluster.ok("worker", "show", "worker-1")
    check("CPU NOW" in shown and "heartbeat" in shown and "share" in shown and "today" in shown, shown)
    check("cpu now" in cluster.ok("run", "show", run), "run show says so too")
    row = row_of(cluster, "worker-1")
    check(row["heartbeat_age_ms"] <= FRESH_MS and row["vitals"]["age_ms"] <= FRESH_MS, f"{row}")
    check(row["share"]["of"] >= 1 and row["weight"] == 100, f"{row}")
    return run, seen["age_ms"]


def masters(cluster):
    """Each master tells its own figures; one that hangs is silent, and the others are told all the same."""
    def all_told():
        rows = cluster.json("master", "list")
        return len(rows) == 2 and all(r["figures_age_ms"] is not None for r in rows) and rows
    rows = wait_until(all_told, 30, "both masters tell their figures")
    check(sorted(r["state"] for r in rows) == ["follower", "leader"], f"{rows}")
    check(all(r["figures_age_ms"] <= FRESH_MS and r["threads"] > 0 and r["version"] for r in rows), f"{rows}")
    check("threads" in cluster.ok("master", "show", "master-2"), "master show")
    check(cluster.rota("master", "show", "nobody").returncode == 3, "an unknown master is not found")
    follower = next(r["id"] for r in rows if not r["leads"])
    leader = next(r["address"] for r in rows if r["leads"])  # the frozen one would keep the question until it is forgotten
    cluster.kill(follower, "-STOP")
    try:
        silent = wait_until(lambda: next((r for r in cluster.json("--masters", leader, "master", "list")
                                          if r["state"] == "silent"), None), 20, "it is silent")
        check(silent["id"] == follower and silent["why"], f"{silent}")
    finally:
        cluster.kill(follower, "-CONT")


def minutes(cluster, worker):
    return cluster.json("worker", "show", worker, "--history")["minutes"]


def history(cluster, run):
    """Minutes are stored, and the next leader goes on with them and with the counts of the day."""
    noted = wait_until(lambda: (lambda m: m and m[0]["cpu_percent"] is not None and m)(minutes(cluster, "worker-1")), 90,
                       "a minute is noted")
    check(noted[0]["slots"] > 0 and noted[0]["scheduled"] >= 1, f"{noted}")
    check("cpu" in cluster.ok("worker", "show", "worker-1", "--history"), "it is drawn")
    capacity = cluster.json("capacity")
    check(capacity["pools"][0]["pool"] == "" and capacity["pools"][0]["slots"] > 0, f"{capacity}")
    check(capacity["pools"][0]["growth_per_day"] is None, "growth is not guessed from a minute")
    check("not enough history" in cluster.ok("capacity"), "and that is said")
    cluster.ok("run", "cancel", run)
    cluster.await_run(run)
    before = cluster.epoch()
    cluster.kill("leader")
    wait_until(lambda: cluster.leader() and cluster.epoch() > before, 60, "a successor leads")
    again = minutes(cluster, "worker-1")
    check([m["at_ms"] for m in again[:len(noted)]] == [m["at_ms"] for m in noted], f"{noted} became {again}")
    today = wait_until(lambda: (lambda t: t and t["scheduled"] >= 1 and t)(row_of(cluster, "worker-1").get("today")), 30,
                       "the next leader knows what was done today")
    return len(again), today["scheduled"]


def all_of_them(programs, folder):
    cluster = Cluster(folder + "/nodes", programs, masters=2, workers=2, set=["worker.slots=2"])
    try:
        cluster.up()
        wait_until(lambda: len(cluster.workers_here()) == 2, 60, "all workers are here")
        run, age = burning(cluster)
        masters(cluster)
        noted, today = history(cluster, run)
        cluster.verify()
    finally:
        cluster.down()
    figure("nodes", usage_age_ms=age, minutes=noted, today=today)
