"""States of workers: one whose commands fail what succeeds elsewhere is excluded, a stopped one is offline and then dead."""
import json
import os

from cluster import Cluster, check, figure, wait_until

SET = ["worker.slots=2", "master.workers.exclude_ms=6000", "master.workers.dead_after_ms=8000"]
BAD = "worker-2"


def worker(cluster, name, *options):
    return next((w for w in cluster.json("worker", "list", *options) if w["id"] == name), None)


def state_is(cluster, name, state, *options):
    return lambda: (lambda w: w and w["state"] == state and w)(worker(cluster, name, *options))


def excluded(cluster, folder):
    """Commands fail on one worker while a file is there; elsewhere they succeed."""
    broken = os.path.join(folder, "broken")
    open(broken, "w").close()
    command = f'case "$ROTA_WORKER" in {BAD}) test ! -e {broken};; esac'
    names = ["states-a", "states-b", "states-c"]
    for name in names:
        cluster.apply(json.dumps({"name": name, "route": "round_robin", "overlap": "allow", "retry": {"count": 0},
                                  "command": command}))

    def is_excluded():
        for name in names:
            cluster.await_run(cluster.ok("job", "run", name).strip())
        return state_is(cluster, BAD, "excluded")()
    row = wait_until(is_excluded, 120, f"{BAD} is excluded")
    check(row["hold"]["kind"] == "excluded" and "failed here and succeeded elsewhere" in row["hold"]["why"], row)
    check("excluded until" in cluster.ok("worker", "show", BAD), "worker show says so")
    named = cluster.ok("submit", "--worker", BAD, "--", "true").strip()
    why = cluster.ok("run", "why", named)
    check(f"{BAD} is excluded" in why or cluster.run(named)["state"] == "succeeded", why)
    os.unlink(broken)
    check(cluster.await_run(named)["state"] == "succeeded", "its trial is the run that waited")
    wait_until(state_is(cluster, BAD, "online"), 60, f"{BAD} has its share again")
    return row["hold"]["strikes"]


def goes_on(cluster, folder):
    """A new leader goes on with an exclusion."""
    open(os.path.join(folder, "broken"), "w").close()
    names = ["states-a", "states-b", "states-c"]

    def is_excluded():
        for name in names:
            cluster.await_run(cluster.ok("job", "run", name).strip())
        return state_is(cluster, BAD, "excluded")()
    row = wait_until(is_excluded, 120, f"{BAD} is excluded again")
    check(row["hold"]["strikes"] == 2, f"twice as long: {row['hold']}")
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the next leader")
    row = wait_until(state_is(cluster, BAD, "excluded"), 30, "the next leader knows it")
    check(row["hold"]["strikes"] == 2, row["hold"])
    os.unlink(os.path.join(folder, "broken"))
    cluster.await_run(cluster.ok("submit", "--worker", BAD, "--", "true").strip(), 120)
    wait_until(state_is(cluster, BAD, "online"), 60, f"{BAD} has its share again")


def gone(cluster):
    """Offline by two witnesses, then dead and out of the list, and asked about before it is confirmed."""
    refused = cluster.rota("worker", "confirm-dead", "worker-3", "--yes")
    check(refused.returncode != 0 and "is registered" in refused.stderr, f"an online worker: {refused.stderr}")
    cluster.kill("worker-3.host")
    row = wait_until(state_is(cluster, "worker-3", "offline"), 60, "it is offline")
    check("gone since" in row["remarks"], row)
    wait_until(lambda: worker(cluster, "worker-3") is None, 60, "dead workers are not listed")
    check(state_is(cluster, "worker-3", "dead", "--all")(), "--all lists it")
    check("dead" in cluster.ok("worker", "show", "worker-3"), "worker show says that it is dead")


def all_of_them(programs, folder):
    cluster = Cluster(folder + "/states", programs, masters=2, workers=3, set=SET)
    try:
        cluster.up()
        wait_until(lambda: len(cluster.workers_here()) == 3, 60, "all workers are here")
        strikes = excluded(cluster, folder)
        goes_on(cluster, folder)
        gone(cluster)
        cluster.verify()
    finally:
        cluster.down()
    figure("node_states", strikes=strikes)
