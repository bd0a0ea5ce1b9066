"""Rota's masters and workers, each under its watchdog on its host, and the parts that faults can hit.

    watchdog -> rota-warden -> [rota-warden, pid 1 of a pid namespace] -> rota-worker (the proper)
                                                          `-> jobs"""
import datetime
import os
import re

import processes
from network import PORTS
from processes import KILL, TERM, family, is_alive, name_of, read_identity, run, wait_gone

FAKE_CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


class RotaHost:
    def __init__(self, cluster, host, state_mebibytes=0):
        self.cluster, self.host = cluster, host
        self.role = host.split("-")[0]
        self.state = cluster.folder / host
        self.state.mkdir(mode=0o700)
        self.is_mounted = False
        if state_mebibytes and os.geteuid() == 0:
            self.mount(state_mebibytes)
        self.watchdog = None
        self.clock_file = cluster.folder / f"{host}.clock"
        self.clock_offset_ms = 0
        self.clock_can_jump = host in cluster.jumping_hosts and os.path.exists(FAKE_CLOCK)
        self.config = cluster.folder / f"{host}.yaml"
        self.config.write_text(cluster.configuration(host, self.state))
        self.program = self.wrap()

    def mount(self, mebibytes):
        """A small disk of its own; root in a container may lack the right for it."""
        try:
            run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=700", "rota-chaos", str(self.state)])
            self.is_mounted = True
        except RuntimeError as error:
            self.cluster.say(f"no full disks on {self.host}: {str(error).splitlines()[0]}")

    def wrap(self):
        """If the clock can jump, starts the program through a script that preloads the fake clock: only
        Rota's own processes on the host see it."""
        real = f"{self.cluster.programs}/rota-{self.role}"
        if not self.clock_can_jump:
            return real
        self.clock_file.write_text("+0\n")
        folder = self.cluster.folder / f"{self.host}.bin"
        folder.mkdir()
        wrapper = folder / f"rota-{self.role}"
        wrapper.write_text(
            f"#!/bin/sh\nexport LD_PRELOAD={FAKE_CLOCK} FAKETIME_TIMESTAMP_FILE={self.clock_file} "
            "FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_CACHE_DURATION=1 FAKETIME_DISABLE_SHM=1\n"
            f'exec {real} "$@"\n')
        wrapper.chmod(0o755)
        return str(wrapper)

    # --- its life -------------------------------------------------------------------------------

    def start(self):
        if is_alive(self.watchdog):
            return
        (self.state / f"{self.host}.stop").unlink(missing_ok=True)
        words = [*self.cluster.network.enter(self.host), str(self.cluster.scripts / "watchdog"),
                 "--name", self.host, "--dir", str(self.state), "--kind", self.role,
                 "--heartbeat", str(self.state / "heartbeat"), "--settled-ms", "3000", "--crashes", "100000",
                 "--output", str(self.cluster.logs / f"{self.host}.log"), "--", self.program,
                 "--config", str(self.config)]
        log = self.cluster.logs / f"{self.host}.watchdog-output.log"
        self.watchdog = self.cluster.starter.start(words, log)

    def process(self):
        """The process that the watchdog started, or None."""
        who = read_identity(self.state / f"{self.host}.pid")
        return who if is_alive(who) else None

    def wardens(self):
        """A worker's wardens: the outer one, and pid 1 of its pid namespace."""
        outer = self.process()
        if not outer:
            return []
        below = [who for who in family(outer)[1:] if name_of(who[0]) == "rota-warden"
                 and processes.parent_of(who[0]) == outer[0]]
        return [outer, *below]

    def proper(self):
        """The part of a worker that talks to the masters, or None."""
        wardens = {who[0] for who in self.wardens()}
        for who in family(self.process()) if wardens else []:
            if name_of(who[0]) == "rota-worker" and processes.parent_of(who[0]) in wardens:
                return who
        return None

    def everything(self):
        """Watchdog, process and jobs, the watchdog first."""
        found = family(self.watchdog) if self.watchdog else []
        process = self.process()
        return found + [who for who in (family(process) if process else []) if who not in found]

    def kill_host(self):
        """Kills all of it at once, as when the host loses power; returns who was alive, and who still is."""
        victims = self.everything()
        for who in victims:
            processes.send(who, KILL)
        return victims, wait_gone(victims, 10)

    def end(self, patience=30):
        """Stops it like an operator; kills and returns the processes that are still alive."""
        if not is_alive(self.watchdog):
            return self.kill_host()[0]
        everyone = self.everything()
        for who in everyone:
            processes.send(who, processes.CONT)
        processes.send(self.watchdog, TERM)
        left = wait_gone([self.watchdog], patience)
        for who in everyone:
            processes.send(who, KILL)
        wait_gone(everyone, 5)
        return left

    def clean_up(self):
        if self.is_mounted:
            run(["umount", "-l", str(self.state)], check=False)

    # --- its clock ------------------------------------------------------------------------------

    def set_clock(self, offset_ms):
        self.clock_offset_ms = offset_ms
        self.clock_file.write_text(f"{offset_ms / 1000:+.3f}\n")

    def sees_clock(self):
        """How far this host's clock is from ours, in ms; None when it cannot be read."""
        before = processes.now_ms()
        text = run(["env", f"LD_PRELOAD={FAKE_CLOCK}", f"FAKETIME_TIMESTAMP_FILE={self.clock_file}",
                    "FAKETIME_NO_CACHE=1", "FAKETIME_DISABLE_SHM=1", "date", "+%s%3N"], check=False)
        return int(text) - before if text.strip().isdigit() else None

    # --- the evidence ---------------------------------------------------------------------------

    def lives(self):
        """The watchdog's records, as lines of processes.jsonl."""
        found, open_lives = [], {}
        for name in (f"{self.host}.watchdog.log.1", f"{self.host}.watchdog.log"):
            try:
                text = (self.state / name).read_text(errors="replace")
            except OSError:
                continue
            for line in text.splitlines():
                self.read_life(line, found, open_lives)
        return found

    def read_life(self, line, found, open_lives):
        at = re.match(r"(\S+T\S+) \S+ (.*)", line)
        started = at and re.search(r"^(?:started|found) pid=(\d+)", at[2])
        ended = at and re.search(r"^pid=(\d+) ended(?:: (.*)| while nobody watched)", at[2])
        if not started and not ended:
            return
        ms = int(datetime.datetime.fromisoformat(at[1]).timestamp() * 1000)
        pid = int((started or ended)[1])
        if started and pid not in open_lives:
            open_lives[pid] = {"host": self.host, "role": self.role, "pid": pid, "started_ms": ms,
                               "ended_ms": None, "how": ""}
            found.append(open_lives[pid])
        elif ended and pid in open_lives:
            open_lives.pop(pid).update(ended_ms=ms, how=ended[2] or "while nobody watched")


