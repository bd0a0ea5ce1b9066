"""Routes from the job file to real workers, with their ranks and weights, through the death of a leader."""
import collections
import json

from cluster import Cluster, check, figure, wait_until

RUNS = 40
SET = ["worker.slots=4", "worker-1.rank=30", "worker-2.rank=10", "worker-3.rank=20", "worker-3.weight=200",
       "worker-3.labels.zone=fin"]


def begin(cluster, name, count, options=lambda i: ()):
    return [cluster.ok("job", "run", name, *options(i)).strip() for i in range(count)]


def placed(cluster, name, count, options=lambda i: ()):
    """On which worker each of these runs was, in order."""
    return [cluster.await_run(run)["worker"] for run in begin(cluster, name, count, options)]


def job(cluster, route, **more):
    cluster.apply(json.dumps({"name": route, "route": route, "overlap": "allow", "command": ["true"], **more}))
    return route


def ranks(cluster):
    """Who is asked, who is waited for, and who is next."""
    check(set(placed(cluster, job(cluster, "first"), 6)) == {"worker-2"}, "first is the lowest rank")
    check(set(placed(cluster, job(cluster, "last"), 6)) == {"worker-1"}, "last is the highest rank")
    held = begin(cluster, job(cluster, "failover", command=["sleep", "600"]), 5)
    wait_until(lambda: sum(cluster.run(r)["state"] == "running" for r in held) == 4, 60, "its four slots are taken")
    waits = next(r for r in held if cluster.run(r)["state"] != "running")
    why = cluster.ok("run", "why", waits)
    check("its route waits for worker worker-2" in why, why)
    check(set(placed(cluster, job(cluster, "busyover"), 3)) == {"worker-3"}, "busyover goes on to the next rank")
    cluster.ok("worker", "drain", "worker-2", "--yes")
    wait_until(lambda: cluster.run(waits)["state"] == "running", 60, "the next worker has the run that waited")
    check(cluster.run(waits)["worker"] == "worker-3", "failover goes on to the next rank")
    for run in held:
        cluster.ok("run", "cancel", run)
        cluster.await_run(run)
    cluster.ok("worker", "resume", "worker-2")


def shares(cluster):
    runs = placed(cluster, job(cluster, "weighted_round_robin"), RUNS)
    counts = collections.Counter(runs)
    check(counts["worker-3"] == RUNS // 2, f"half of the weight, half of the runs: {counts}")
    check(abs(counts["worker-1"] - counts["worker-2"]) <= 1, f"{counts}")
    return "/".join(str(counts[f"worker-{i}"]) for i in (1, 2, 3))


def keys(cluster):
    """The same worker for a key, whoever leads."""
    job(cluster, "consistent_hash", route_key="{{param.customer}}")

    def homes():
        runs = placed(cluster, "consistent_hash", 12, lambda i: ("--param", f"customer=c{i % 6}"))
        check(runs[:6] == runs[6:], f"keys move: {runs}")
        return runs[:6]
    before = homes()
    check(len(set(before)) > 1, f"all keys on one worker: {before}")
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the next leader")
    wait_until(lambda: len(cluster.workers_here()) == 3, 60, "it knows all workers")
    check(homes() == before, "keys move with the leader")


def others(cluster):
    for route in ("random", "least_frequently_used", "least_recently_used", "least_connections", "fastest_response",
                  "round_robin", "least_loaded"):
        runs = placed(cluster, job(cluster, route), 12)
        check(len(runs) == 12, route)
        if route in ("least_recently_used", "round_robin"):
            check(len(set(runs)) == 3, f"{route}: {runs}")


def labels(cluster):
    """Only the worker with the label; one that nobody has is named."""
    runs = placed(cluster, job(cluster, "round_robin", select={"zone": ["fin", "law"]}), 6)
    check(set(runs) == {"worker-3"}, f"select: {runs}")
    waits = begin(cluster, job(cluster, "random", select={"zone": "moon"}), 1)[0]
    why = lambda: cluster.ok("run", "why", waits)
    wait_until(lambda: "0 of 3 workers there have the labels zone=moon" in why(), 30, why())
    cluster.ok("run", "cancel", waits)
    cluster.await_run(waits)


def all_of_them(programs, folder):
    cluster = Cluster(folder + "/routes", programs, masters=2, workers=3, set=SET)
    try:
        cluster.up()
        wait_until(lambda: len(cluster.workers_here()) == 3, 60, "all workers are here")
        ranks(cluster)
        weighted = shares(cluster)
        keys(cluster)
        others(cluster)
        labels(cluster)
        cluster.verify()
    finally:
        cluster.down()
    figure("routes", weighted_1_1_2=weighted)
