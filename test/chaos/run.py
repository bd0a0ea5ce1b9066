#!/usr/bin/python3
"""Chaos on real processes; see scripts/chaos --help."""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import evidence
import faults
import jobs
from cluster import PROGRAMS, ROOT, Cluster
from faultline import FaultLine
from processes import now_ms, wait_until
from restore import Restore

JUDGE = pathlib.Path(__file__).resolve().parent / "history" / "judge.py"
# The defaults of both programs, which the hosts' configurations do not change.
SETTINGS = {"master_session_ms": 4000, "worker_session_ms": 6000, "server_tick_ms": 500, "grant_ms": 5000,
            "renew_every_ms": 1000, "master_beat_ms": 666, "worker_beat_ms": 1000, "margin_ms": 1800,
            "store_give_up_ms": 6000, "kill_grace_ms": 1000, "drain_deadline_ms": 4000, "settle_ms": 5000,
            "rpc_deadline_ms": 2000, "log_chunk_ms": 200}
SETTLE_S = 150
UNKNOWN = 3  # the judge's status


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


class Clients:
    """The load, on a host of its own."""

    def __init__(self, cluster, seed):
        generated = cluster.folder / "python"
        generated.mkdir()
        for file in sorted((ROOT / "thrift").glob("*.thrift")):
            subprocess.run(["thrift", "--gen", "py", "-out", str(generated), str(file)],
                           check=True, stdout=subprocess.DEVNULL)
        words = [*cluster.network.enter("client"), "/usr/bin/python3", str(pathlib.Path(__file__).with_name("load.py")),
                 str(cluster.evidence), str(generated), str(seed), cluster.master_addresses()]
        with open(cluster.logs / "clients.log", "ab") as log:
            self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                          text=True, env=cluster.starter.environment(), start_new_session=True)
        self.expect("ready")

    def expect(self, beginning):
        line = self.child.stdout.readline().strip()
        if not line.startswith(beginning):
            raise RuntimeError(f"the clients say {line!r} instead of {beginning}: see logs/clients.log")
        return line

    def tell(self, command, beginning):
        self.child.stdin.write(command + "\n")
        self.child.stdin.flush()
        return self.expect(beginning)

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Meter:
    """Records the machine's own stalls beside the run."""

    def __init__(self, cluster):
        words = ["/usr/bin/python3", str(pathlib.Path(__file__).with_name("meter.py")),
                 str(cluster.evidence / "stalls.jsonl")]
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Run:
    def __init__(self, asked, folder):
        self.asked = asked
        self.cluster = Cluster(folder, asked.build, loopback=asked.loopback, say=say,
                               elector=asked.elector, databases=asked.databases)
        self.cluster.database_goes_back = bool(asked.restore)
        self.clients, self.meter, self.trouble = None, None, []
        self.world = {"seed": asked.seed, "settings": SETTINGS, "restored": False}

    def go(self):
        cluster, world = self.cluster, self.world
        cluster.up()
        self.meter = Meter(cluster)
        world.update(started_ms=now_ms(), network=cluster.network.kind,
                     hosts={host: {"address": cluster.network.address(host), "clock_offset_ms": 0}
                            for host in [*cluster.servers, *cluster.rota_hosts, "client"]})
        say(f"up: {len(cluster.master_hosts)} masters, {len(cluster.worker_hosts)} workers in {cluster.network.kind}")
        self.clients = Clients(cluster, self.asked.seed)
        world["jobs"] = jobs.saved_jobs(str(cluster.programs), str(cluster.evidence))
        self.clients.tell("start", "started")
        time.sleep(self.asked.calm_s)
        self.break_things()
        self.settle()
        self.collect()

    def break_things(self):
        world = self.world
        world["faults_begin_ms"] = now_ms()
        line = FaultLine(self.cluster, self.asked.seed, say, self.asked.only, self.asked.pace)
        seconds = self.asked.minutes * 60
        restore = Restore(self.asked.restore, self.cluster, line, seconds, say) if self.asked.restore else None
        beside = threading.Thread(target=restore.run, daemon=True) if restore else None
        if beside:
            world["restored"] = True
            beside.start()
        line.run(time.monotonic() + seconds)
        if beside:
            beside.join(300)
            self.trouble += restore.trouble
        self.trouble += line.broken
        world["faults_end_ms"] = now_ms()
        world["faults"] = line.count
        say(f"healed: {line.count} faults, {line.took_effect} took effect")

    def settle(self):
        """Waits until everything is healed: all parts are back, acknowledged work is done, nothing is open."""
        cluster = self.cluster
        if not wait_until(cluster.is_whole, SETTLE_S):
            self.trouble.append(f"not whole within {SETTLE_S} s after the last fault: {cluster.status()}")
        time.sleep(self.asked.calm_s)
        say(self.clients.tell("calm", "calm"))
        self.clients.tell("pause", "paused")
        if not wait_until(lambda: cluster.unfinished() == 0, SETTLE_S):
            self.trouble.append(f"{cluster.unfinished()} runs are not final {SETTLE_S} s after the last tick")
        if not wait_until(lambda: not cluster.unsent(), SETTLE_S):
            self.trouble.append(f"not acknowledged after {SETTLE_S} s: {cluster.unsent()[:10]}")
        self.world["settled_ms"] = now_ms()
        # No answer, because the leader changes at this moment, does not mean red.
        answer = wait_until(lambda: cluster.rota("-o", "json", "verify", timeout=120), SETTLE_S)
        self.world["verify"] = json.loads(answer or "{}")
        say(f"settled {self.world['settled_ms'] - self.world['faults_end_ms']} ms after the last fault; "
            f"verify ok={self.world['verify'].get('ok')}")
        for check in self.world["verify"].get("checks", [{"promise": "rota verify", "ok": False}]):
            if not check["ok"]:
                self.trouble.append(f"rota verify is red: {check['promise']} {check.get('examples', 'no answer')}")

    def collect(self):
        cluster = self.cluster
        residue = {"processes": cluster.end_rota(self.clients.child.pid),
                   "files": evidence.left_files(cluster)}
        self.world["ended_ms"] = now_ms()
        self.world["trouble"] = self.trouble
        if self.asked.databases > 1 and (differ := cluster.mariadb.differences()):
            self.trouble.append(f"the nodes of the database differ: {differ}")
        counts = evidence.collect(cluster, self.world, residue, self.world["restored"])
        cluster.end_servers()
        say("evidence: " + " ".join(f"{table}={rows}" for table, rows in counts.items()))
        for one in residue["processes"] + residue["files"]:
            say(f"left over: {one}")

    def close(self):
        for part in (self.clients, self.meter):
            if part:
                part.close()
        self.cluster.down()


