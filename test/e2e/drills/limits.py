"""Limits of pools and namespaces hold by the jobs' own ledger, while leaders are killed."""
import json
import time

from cluster import check, figure, wait_until
from semaphores import LEDGER, most_at_once

LIMIT = 3


def all_of_them(cluster, scratch, runs=30):
    refused(cluster)
    competing(cluster, scratch, runs)


def refused(cluster):
    done = cluster.rota("namespace", "set", "drill", "--weight", "0")
    check(done.returncode != 0, "a weight of 0 is refused")
    done = cluster.rota("pool", "set", "default")
    check(done.returncode == 2 and "nothing to set" in done.stderr, f"nothing to set: {done.stderr}")
    cluster.ok("namespace", "set", "default", "--max-unfinished", "0")
    done = cluster.rota("submit", "--", "true")
    check(done.returncode == 13 and "max-unfinished 0 of namespace" in done.stderr,
          f"a submit beyond the limit: {done.returncode} {done.stderr}")
    info = cluster.json("namespace", "show", "default")
    check(info["max_unfinished"] == 0 and info["max_slots"] is None, f"namespace show: {info}")
    cluster.ok("namespace", "set", "default", "--max-unfinished", "none")
    check(cluster.rota("pool", "show", "nothing-here").returncode == 3, "a pool that nobody knows is not found")


def competing(cluster, scratch, runs):
    ledger = scratch + "/limits"
    cluster.ok("pool", "set", "default", "--limit", str(LIMIT))
    cluster.apply(json.dumps({"name": "limited", "overlap": "allow", "retry": {"count": 0},
                              "command": LEDGER.format(ledger, 0.3, 1)}))
    began = time.monotonic()
    started = [cluster.ok("job", "run", "limited").strip() for _ in range(runs)]
    why = wait_until(lambda: (lambda text: f"limit {LIMIT} of pool default is reached" in text and text)(
        cluster.ok("run", "why", started[-1])), 20, "run why names the limit")
    check("wait" in why, why)
    for _ in range(2):
        cluster.kill("leader")
        time.sleep(2)
    ended = [cluster.await_run(run, 180) for run in started]
    wrong = [run for run in ended if run["state"] != "succeeded"]
    check(not wrong, f"{len(wrong)} runs did not succeed: {wrong[:2]}")
    _, most = most_at_once(open(ledger).read().splitlines())
    info = wait_until(lambda: (lambda one: one["running"] == 0 and one)(cluster.json("pool", "show", "default")), 20,
                      "nothing runs any more")
    cluster.ok("pool", "set", "default", "--clear")
    figure("limits", runs=len(started), limit=LIMIT, most_at_once=most, waiting=info["waiting"],
           seconds=round(time.monotonic() - began, 1))
    check(most <= LIMIT, f"{most} runs were alive at once, of {LIMIT}")
    check(most == LIMIT, f"only {most} runs were ever alive at once")
    cluster.verify()
