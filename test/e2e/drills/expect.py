"""Expectations that are not met are told once each: a leader is killed around the moments, a worker's host dies and is dead."""
import json
import time

from cluster import Cluster, check, figure, wait_until
from notify import Receiver

RUNS = 6


def all_of_them(programs, folder):
    receiver = Receiver()
    receivers = [{"name": "ops", "url": receiver.url, "timeout": "2s"}]
    cluster = Cluster(folder + "/expect", programs, masters=2, workers=2, set=[
        "master.receivers=" + json.dumps(receivers), "master.notify.default=[ops]", "worker.slots=2",
        "master.workers.dead_after_ms=8000"])
    try:
        cluster.up()
        wait_until(lambda: len(cluster.workers_here()) == 2, 60, "the workers are here")
        refused(cluster)
        around_a_kill(cluster, receiver)
        beside_a_pause(cluster)
        host_dies(cluster, receiver)
        wait_until(lambda: not cluster.json("notify", "list", "--undelivered"), 120, "nothing is open")
        cluster.verify()
    finally:
        cluster.down()
        receiver.server.shutdown()


def refused(cluster):
    for expected in ({"finish_by": "25:00"}, {"longer_than": "0x"}, {"start_within": "-5m"}, {"finish_by": "07:30"}):
        done = cluster.rota("job", "apply", "--yes", "-f", "-",
                            input=json.dumps({"name": "bad", "expect": expected, "command": ["true"]}))
        check(done.returncode != 0 and "expect" in done.stderr, f"{expected}: {done.stderr}")


def late(cluster, name):
    return cluster.json("job", "late", name)


def around_a_kill(cluster, receiver):
    """Nobody serves the pool, so none of the runs starts in time; the leader dies at the moments."""
    cluster.apply(json.dumps({"name": "waits", "overlap": "allow", "pool": "nowhere", "expect": {"start_within": "3s"},
                              "command": ["true"]}))
    cluster.apply(json.dumps({"name": "long", "overlap": "allow", "expect": {"longer_than": "4s", "start_within": "1m"},
                              "command": "sleep 9"}))
    began = time.monotonic()
    waiting = [int(cluster.ok("job", "run", "waits").strip()) for _ in range(RUNS)]
    running = [int(cluster.ok("job", "run", "long").strip()) for _ in range(2)]
    time.sleep(max(0.0, began + 3.0 - time.monotonic()))
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the next leader")
    wait_until(lambda: len(late(cluster, "waits")) == RUNS, 60, "each run that waits is told")
    for run in running:
        check(cluster.await_run(str(run))["state"] == "succeeded", "it takes long, and goes on")
    wait_until(lambda: len(late(cluster, "long")) == len(running), 60, "each run that takes long is told")
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the third leader")
    for run in waiting:
        cluster.ok("run", "cancel", str(run))
    check("start_within was not met" in cluster.ok("run", "why", str(waiting[0])), "rota run why says so")
    check("job late waits" in cluster.ok("attention"), "rota attention says so")
    check(sorted(row["run"] for row in late(cluster, "waits")) == sorted(waiting), "each once")
    check(sorted(row["run"] for row in late(cluster, "long")) == sorted(running), "each once")
    wait_until(lambda: set(waiting + running) <= {one["run"] for one in receiver.of_event("late")}, 180, "all are heard")
    ids = {}
    for one in receiver.of_event("late"):
        ids.setdefault(one["run"], set()).add(one["id"])
    check(all(len(each) == 1 for each in ids.values()), f"one is told twice: {ids}")
    figure("expect", told=len(waiting) + len(running), heard=len(receiver.of_event("late")),
           seconds=round(time.monotonic() - began, 1))


def beside_a_pause(cluster):
    cluster.apply(json.dumps({"name": "paused", "schedule": "@every 5s", "expect": {"start_within": "1m"}, "command": ["true"]}))
    cluster.ok("job", "pause", "paused", "--yes")
    wait_until(lambda: late(cluster, "paused"), 60, "a tick of a paused job is told")
    time.sleep(12)
    rows = late(cluster, "paused")
    check(len(rows) == 1 and rows[0]["was"] == "paused", f"once: {rows}")


def host_dies(cluster, receiver):
    cluster.kill("worker-2.host")
    wait_until(lambda: receiver.of_event("worker_offline"), 90, "it is told offline")
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the next leader")
    wait_until(lambda: receiver.of_event("worker_dead"), 90, "it is told dead")
    time.sleep(5)
    dead = receiver.of_event("worker_dead")
    check({one["worker"] for one in dead} == {"worker-2"} and len({one["id"] for one in dead}) == 1, f"once: {dead}")
