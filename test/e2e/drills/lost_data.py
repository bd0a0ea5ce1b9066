"""ZooKeeper loses its data, comes back from an older copy, or contains copies of nodes that no session owns: all
register again by themselves, no job is killed or rerun, the epoch never goes back, and a master can lead."""
import os
import pathlib
import re
import shutil
import sys

from cluster import ROOT, check, figure, judge_ledger, now_ms, wait_until
from eyes import fetch
from outages import long_runs, process_starts

sys.path.insert(0, str(ROOT / "test/support"))
from zookeeper_by_hand import Hand  # noqa: E402

SESSION_MS = 6000  # the workers' timeout, which is longer
ALARM = "ZooKeeper lost data, or came back with older ones"


def data_of(cluster):
    return pathlib.Path(cluster.folder, "zookeeper-1", "data", "version-2")


def by_hand(cluster):
    return Hand("127.0.0.1", cluster.zookeeper_port())


def folder_of(cluster, what):
    with by_hand(cluster) as hand:
        name = hand.children("/rota")[0]
    return f"/rota/{name}/{what}"


def standing(hand, folder):
    """Names of the nodes that a session owns."""
    nodes = {name: hand.get(f"{folder}/{name}") for name in hand.children(folder)}
    return {name for name, node in nodes.items() if node and node.owner}


def all_stand(cluster, root, ghosts=frozenset()):
    """Two masters, two candidates and two workers, each once, of a living session that its process holds."""
    try:
        with by_hand(cluster) as hand:
            names = {what: standing(hand, f"{root}/{what}") for what in ("masters", "election", "workers")}
    except OSError:  # not there yet
        return False
    workers = {name.split("@")[0] for name in names["workers"]}
    counts = [len(names["masters"]), len(names["election"]), len(names["workers"]), len(workers)]
    return counts == [2, 2, 2, 2] and not names["workers"] & ghosts and all_hold(cluster)


def all_hold(cluster):
    """A node of older data stands before its process knows it: each process must report that its session is back."""
    addresses = re.findall(r"http://\S+/", cluster.script("status", may_fail=True))
    words = "".join(fetch(each + "healthz")[1] for each in addresses)
    figures = "".join(fetch(each + "metrics")[1] for each in addresses)
    return (len(addresses) == 4 and "zookeeper" not in words
            and figures.count("\nrota_worker_zookeeper_connected 1\n") == 2)


def worker_names(cluster, root):
    with by_hand(cluster) as hand:
        return standing(hand, root + "/workers")


def alarms(cluster):
    return sum(cluster.log(f"master-{n}").count(ALARM) for n in (1, 2))


def succession(cluster):
    """The leader's host dies; returns the ms until another leads."""
    leader = wait_until(cluster.leader, 30, "a leader")
    cluster.kill(leader + ".watchdog", "-STOP")
    killed_at = int(cluster.kill(leader, "-9")["at_ms"])
    wait_until(lambda: cluster.leader() not in (None, leader), 30, "another leader")
    took = now_ms() - killed_at
    cluster.kill(leader + ".watchdog", "-CONT")
    wait_until(cluster.is_whole, 60, "all are here again")
    return took


def age(cluster, root, changes=400):
    """Waits until the numbers of changes are so high that restarted servers do not reach them soon."""
    with by_hand(cluster) as hand:
        for _ in range(changes // 2):
            hand.create(root + "/aged")
            hand.delete(root + "/aged")


def lose(cluster, ledger, kind, put_data, runs=6, older=frozenset()):
    """ZooKeeper is killed, `put_data` changes its folder, and it starts again; `older`: workers' nodes that it
    brings back."""
    root = folder_of(cluster, "")[:-1]
    ghosts = older - worker_names(cluster, root)
    age(cluster, root)
    started = long_runs(cluster, ledger, runs, 45_000)
    epoch, starts, told = cluster.epoch(), process_starts(cluster), alarms(cluster)
    cluster.kill("zookeeper")
    put_data(data_of(cluster))
    began = now_ms()
    cluster.script("start", "zookeeper")
    wait_until(lambda: all_stand(cluster, root, ghosts), 2 * SESSION_MS / 1000, "all are registered again")
    registered = now_ms() - began - cluster.stalls.within(began)
    wait_until(cluster.is_whole, 30, "a leader that answers, and all workers")
    after = cluster.epoch()
    took = succession(cluster)
    last = cluster.epoch()
    ended = [cluster.await_run(r, 120) for r in started]
    bad = [(r["id"], r["state"], r["reason"], r["attempt"]) for r in ended
           if r["state"] != "succeeded" or r["attempt"] != 1]
    check(not bad, f"killed or rerun: {bad}")
    judge_ledger(ledger)
    cluster.verify()
    figure(kind, runs=runs, registered_ms=registered, killed=0, rerun=0, epochs=f"{epoch}/{after}/{last}",
           alarms=alarms(cluster) - told, next_leader_ms=took)
    check(epoch <= after < last, "an epoch went back")
    check(process_starts(cluster) - starts <= 1, "a process ended because of it")
    check(registered <= 2 * SESSION_MS, "all are registered again within two sessions")
    check(alarms(cluster) > told, "no master said what happened")


def wiped(cluster, folder):
    lose(cluster, os.path.join(folder, "ledger-wiped"), "zookeeper_wiped", shutil.rmtree)


def restored(cluster, folder):
    copy = pathlib.Path(folder, "zookeeper-copy")
    older = worker_names(cluster, folder_of(cluster, "")[:-1])
    cluster.kill("zookeeper")
    shutil.copytree(data_of(cluster), copy)
    cluster.script("start", "zookeeper")
    wait_until(cluster.is_whole, 60, "all are here again")
    cluster.kill("worker-1.proper")  # its next life is not in the copy
    wait_until(cluster.is_whole, 60, "worker-1 is back")

    def put_back(data):
        shutil.rmtree(data)
        shutil.copytree(copy, data)
    lose(cluster, os.path.join(folder, "ledger-restored"), "zookeeper_restored", put_back, older=older)


def copied_nodes(cluster):
    """Persistent nodes with valid names, like those of a tool that copies all nodes."""
    election, workers = folder_of(cluster, "election"), folder_of(cluster, "workers")
    with by_hand(cluster) as hand:
        worker = next(name for name in standing(hand, workers) if name.startswith("worker-1@"))
        copies = [f"{election}/n_{0:016x}_{0:010}", f"{workers}/worker-1@copied-0"]
        hand.copy(f"{election}/{sorted(standing(hand, election))[0]}", copies[0])
        hand.copy(f"{workers}/{worker}", copies[1])
    took = succession(cluster)
    began = now_ms()
    before = cluster.workers_here().get("worker-1")
    cluster.kill("worker-1.proper")
    wait_until(lambda: cluster.workers_here().get("worker-1") not in (None, before), 30, "worker-1 is registered anew")
    registered = now_ms() - began
    check("@" in worker and cluster.await_run(cluster.submit("true"), 60)["state"] == "succeeded", "a run ends well")
    said = wait_until(lambda: (lambda text: text if "no session owns" in text else None)(
        cluster.ok("-o", "json", "cluster", "status")), 40, "status names the nodes")
    named = sum(path in said for path in copies)
    with by_hand(cluster) as hand:
        for path in copies:
            hand.delete(path)
    wait_until(lambda: "no session owns" not in cluster.ok("-o", "json", "cluster", "status"), 40, "status is ok again")
    cluster.verify()
    figure("copied_nodes", copies=len(copies), named=named, next_leader_ms=took, worker_registered_ms=registered)
    check(named == len(copies), f"not all are named: {said[:2000]}")