def master_yaml(cluster, host, state):
    return common_yaml(cluster, host, state) + (
        f"elector: {cluster.elector}\n{etcd_yaml(cluster, host)}"
        f"zookeeper:\n  connect: \"{cluster.zookeeper_addresses(host)}\"\n  server_tick_ms: 500\n"
        f"database:\n{database_yaml(cluster, host)}  user: rota\n  name: rota\n"
        f"  password_file: {cluster.mariadb.password_file}\n")


def etcd_yaml(cluster, host):
    places = ["http://%s:%s" % cluster.network.endpoint(host, one) for one in cluster.etcd_hosts]
    return f"etcd:\n  endpoints: {places}\n" if places else ""


def database_yaml(cluster, host):
    """Of several, each master prefers another one."""
    places = ["%s:%s" % cluster.network.endpoint(host, one) for one in cluster.database_hosts]
    if len(places) == 1:
        return "  host: {}\n  port: {}\n".format(*places[0].rsplit(":", 1))
    first = cluster.master_hosts.index(host) % len(places)
    return "  hosts: [" + ", ".join(f"'{place}'" for place in places[first:] + places[:first]) + "]\n"


def worker_yaml(cluster, host, state):
    return common_yaml(cluster, host, state) + (
        f"slots: 16\ndrain_deadline_ms: 4000\nwarden_binary: {cluster.programs}/rota-warden\n"
        f"zookeeper:\n  connect: \"{cluster.zookeeper_addresses(host)}\"\n  server_tick_ms: 500\n")


def common_yaml(cluster, host, state):
    address = cluster.network.address(host)
    networks = "plaintext_networks: [10.99.0.0/16]\n" if cluster.network.kind == "namespaces" else ""
    return (f"id: {host}\ncluster: rota\nstate_dir: {state}\nheartbeat_file: {state}/heartbeat\n"
            f"listen:\n  host: {address}\n  port: {PORTS[host.split('-')[0]]}\n{networks}")
