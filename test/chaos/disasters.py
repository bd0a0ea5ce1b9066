"""Faults of shared parts: ZooKeeper's data, nodes that no session owns, and very many ticks in one second."""
import json
import pathlib
import re
import shutil
import subprocess
import time

from fault import Fault
from network import PORTS
from processes import KILL, run, wait_until

BY_HAND = pathlib.Path(__file__).resolve().parents[1] / "support/zookeeper_by_hand.py"
ROOT = "/rota/rota"
ALL_DATA = "zookeeper's data"  # claimed by who needs it to stand, and by who takes it away
# A leader writes its ZooKeeper's identity and epoch within a second; after that, other faults may come.
BACK_S = 60
OPERATOR_AFTER_S = 25


def by_hand(cluster, what, path, new_path=""):
    """Through the first server that answers; an error when none does for half a minute."""
    end, last = time.monotonic() + 30, None
    while time.monotonic() < end:
        for host in cluster.zookeeper_hosts:
            address = f"{cluster.network.address(host)}:{PORTS['zookeeper']}"
            try:
                return run([*cluster.network.enter(host), "/usr/bin/python3", str(BY_HAND), address, what, path,
                            *([new_path] if new_path else [])], 15)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                last = error
        time.sleep(0.5)
    raise RuntimeError(f"no ZooKeeper answers: {last}")


def nodes_below(cluster, path):
    """{path: (owner, the number of the change that made it)}"""
    found = re.findall(r"^(\S+) owner=(\S+) created=(\d+) ", by_hand(cluster, "tree", path), re.M)
    return {name: (int(owner, 16), int(created)) for name, owner, created in found}


# --- ZooKeeper loses its data -----------------------------------------------------------------------


def data_of(server):
    return server.folder / "data/version-2"


def kill_all_servers(cluster, change):
    """Ends all at once; `change` modifies each one's data; then they start again."""
    servers = [cluster.servers[host] for host in cluster.zookeeper_hosts]
    gone = [server.end(KILL, 5) for server in servers]
    for server in servers:
        change(server)
        server.start()
    return sum(gone)


def accept_new_zookeeper(cluster):
    """Like an operator when nobody led at that moment and attempts were running."""
    host = cluster.master_hosts[0]
    return run([*cluster.network.enter(host), str(cluster.programs / "rota-master"), "--accept-new-zookeeper",
                "--config", str(cluster.rota_hosts[host].config)], 60, check=False)


def is_marked(cluster):
    """Whether the leader has written the identity there again that makes this ZooKeeper the database's."""
    text = by_hand(cluster, "tree", ROOT)
    epoch = re.search(rf"^{ROOT}/epoch owner=\S+ created=\d+ b.(\d+)", text, re.M)
    return bool(epoch) and f"{ROOT}/identity " in text and int(epoch[1]) >= cluster.mariadb.marks()[0]


def await_all(cluster):
    """Waits until the cluster is whole again; returns how, in words."""
    serve = all([wait_until(cluster.servers[host].serves, BACK_S) for host in cluster.zookeeper_hosts])
    if wait_until(lambda: cluster.is_whole() and is_marked(cluster), OPERATOR_AFTER_S):
        return f"serves again: {serve}; all are registered by themselves"
    accept_new_zookeeper(cluster)
    whole = bool(wait_until(cluster.is_whole, BACK_S))
    return f"serves again: {serve}; the operator gave it the database; all are registered: {whole}"


def claims_of_loss(cluster):
    """No leader may go away meanwhile: then an operator would be needed."""
    return {*cluster.zookeeper_hosts, *cluster.master_hosts, *cluster.database_hosts, ALL_DATA, "stranger"}


def lose_data(cluster, dice, kind, seconds, prepare, change):
    """Creates a node after `prepare`; `change` modifies each server's data; then the node must be gone."""
    marker, proof = f"{ROOT}/to_be_lost_{dice.randrange(10 ** 6)}", {}

    def begin():
        wait_until(cluster.leader, 20)
        for host in cluster.zookeeper_hosts:
            prepare(cluster.servers[host])
        by_hand(cluster, "copy", f"{ROOT}/workers", marker)
        proof["marked"] = marker in nodes_below(cluster, ROOT)

    def heal():
        killed = kill_all_servers(cluster, change)
        how = await_all(cluster)
        still = marker in nodes_below(cluster, ROOT)
        return proof["marked"] and not still and killed == 3, \
            f"{killed} servers killed; a node made before was there: {proof['marked']}, is there: {still}; {how}"
    return Fault(kind, "+".join(cluster.zookeeper_hosts), claims_of_loss(cluster), seconds, begin, heal)


def wipe_zookeeper(cluster, dice):
    """All three servers lose their data and start again without any."""
    return lose_data(cluster, dice, "kill_zookeeper_wiped", 0.5, lambda server: None,
                     lambda server: shutil.rmtree(data_of(server)))


