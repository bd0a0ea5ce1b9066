"""Settings while the cluster runs: 100 changes, each in force on all three masters within a second, through the death of
a leader; a follower that was stopped has what was changed meanwhile within a second of its return."""
import json
import os
import signal
import time

from cluster import Cluster, check, figure, now_ms, wait_until

CHANGES = 100
WITHIN_MS = 1000


def all_of_them(programs, folder):
    cluster = Cluster(folder + "/settings", programs, masters=3, workers=1, set=["master.catch_up.rate=17"])
    try:
        cluster.up()
        wait_until(lambda: cluster.workers_here(), 60, "the worker is here")
        refused(cluster)
        told(cluster)
        seen_by_all(cluster)
        stopped(cluster)
        acted_on(cluster)
        cluster.verify()
    finally:
        cluster.down()


def refused(cluster):
    done = cluster.rota("setting", "set", "catch_up.rate", "0")
    check(done.returncode == 2 and "catch_up.rate: 0 is out of range, allowed are 1 to 100000" in done.stderr, done.stderr)
    done = cluster.rota("setting", "set", "workers.dead_after_ms", "soon")
    check("is not a time such as 10m" in done.stderr, done.stderr)
    done = cluster.rota("setting", "set", "load.cpu_weigth", "3")
    check(done.returncode == 3 and "did you mean load.cpu_weight?" in done.stderr, f"{done.returncode} {done.stderr}")
    done = cluster.rota("setting", "set", "workers.away_band_1_ms", "5m")
    check(done.returncode == 2 and "must rise" in done.stderr, done.stderr)
    check(cluster.rota("setting", "rollback", "catch_up.rate").returncode == 3, "what was never set has nothing to go back to")


def told(cluster):
    row = cluster.json("setting", "get", "catch_up.rate")
    check((row["value"], row["source"], row["file"], row["version"]) == (17, "file", 17, 0), row)
    check(cluster.json("setting", "get", "notify.tries")["source"] == "default", "nobody says how many tries")
    set_ = cluster.json("setting", "set", "catch_up.rate", "30", "--why", "a drill", "--if-version", "0")
    check((set_["version"], set_["what"]) == (1, "changed"), set_)
    row = cluster.json("setting", "get", "catch_up.rate")
    check((row["value"], row["source"], row["file"], row["why"]) == (30, "setting", 17, "a drill"), row)
    check("the file is overridden" in cluster.ok("setting", "get"), "get says that the file is overridden")
    stale = cluster.rota("setting", "set", "catch_up.rate", "31", "--if-version", "0")
    check(stale.returncode == 5 and "has version 1" in stale.stderr, f"{stale.returncode} {stale.stderr}")
    cluster.ok("setting", "set", "catch_up.rate", "40")
    back = cluster.json("setting", "rollback", "catch_up.rate", "--why", "too fast")
    check((back["version"], back["text"]) == (3, "30"), back)
    history = cluster.json("setting", "history", "catch_up.rate")
    check([(one["version"], one["value"]) for one in history] == [(1, 30), (2, 40), (3, 30)], history)
    cluster.ok("setting", "set", "catch_up.rate", "default")
    row = cluster.json("setting", "get", "catch_up.rate")
    check((row["value"], row["source"], row["version"]) == (17, "file", 4), row)


def here(cluster, master):
    """What is in force on that master, or None when it does not answer."""
    done = cluster.rota("--masters", master, "-o", "json", "setting", "get", "catch_up.rate", "--here", "--deadline", "3s")
    return json.loads(done.stdout)["value"] if done.returncode == 0 else None


def seen_by(cluster, masters, value, since, at_most):
    """Milliseconds until each of them has it in force, without those in which the machine stood still; each is asked
    again and again."""
    took = {}
    while len(took) < len(masters):
        for master in masters:
            if master not in took and here(cluster, master) == value:
                took[master] = now_ms() - since - (cluster.stalls.within(since) if cluster.stalls else 0)
        check(now_ms() - since < 1000 * at_most, f"{value} is in force on {sorted(took)} only, of {masters}")
    return took


def seen_by_all(cluster):
    masters = cluster.env["ROTA_MASTERS"].split(",")
    check(len(masters) == 3, f"three masters: {masters}")
    slowest, late = 0, []
    began = time.monotonic()
    for change in range(CHANGES):
        if change == CHANGES // 2:
            cluster.kill("leader")
            wait_until(cluster.leader, 60, "a leader again")
            wait_until(lambda: all(here(cluster, master) is not None for master in masters), 120, "all three answer again")
        value = 100 + change
        cluster.ok("setting", "set", "catch_up.rate", str(value), "--why", f"change {change}")
        took = max(seen_by(cluster, masters, value, now_ms(), 30).values())
        slowest = max(slowest, took)
        if took >= WITHIN_MS:
            late.append((change, took))
    figure("settings", changes=CHANGES, masters=len(masters), slowest_ms=slowest, late=len(late),
           seconds=round(time.monotonic() - began, 1))
    check(not late, f"in force later than within {WITHIN_MS} ms: {late}")
    history = cluster.json("setting", "history", "catch_up.rate")
    check([one["version"] for one in history] == list(range(1, len(history) + 1)), "the history has a hole")
    check(len({one["epoch"] for one in history}) >= 2, "a change by each of two leaders")


def stopped(cluster):
    """A follower stands still while a setting is changed."""
    leader = cluster.leader()
    names = {f"master-{i}" for i in (1, 2, 3)}
    follower = sorted(names - {leader})[0]
    masters = cluster.env["ROTA_MASTERS"].split(",")
    address = masters[int(follower.split("-")[1]) - 1]
    pids = [int(pid) for pid in cluster.pids(follower).split(",")]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        cluster.ok("setting", "set", "catch_up.rate", "7777")
        time.sleep(3)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    back = now_ms()
    took = seen_by(cluster, [address], 7777, back, 30)[address]
    figure("setting_after_return", ms=took)
    check(took < WITHIN_MS, f"the follower has it {took} ms after its return")


def acted_on(cluster):
    """Retention and the state of a worker go by the new value, without a restart."""
    run = cluster.submit("true")
    check(cluster.await_run(run)["state"] == "succeeded", "a run")
    cluster.ok("setting", "set", "runs.keep_ms", "1s", "--why", "a drill")
    began = time.monotonic()
    wait_until(lambda: cluster.rota("run", "show", run).returncode == 3, 60, "the run is deleted by the new time")
    figure("setting_acted_on", what="runs.keep_ms", seconds=round(time.monotonic() - began, 1))
    cluster.ok("setting", "rollback", "runs.keep_ms", "--to", "0")
    check(cluster.json("setting", "get", "runs.keep_ms")["source"] == "default", "as it is built in")
