"""A second cluster, with a ZooKeeper path of its own, on the database of a first one (P34)."""
import contextlib
import os
import pathlib
import re
import subprocess
import time

from cluster import check, figure, judge_ledger, wait_until

LIVING_S = 20       # how long it tries beside the living first one
QUIET_S = 60        # how long without a sign of the first one's leader before it would look for unfinished runs
RUNS = 4
RUN_MS = 150_000


class Rival:
    """A master of the cluster `other`, with the first one's configuration."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, pathlib.Path(folder, "rival")
        self.folder.mkdir()
        self.config = cluster.folder + "/master-2.yaml"
        self.env = dict(os.environ, ROTA_CLUSTER="other", ROTA_ID="rival", ROTA_STATE_DIR=str(self.folder),
                        ROTA_HEARTBEAT_FILE=str(self.folder / "heartbeat"), ROTA_LISTEN_PORT="0", ROTA_HTTP_PORT="0",
                        ROTA_ADVERTISE_HOST="127.0.0.1")
        self.process = None

    def start(self):
        self.process = subprocess.Popen([self.cluster.programs + "/rota-master", "--config", self.config],
                                        env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=open(self.folder / "log", "ab"), stderr=subprocess.STDOUT)
        wait_until(lambda: self.port(), 30, "the second cluster's master has started")

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def port(self):
        found = re.findall(r"main: started.* address=127\.0\.0\.1:(\d+)", self.log())
        return found and int(found[-1])

    def status(self):
        done = self.cluster.rota("-o", "json", "--masters", f"127.0.0.1:{self.port()}", "--deadline", "3s", "cluster",
                                 "status")
        return done.stdout + done.stderr

    def accept(self, *more):
        done = subprocess.run([self.cluster.programs + "/rota-master", "--accept-new-zookeeper", *more, "--config",
                               self.config], env=self.env, text=True, capture_output=True, timeout=60)
        check(done.returncode == 0, f"--accept-new-zookeeper: {done.stdout} {done.stderr}")
        return done.stdout

    def offices(self):
        return self.log().count("took office")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(60)
            self.process = None


@contextlib.contextmanager
def rival_of(cluster, folder):
    rival = Rival(cluster, folder)
    try:
        yield rival
    finally:
        rival.stop()


def epoch_stored(cluster):
    """The epoch in the database, whoever leads."""
    done = subprocess.run(["mariadb", "--no-defaults", "--user=root", f"--socket={cluster.database_socket()}", "-N", "-e",
                           "SELECT value FROM rota.epoch"], text=True, capture_output=True, timeout=60)
    check(done.returncode == 0, f"the database's epoch: {done.stderr}")
    return int(done.stdout)


def leader_of(cluster):
    status = cluster.json("cluster", "status")
    return next((m["id"], m["address"]) for m in status["masters"] if m["leads"])


def beside_a_living_one(cluster, rival):
    """It never takes office, the epoch does not move, and it says whose database it is."""
    before, (name, address) = epoch_stored(cluster), leader_of(cluster)
    rival.start()
    wait_until(lambda: "office is held off" in rival.log(), 30, "it says that it is held off")
    told = wait_until(lambda: name in rival.log() and str(address) in rival.log(), 10, "who leads, and where")
    time.sleep(LIVING_S)
    status = rival.status()
    check(f"'{name}' at {address}" in status, f"its status names nobody: {status[:1500]}")
    check(epoch_stored(cluster) == before and not rival.offices(), "the epoch moved beside a living cluster")
    return bool(told)


def with_runs_unfinished(cluster, rival, before):
    """The first one's masters are stopped, its jobs run on: the second does not take office and asks."""
    began = time.monotonic()
    wait_until(lambda: "of its attempts have not ended" in rival.log(), QUIET_S + 30, "it asks the operator")
    waited = time.monotonic() - began
    check("rota-master --accept-new-zookeeper --config" in rival.log(), "the command is not told")
    check(epoch_stored(cluster) == before and not rival.offices(), "it took office with runs unfinished")
    return waited


def by_the_operators_word(rival):
    began = time.monotonic()
    said = rival.accept()
    wait_until(rival.offices, 15, "it takes office after the operator's word")
    return said, time.monotonic() - began


def back_to_the_first(cluster, rival):
    """Its masters find a stranger in office; after the operator's permission they lead again."""
    for name in ("master-1", "master-2"):
        cluster.script("start", name)
    wait_until(lambda: any("'rival' at" in cluster.log(m) for m in ("master-1", "master-2")), 30,
               "the first one's masters name the second's")
    rival.stop()
    done = subprocess.run([cluster.programs + "/rota-master", "--accept-new-zookeeper", "--config",
                           cluster.folder + "/master-2.yaml"], text=True, capture_output=True, timeout=60)
    check(done.returncode == 0, f"--accept-new-zookeeper: {done.stdout} {done.stderr}")
    wait_until(cluster.leader, 30, "the first one leads again")


def second_cluster(cluster, folder):
    ledger = os.path.join(folder, "ledger-second")
    with rival_of(cluster, folder) as rival:
        beside_a_living_one(cluster, rival)
        runs = [cluster.submit(cluster.ledger_job(), ledger, str(RUN_MS)) for _ in range(RUNS)]
        cluster.await_started(runs)
        for name in ("master-1", "master-2"):
            cluster.script("stop", name)
        before = epoch_stored(cluster)
        waited = with_runs_unfinished(cluster, rival, before)
        _, accepted = by_the_operators_word(rival)
        taken = epoch_stored(cluster)
        time.sleep(15)  # beyond every fence: it waits for what runs on the first one's workers
        back_to_the_first(cluster, rival)
        ended = [cluster.await_run(r, 240) for r in runs]
        bad = [(r["id"], r["state"], r["attempt"]) for r in ended if r["state"] != "succeeded" or r["attempt"] != 1]
        check(not bad, f"runs were doubled or cut: {bad}")
        overlap = judge_ledger(ledger).get("max_overlap_ms")
        cluster.verify()
        figure("second_cluster", beside_living_s=LIVING_S, epochs_moved=0, unfinished_s=round(waited, 1),
               offices_without_word=0, accepted_s=round(accepted, 1), epochs_after_word=taken - before,
               runs=len(runs), cut=0, overlap_ms=overlap)