def restore_zookeeper(cluster, dice):
    """Restores an older copy of all servers' data: later writes are gone."""
    def keep(server):
        shutil.rmtree(server.folder / "copy", ignore_errors=True)
        shutil.copytree(data_of(server), server.folder / "copy")

    def put_back(server):
        shutil.rmtree(data_of(server))
        shutil.copytree(server.folder / "copy", data_of(server))
    return lose_data(cluster, dice, "kill_zookeeper_older", dice.uniform(3, 12), keep, put_back)


# --- nodes that no session owns ---------------------------------------------------------------------


def copy_nodes(cluster, dice):
    """A tool copies a candidate's and a worker's node: the copies sort first and never vanish by themselves."""
    worker, number = dice.choice(cluster.worker_hosts), dice.randrange(10 ** 6)
    copies = [f"{ROOT}/election/n_{number:016x}_0000000000", f"{ROOT}/workers/{worker}@copied-{number}"]

    def original(folder, begins):
        owned = [path for path, (owner, _) in nodes_below(cluster, folder).items() if owner]
        return next((path for path in owned if path.rsplit("/", 1)[1].startswith(begins)), None)

    def begin():
        for copy, begins in zip(copies, ("n_", f"{worker}@")):
            folder = copy.rsplit("/", 1)[0]
            found = wait_until(lambda: original(folder, begins), 20)  # noqa: B023
            by_hand(cluster, "copy", found or folder, copy)

    def heal():
        nodes = {**nodes_below(cluster, f"{ROOT}/election"), **nodes_below(cluster, f"{ROOT}/workers")}
        stood = [copy for copy in copies if nodes.get(copy, (1, 0))[0] == 0]
        told = sum(copy in json.dumps(cluster.status()) for copy in copies)
        for copy in stood:
            by_hand(cluster, "delete", copy)
        return len(stood) == len(copies), f"{len(stood)} persistent nodes stood until now; status names {told}"
    return Fault("copied_nodes", "election+workers", {ALL_DATA}, dice.uniform(8, 25), begin, heal)


# --- a huge moment ----------------------------------------------------------------------------------

CROWD, TICKS_EACH = 2000, 10  # 20,000 ticks in one second
APPLY_S = 15


def moment_text(at_ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms // 1000)) + f".{at_ms % 1000:03d}Z"


def huge_moment(cluster, dice):
    """Very many ticks in one second, more than any batch may hold."""
    name, proof = f"crowd-{dice.randrange(10 ** 6)}", {}

    def begin():
        at = (time.time_ns() // 1_000_000_000 + APPLY_S) * 1000
        shared = {"command": ["/bin/true"], "schedule": {"every": "100ms"}, "start": moment_text(at),
                  "end": moment_text(at + 100 * (TICKS_EACH - 1)), "overlap": "skip", "late": "fire_once",
                  "tick_grace": "100ms"}
        file = cluster.folder / f"{name}.yaml"
        file.write_text(json.dumps({"jobs": [{"name": f"{name}-{i}", **shared} for i in range(CROWD)]}))
        proof.update(at=at, said=cluster.rota("job", "apply", "--yes", "-f", str(file)).strip().rsplit("\n", 1)[-1])
        time.sleep(max(0.0, at / 1000 + 1 - time.time()))

    def accounted():
        """[ticks that are runs, that lie in gaps, ms until the last was recorded, runs that are not final]"""
        of_crowd = f"job_id IN (SELECT job_id FROM rota.job WHERE name LIKE '{name}-%')"
        sql = f"SELECT (SELECT COUNT(*) FROM rota.run WHERE {of_crowd}), " \
              f"(SELECT COALESCE(SUM(tick_count), 0) FROM rota.gap WHERE {of_crowd}), " \
              f"(SELECT COALESCE(MAX(recorded_ms), 0) FROM rota.run WHERE {of_crowd}), " \
              f"(SELECT COUNT(*) FROM rota.run WHERE {of_crowd} AND ended_ms IS NULL)"
        try:
            return [int(float(word)) for word in cluster.mariadb.ask(sql, 10).split()]
        except (RuntimeError, ValueError, subprocess.SubprocessError):  # the database is away
            return None

    def heal():
        wait_until(lambda: (lambda found: found and sum(found[:2]) >= CROWD * TICKS_EACH and not found[3])(
            accounted()), 90)
        found = accounted() or [0, 0, 0, 0]
        ticks = sum(found[:2])
        # When no leader accepted the jobs in time, nothing was due.
        return (True if ticks >= CROWD * TICKS_EACH else None), \
            f"{ticks} ticks accounted for, {found[0]} of them runs, the last {found[2] - proof['at']} ms after the " \
            f"moment; runs that have not ended: {found[3]}; {proof['said']}"
    return Fault("huge_moment", name, {"moment"}, 1.0, begin, heal, {"ticks": CROWD * TICKS_EACH})
