"""Overlap on real processes: who waits, who gives way, and that the new run starts only after the old one's end, by the
jobs' own ledger, through the death of a leader."""
import time

from cluster import check, figure, judge_ledger, wait_until


def by_hand(cluster, name, times):
    return [cluster.ok("job", "run", name).strip() for _ in range(times)]


def delete(cluster, name):
    cluster.ok("job", "pause", "--yes", "--cancel-running", name)
    wait_until(lambda: all(r["ended_at_ms"] for r in cluster.runs(name)), 60, f"the runs of {name} end")
    cluster.ok("job", "delete", "--yes", name)


def queue_one(cluster, scratch):
    """The newest waits; each one that waited before gives way to the next."""
    ledger = scratch + "/queue_one"
    cluster.apply(f"name: newest\noverlap: queue_one\ncommand: [{cluster.ledger_job()}, {ledger}, '4000']\n")
    runs = by_hand(cluster, "newest", 5)
    last = cluster.await_run(runs[4])
    check(last["state"] == "succeeded", f"the newest is {last['state']}")
    check(cluster.run(runs[0])["state"] == "succeeded", "the first went on")
    for old, newer in zip(runs[1:4], runs[2:5]):
        run = cluster.run(old)
        check((run["state"], run["reason"]) == ("cancelled", "replaced_by"), f"{run['state']} {run['reason']}")
        why = cluster.ok("run", "why", old)
        check("A newer run of the same job took its place" in why and newer in why, why)
    judged = judge_ledger(ledger, by_job=True)
    check(judged["lives"] == 2, f"{judged['lives']} lived")
    delete(cluster, "newest")
    return len(runs) - 2


def replace(cluster, scratch):
    """Each tick ends the run of the one before; the leader dies in the middle."""
    ledger = scratch + "/replace"
    cluster.apply(f"name: freshest\nschedule: '@every 2s'\noverlap: replace\nkill_grace: 5s\n"
                  f"command: [{cluster.ledger_job()}, {ledger}, '600000']\n")
    replaced = lambda: [r for r in cluster.runs("freshest") if r["reason"] == "replaced_by"]
    wait_until(lambda: len(replaced()) >= 3, 60, "three were replaced")
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the next leader")
    before = len(replaced())
    wait_until(lambda: len(replaced()) >= before + 3, 60, "three more were replaced under the next leader")
    check(any(r["state"] == "killed" for r in replaced()), "one that ran was ended")
    delete(cluster, "freshest")
    judged = judge_ledger(ledger, by_job=True)
    check(judged["lives"] >= 4, f"{judged['lives']} lived")
    return judged


def terminate(cluster, scratch):
    """A job that ignores TERM, with a long grace, is replaced at once all the same."""
    ledger = scratch + "/terminate"
    cluster.apply(f"name: hard\noverlap: terminate\nkill_grace: 10m\n"
                  f"command: [{cluster.ledger_job()}, {ledger}, '600000', --ignore-term]\n")
    first = by_hand(cluster, "hard", 1)[0]
    wait_until(lambda: cluster.run(first)["state"] == "running", 30, "it runs")
    began = time.monotonic()
    second = by_hand(cluster, "hard", 1)[0]
    wait_until(lambda: cluster.run(second)["state"] == "running", 60, "the next one runs")
    took = time.monotonic() - began
    check(took < 60, f"{took} s, with a grace of ten minutes")
    ended = cluster.run(first)
    check((ended["state"], ended["reason"]) == ("killed", "replaced_by"), f"{ended['state']} {ended['reason']}")
    cluster.apply("name: hard\noverlap: terminate\ncommand: [echo, gentle]\n")
    third = by_hand(cluster, "hard", 1)[0]
    check(cluster.await_run(third)["state"] == "succeeded", "the last one ends by itself")
    check(cluster.run(second)["reason"] == "replaced_by", "and has ended the one before")
    judge_ledger(ledger, by_job=True)
    delete(cluster, "hard")
    return round(took * 1000)


def concurrency(cluster):
    """Three at once, and the fourth ends the oldest."""
    cluster.apply("name: three\nconcurrency: 3\noverlap: replace\ncommand: [sleep, '600']\n")
    runs = by_hand(cluster, "three", 4)
    wait_until(lambda: [cluster.run(r)["state"] for r in runs] == ["killed", "running", "running", "running"], 60,
               "three of four run")
    cluster.verify()
    delete(cluster, "three")


def all_of_them(cluster, scratch):
    gave_way = queue_one(cluster, scratch)
    judged = replace(cluster, scratch)
    took = terminate(cluster, scratch)
    concurrency(cluster)
    cluster.verify()
    figure("overlap", queue_one_replaced=gave_way, replace_lives=judged["lives"],
           replace_overlap_ms=judged["max_overlap_ms"], terminate_ms=took)