def judge(folder):
    """The judge's output and status; without a judge, the place of the evidence."""
    if not JUDGE.exists():
        print(f"evidence: {folder}", flush=True)
        return 0
    return subprocess.run(["/usr/bin/python3", str(JUDGE), str(folder), "--notes"]).returncode


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--loopback", action="store_true")
    parser.add_argument("--elector", choices=["zookeeper", "mysql", "etcd"], default="zookeeper")
    parser.add_argument("--databases", type=int, choices=[1, 3], default=1)
    parser.add_argument("--restore", choices=["backup", "replica"])
    parser.add_argument("--only", default="")
    parser.add_argument("--pace", type=float, default=1.0)
    parser.add_argument("--calm-s", type=float, default=15)
    parser.add_argument("--accept-unknown", action="store_true")
    parser.add_argument("--build", default=str(ROOT / "build"))
    asked = parser.parse_args()
    asked.only = [name for name in asked.only.split(",") if name]
    for name in asked.only:
        if name not in {**faults.WEIGHTS, **faults.ETCD_WEIGHTS}:
            parser.error(f"no fault is named {name}; there are: {', '.join({**faults.WEIGHTS, **faults.ETCD_WEIGHTS})}")
    if asked.restore and asked.databases > 1:
        parser.error("--restore needs one database")
    asked.build = pathlib.Path(asked.build).resolve()
    for program in PROGRAMS:
        if not (asked.build / program).exists():
            parser.error(f"--build: there is no {asked.build / program}; build it, or leave --build out")
    asked.dir = asked.dir and pathlib.Path(asked.dir).resolve()
    return asked


def stop_at_signal(_number, _frame):
    raise KeyboardInterrupt


def main():
    asked = read_arguments()
    signal.signal(signal.SIGTERM, stop_at_signal)
    os.chdir("/")  # paths that were given are whole by now
    parent = asked.dir or pathlib.Path(tempfile.mkdtemp(prefix="rota-chaos-")).resolve()
    folder = parent / f"seed-{asked.seed}"
    if folder.exists():
        print(f"chaos: {folder} exists: choose another --dir or --seed", file=sys.stderr)
        return 2
    run, status = Run(asked, folder), 1
    try:
        run.go()
        status = 0
    except KeyboardInterrupt:
        say("interrupted: ending everything")
        status = 130
    finally:
        # A second Ctrl-C must not interrupt the cleanup.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        run.close()
    for trouble in run.trouble:
        say(f"trouble: {trouble}")
    if status == 0:
        verdict = judge(folder / "evidence")
        status = 1 if run.trouble else verdict
    if status == UNKNOWN and asked.accept_unknown:
        status = 0
    if status == 0 and not asked.keep and not asked.dir:
        shutil.rmtree(parent)
    else:
        say(f"kept: {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
