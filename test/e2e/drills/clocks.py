"""The clocks of one host step together: both masters and the database run under a fake clock."""
import os
import pathlib
import re
import shutil
import subprocess
import time

from cluster import Cluster, check, figure, now_ms, wait_until
from eyes import fetch

FAKE_CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
HOUR_MS = 3_600_000
NOT_AHEAD_MS = 3_000  # how far a tick may be ahead of the true time
JOB = "name: second\nschedule: '@every 1s'\noverlap: allow\ncommand: [/bin/true]\n"


class HostClock:
    """The clock of the pretended host: programs that see it, and a file that says how far off it is."""

    def __init__(self, folder, programs):
        self.file = folder / "clock"
        self.set(0)
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in ("rota", "rota-warden"):
            (self.programs / name).symlink_to(pathlib.Path(programs, name))
        for name in ("rota-master", "rota-worker"):
            self.wrap(self.programs / name, str(pathlib.Path(programs, name)))
        self.servers = folder / "servers"
        self.servers.mkdir()
        self.wrap(self.servers / "mariadbd", shutil.which("mariadbd"))

    def wrap(self, path, real):
        path.write_text(f"#!/bin/sh\nexport LD_PRELOAD={FAKE_CLOCK} FAKETIME_TIMESTAMP_FILE={self.file} "
                        "FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 FAKETIME_DISABLE_SHM=1\n"
                        f'exec {real} "$@"\n')
        path.chmod(0o755)

    def set(self, seconds):
        new = self.file.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        os.replace(new, self.file)


class Stage:
    def __init__(self, programs, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.clock = HostClock(self.folder, programs)
        self.cluster = Cluster(str(self.folder / "c"), self.clock.programs, masters=2, workers=1)
        self.cluster.env["PATH"] = f"{self.clock.servers}:{os.environ['PATH']}"

    def held(self):
        return self.cluster.json("cluster", "status")["held"]

    def ticks(self):
        """The lateness of the newest runs, in ms."""
        return sorted(r["tick_at_ms"] for r in self.cluster.runs("second", limit=50) if r.get("tick_at_ms"))

    def ticks_recorded_since(self, moment_ms):
        return [r["tick_at_ms"] for r in self.cluster.runs("second", limit=200)
                if r.get("tick_at_ms") and r["recorded_at_ms"] >= moment_ms]

    def await_held(self, words, seconds=10):
        began = time.monotonic()
        wait_until(lambda: words in self.held(), seconds, f"ticks are held: {words}")
        return round((time.monotonic() - began) * 1000)

    def await_ticks(self, seconds, since_ms):
        """Waits until a tick after that moment has its run; returns how long that took, in ms."""
        began = time.monotonic()
        wait_until(lambda: (lambda t: t and t[-1] > since_ms)(self.ticks()), seconds, "ticks fire again")
        return round((time.monotonic() - began) * 1000)

    def await_firing(self):
        self.await_ticks(30, now_ms())

    def operator(self, command):
        """Runs the operator's command on the host, under its fake clock."""
        config = self.cluster.folder + "/master-1.yaml"
        done = subprocess.run([str(self.clock.programs / "rota-master"), command, "--config", config], text=True,
                              capture_output=True, timeout=60)
        check(done.returncode == 0, f"rota-master {command}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def page_of_leader(self, path):
        found = re.search(rf"^{self.cluster.leader()}\b.*(http://\S+/)", self.cluster.script("status"), re.M)
        check(found, "the leader shows no pages")
        return fetch(found.group(1) + path)[1]


def needs():
    """Why the drill cannot run; empty: it can."""
    return "" if os.path.exists(FAKE_CLOCK) else "needs libfaketime (scripts/install test)"


def step_together(programs, folder):
    """An hour ahead for 8 s, then right again."""
    stage = Stage(programs, folder)
    try:
        cluster = stage.cluster.up()
        cluster.apply(JOB)
        stage.await_firing()
        stage.clock.set(3600)
        stepped_at = time.monotonic()
        noticed_ms = stage.await_held("stepped about 3600 s ahead")
        healthz = stage.page_of_leader("healthz")
        check("stepped about 3600 s ahead" in healthz, f"/healthz says {healthz}")
        told = cluster.rota("job", "next", "second").stderr
        check("ticks are held" in told, f"rota job next says {told}")
        refused = cluster.rota("job", "pause", "second", "--deadline", "1s")
        check(refused.returncode != 0 and "held" in refused.stderr, f"an edit in a hold: {refused.stderr}")
        before = stage.ticks()
        time.sleep(max(0.0, 8 - (time.monotonic() - stepped_at)))
        during = stage.ticks()
        check(during == before, f"ticks fired while they were held: {during[len(before):]}")
        ahead_ms = max(during) - now_ms()
        check(ahead_ms < NOT_AHEAD_MS, f"ticks are recorded {ahead_ms} ms ahead")
        stage.clock.set(0)
        returned_ms = now_ms()
        resumed_ms = stage.await_ticks(2, returned_ms)
        check(stage.held() == "", f"still held: {stage.held()}")
        cluster.await_verified()
        report = cluster.verify()
        figure("clocks_step_together", noticed_ms=noticed_ms, held_ticks_fired=0, newest_tick_ahead_ms=ahead_ms,
               goes_on_within_ms=resumed_ms, verify="ok" if report["ok"] else "BROKEN")
    finally:
        stage.cluster.down()


def ahead_and_rewound(programs, folder):
    """Ticks are recorded an hour ahead because an operator accepted a wrong clock; they are given back."""
    stage = Stage(programs, folder)
    try:
        cluster = stage.cluster.up()
        cluster.apply(JOB)
        stage.await_firing()
        stage.clock.set(3600)
        stage.await_held("stepped about 3600 s ahead")
        stage.operator("--accept-clock")
        stage.await_ticks(10, now_ms() + HOUR_MS - 60_000)
        stage.clock.set(0)
        stage.await_held("stepped about 3600 s back")
        stage.operator("--accept-clock")
        stage.await_held("they fire again in")
        healthz = stage.page_of_leader("healthz")
        check("ticks are recorded until" in healthz, f"/healthz says {healthz}")
        next_tick = cluster.rota("-o", "json", "job", "next", "second")
        check("they fire again in" in next_tick.stdout, f"rota job next says {next_tick.stdout}")
        before = stage.ticks()
        time.sleep(3)
        check(stage.ticks() == before, "ticks fired that were recorded already")
        began_ms = now_ms()
        stage.operator("--rewind-ticks")
        wait_until(lambda: any(began_ms < t < began_ms + 60_000 for t in stage.ticks_recorded_since(began_ms)), 10,
                   "ticks fire again")
        fires_ms = now_ms() - began_ms
        wait_until(lambda: stage.held() == "", 10, "nothing is held any more")
        cluster.await_verified()
        report = cluster.verify()
        figure("ticks_rewound", ahead_runs=sum(t > began_ms + 60_000 for t in before), fires_within_ms=fires_ms,
               verify="ok" if report["ok"] else "BROKEN")
    finally:
        stage.cluster.down()


DRILLS = {"clocks_step_together": step_together, "ticks_rewound": ahead_and_rewound}
