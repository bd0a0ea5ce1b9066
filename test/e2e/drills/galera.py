"""Databases that lose a host: three Galera nodes, and a primary with its replica. No tick is lost or doubled."""
import json
import pathlib
import re
import subprocess
import time

from cluster import Cluster, check, figure, median, now_ms, wait_until
from eyes import fetch, series
from failover import staggered_jobs
from office import Led

PROGRAMS = ("/usr/lib/galera/libgalera_smm.so", "/usr/bin/wsrep_sst_rsync", "/usr/bin/rsync")


def needs():
    """Why these drills cannot be done here; empty: they can."""
    missing = [path for path in PROGRAMS if not pathlib.Path(path).exists()]
    return f"{missing[0]} is missing (scripts/install galera)" if missing else ""


class Nodes:
    """The nodes of a private Galera cluster, asked as root."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = cluster.chosen(r'db_folder="([^"]+)"')
        self.ports = [int(port) for port in re.findall(r'"(\d+)"', cluster.chosen(r"\bdb_ports=\((.*)\)"))]

    def ask(self, node, sql, may_fail=False):
        done = subprocess.run(["mariadb", "--no-defaults", "--user=root", f"--socket={self.folder}/{node}.sock", "--batch",
                               "--skip-column-names", f"--execute={sql}"], text=True, capture_output=True, timeout=60,
                              check=False)
        check(may_fail or done.returncode == 0, f"mariadb-{node}: {sql}: {done.stderr}")
        return done.stdout.strip()

    def isolate(self, node, is_cut):
        """Off from the other nodes, but not from its clients."""
        self.ask(node, f"SET GLOBAL wsrep_provider_options = 'gmcast.isolate={int(is_cut)}'")

    def await_whole(self, count=3):
        def sizes():
            return [self.ask(n, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'", may_fail=True).split("\t")[-1]
                    for n in range(1, count + 1)]
        wait_until(lambda: sizes() == [str(count)] * count, 60, f"{count} nodes are one cluster: {sizes()}")

    def used_by(self, master):
        """The node that this master uses; None: it is not known."""
        done = self.cluster.rota("-o", "json", "--deadline", "3s", "cluster", "status")
        masters = json.loads(done.stdout)["masters"] if done.returncode == 0 else []
        used = next((m["database"] for m in masters if m["id"] == master), "")
        port = int(used.rpartition(":")[2] or 0)
        return self.ports.index(port) + 1 if port in self.ports else None


def started(programs, folder, **shape):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder + "/c", programs, workers=1, **{"masters": 2, "databases": 3, **shape})
    try:
        return cluster.up()
    except BaseException:
        cluster.down()
        raise


def first_tick_after(cluster, moment):
    """Until a tick was recorded that was due after the moment, without the time in which the machine stood still."""
    def recorded():
        done = cluster.rota("-o", "json", "--deadline", "3s", "run", "list", "--limit", "50")
        rows = json.loads(done.stdout) if done.returncode == 0 else []
        return [r["recorded_at_ms"] for r in rows if r["kind"] == "tick" and r["scheduled_at_ms"] > moment]
    first = min(wait_until(recorded, 60, "a tick after the node's death"))
    return first - moment - cluster.stalls.within(moment)


def node_killed(programs, folder, long):
    """kill -9 of the node that the leader uses; it returns by what it missed (IST), and once as an empty one (SST)."""
    cluster, times = started(programs, folder), 50 if long else 5
    try:
        nodes = Nodes(cluster)
        led = Led(cluster)
        cluster.apply(staggered_jobs("gk", 20))
        run = cluster.submit("sleep", "7200")
        cluster.await_started([run])
        took, back = [], []
        for _ in range(times):
            nodes.await_whole()
            leader = wait_until(cluster.leader, 60, "a leader")
            node = wait_until(lambda who=leader: nodes.used_by(who), 30, "the leader's database is shown")
            killed = int(cluster.kill(f"mariadb-{node}")["at_ms"])
            took.append(first_tick_after(cluster, killed))
            began = time.monotonic()
            cluster.script("start", f"mariadb-{node}")
            back.append(round((time.monotonic() - began) * 1000))
        emptied_ms = returns_empty(cluster, nodes)
        row = cluster.run(run)
        check(row["state"] == "running" and row["attempt"] == 1, f"the job did not go on: {row['state']}, {row['attempt']}")
        cluster.ok("run", "cancel", run)
        for job in cluster.json("job", "list", "gk"):
            cluster.ok("job", "delete", "--yes", job["name"])
        ticks = led.end()
        figure("galera_node_killed", times=times, next_tick_median_ms=median(took), next_tick_worst_ms=max(took),
               back_by_ist_median_ms=median(back), back_by_sst_ms=emptied_ms, epochs=cluster.epoch(),
               missing=ticks["missing"], doubled=ticks["doubled"], all="/".join(map(str, took)))
    finally:
        cluster.down()


def returns_empty(cluster, nodes):
    """Node 3 loses its disk: it gets a copy of all."""
    nodes.await_whole()
    cluster.kill("mariadb-3")
    before = cluster.log("mariadb-3").count("rsync SST completed on joiner")
    subprocess.run(f"rm -rf {nodes.folder}/3/data/*", shell=True, check=True)
    began = time.monotonic()
    cluster.script("start", "mariadb-3", timeout=240)
    took = round((time.monotonic() - began) * 1000)
    check(cluster.log("mariadb-3").count("rsync SST completed on joiner") > before, "it got no copy (SST)")
    last = nodes.ask(1, "SELECT MAX(run_id) FROM rota.run")
    runs = [nodes.ask(n, f"SET wsrep_sync_wait = 1; SELECT COUNT(*) FROM rota.run WHERE run_id <= {last}") for n in (1, 3)]
    check(runs[0] == runs[1], f"the copy differs: {runs}")
    return took


def only_on(cluster, master, nodes, node):
    """From its next start that master knows only this node."""
    path = pathlib.Path(cluster.folder, master + ".yaml")
    text = re.sub(r"hosts: \[.*\]", f'hosts: ["127.0.0.1:{nodes.ports[node - 1]}"]', path.read_text())
    path.write_text(text)
    cluster.script("stop", master)
    cluster.script("start", master)


def made_leader(cluster, name):
    for _ in range(6):
        leader = wait_until(cluster.leader, 60, "a leader")
        if leader == name:
            return
        cluster.kill(leader)
        wait_until(lambda was=leader: cluster.leader() not in (None, was), 60, "another leads")
        wait_until(lambda: sum(1 for m in cluster.json("cluster", "status")["masters"] if m["address"]) == 2, 60,
                   "both masters are here")
    check(cluster.leader() == name, f"{name} does not take office")


class Renewals:
    """When workers last asked for what the old leader still answered, by their own pages."""

    def __init__(self, cluster, epoch):
        self.pages = [page + "/metrics" for page in cluster.env["ROTA_WORKER_PAGES"].split(",")]
        self.epoch, self.last_ms = epoch, 0
        self.look()
        check(self.last_ms > 0, "no worker tells when the leader last vouched for it")

    def look(self):
        """Returns True. The pages of workers that the leader of another epoch vouches for say nothing any more."""
        name = f'rota_worker_renewal_age_seconds{{epoch="{self.epoch}"}}'
        self.old = 0
        for page in self.pages:
            age = series(fetch(page)[1]).get(name)
            if age is not None:
                self.old += 1
                self.last_ms = max(self.last_ms, now_ms() - int(age * 1000))
        return True

    def is_over(self):
        return self.look() and self.old == 0


def cut_off_leader(programs, folder, _long):
    """master-1 leads on node 1 and knows no other; both are cut off, it from ZooKeeper and its node from the others."""
    cluster = started(programs, folder)
    try:
        nodes = Nodes(cluster)
        only_on(cluster, "master-1", nodes, 1)
        wait_until(lambda: sum(1 for m in cluster.json("cluster", "status")["masters"] if m["address"]) == 2, 60, "both are here")
        made_leader(cluster, "master-1")
        led = Led(cluster)
        run = cluster.submit("sleep", "600")
        cluster.await_started([run])
        epoch, before = cluster.epoch(), len(cluster.log("master-1"))
        cut, masters = now_ms(), cluster.env["ROTA_MASTERS"]
        cluster.env["ROTA_MASTERS"] = masters.split(",")[1]  # the other one knows of no leader meanwhile
        renewals = Renewals(cluster, epoch)
        cluster.proxy.cut()
        nodes.isolate(1, True)
        wait_until(lambda: renewals.look() and cluster.leader() == "master-2", 60, "master-2 leads on the other two nodes")
        led_again = now_ms() - cut
        wait_until(renewals.is_over, 30, "all workers are vouched for by the new leader")
        seen = nodes.ask(2, "SET wsrep_sync_wait = 1; SELECT value, taken_ms, (SELECT MAX(run_id) FROM rota.run WHERE epoch = "
                            f"{epoch}), (SELECT MAX(recorded_ms) FROM rota.run WHERE epoch = {epoch}) FROM rota.epoch")
        value, taken, last_run, recorded = [int(word) for word in seen.split("\t")]
        check(value > epoch, "no new epoch")
        check(renewals.last_ms <= taken, f"a renewal was answered {renewals.last_ms - taken} ms behind the new epoch")
        rows = nodes.ask(2, f"SELECT COUNT(*) FROM rota.run WHERE run_id <= {last_run} AND recorded_ms <= {recorded}")
        led.goes_on()
        time.sleep(3)
        nodes.isolate(1, False)
        cluster.proxy.heal()
        cluster.env["ROTA_MASTERS"] = masters
        nodes.await_whole()
        wait_until(lambda: "ended" in cluster.log("master-1")[before:], 60, "the old Term ends")
        time.sleep(2)
        # Nothing of the old Term came in later, on any node: neither a run nor a tick behind the new epoch.
        for node in (1, 2, 3):
            after = nodes.ask(node, f"SET wsrep_sync_wait = 1; SELECT COUNT(*), MAX(recorded_ms) <= {taken} FROM rota.run "
                                    f"WHERE run_id <= {last_run} AND recorded_ms <= {recorded}").split("\t")
            check(after == [rows, "1"], f"mariadb-{node}: rows of the old Term behind the new epoch: {after}, were {rows}")
        row = cluster.run(run)
        check(row["state"] == "running" and row["attempt"] == 1, f"the job did not go on: {row['state']}, {row['attempt']}")
        cluster.ok("run", "cancel", run)
        ticks = led.end()
        figure("galera_cut_off_leader", led_again_ms=led_again, last_renewal_before_epoch_ms=taken - renewals.last_ms, last_commit_before_epoch_ms=taken - recorded,
               missing=ticks["missing"], doubled=ticks["doubled"])
    finally:
        cluster.down()


def promoted(programs, folder, long):
    """The operator fences the primary and promotes the replica: first in order, then after the primary died."""
    del long
    cluster = started(programs, folder, databases=2)
    try:
        servers = Nodes(cluster)
        led = Led(cluster)
        run = cluster.submit("sleep", "600")
        cluster.await_started([run])
        check(servers.used_by("master-1") == 1, "the masters do not use the primary")
        epoch = cluster.epoch()

        began = now_ms()
        servers.ask(1, "SET GLOBAL read_only = 1")  # the fence: nothing more is committed there
        position = servers.ask(1, "SELECT @@gtid_binlog_pos")
        caught_up = servers.ask(2, f"SELECT MASTER_GTID_WAIT('{position}', 60)")
        check(caught_up == "0", f"the replica lags: {caught_up}")
        servers.ask(2, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0")
        gone_on = first_tick_after(cluster, now_ms())
        switched = now_ms() - began
        wait_until(lambda: servers.used_by("master-1") == 2 and servers.used_by("master-2") == 2, 60, "both use the replica")
        check(servers.ask(1, "SELECT value FROM rota.epoch") == str(epoch), "the fenced primary was written to")

        # The old primary follows the new one; then that one dies, and the first is promoted in its turn.
        password = pathlib.Path(cluster.folder, "secrets/db_password").read_text()
        servers.ask(1, f"SET GLOBAL gtid_slave_pos = '{position}'; CHANGE MASTER TO MASTER_HOST = '127.0.0.1', "
                       f"MASTER_PORT = {servers.ports[1]}, MASTER_USER = 'replica', MASTER_PASSWORD = '{password}', "
                       "MASTER_USE_GTID = slave_pos; START SLAVE")
        position = servers.ask(2, "SELECT @@gtid_binlog_pos")
        check(servers.ask(1, f"SELECT MASTER_GTID_WAIT('{position}', 60)") == "0", "the old primary does not follow")
        led.goes_on()
        killed = int(cluster.kill("mariadb-2")["at_ms"])  # dead, and it would come back read-only: the fence
        wait_until(lambda: "Connecting" in servers.ask(1, "SHOW SLAVE STATUS"), 60, "it is gone")
        servers.ask(1, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0")
        held = what_is_lost(cluster, led)
        died = now_ms() - killed
        cluster.script("start", "mariadb-2")
        check(servers.ask(2, "SELECT @@read_only") == "1", "the dead primary came back writable")
        led.goes_on()
        row = cluster.run(run)
        check(row["state"] == "running" and row["attempt"] == 1, f"the job did not go on: {row['state']}, {row['attempt']}")
        cluster.ok("run", "cancel", run)
        ticks = led.end()
        figure("replica_promoted", switched_ms=switched, next_tick_ms=gone_on, died_ms=died, was_held=held,
               missing=ticks["missing"], doubled=ticks["doubled"])
    finally:
        cluster.down()


def what_is_lost(cluster, led):
    """A replica may lack the last transactions: then the masters hold ticks until the operator accepts the loss."""
    began = now_ms()

    def outcome():
        done = cluster.rota("-o", "json", "--deadline", "3s", "cluster", "status")
        if done.returncode == 0 and "older" in json.loads(done.stdout)["held"]:
            return "held"
        return "goes on" if any(r["scheduled_at_ms"] > began for r in led.runs()) else None
    if wait_until(outcome, 60, "the promoted server is used") == "goes on":
        return False
    subprocess.run([cluster.programs + "/rota-master", "--config", f"{cluster.folder}/master-1.yaml", "--accept-restore"],
                   check=True, capture_output=True, timeout=120)
    led.goes_on()
    return True


# name -> what it needs, and function with (programs, folder, long)
DRILLS = {
    "galera_node_killed": (needs, node_killed),
    "galera_cut_off_leader": (needs, cut_off_leader),
    "replica_promoted": (lambda: "", promoted),
}
