#!/usr/bin/python3
"""Drills on real processes: real ZooKeeper, real MariaDB, real kills.

    run.py [--long] [--only NAME[,NAME...]] [--group GROUP] [--bin DIR] [--dir DIR] [--keep]

Each drill prints its figures; the last line counts. --long runs each as often and as long as the
promises name; without it a short form runs. --list names them. What is skipped is said and counted."""
import attention
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import asking
import autoscale
import bulk
import calendars
import callers
import children
import clocks
import contexts
import eyes
import documents
import electors
import galera
import examples
import expect
import failover
import first_day
import forged
import full_disk
import handlers
import inputs
import judged
import kept_logs
import late
import locks
import losses
import lost_data
import moment
import needs
import office
import outages
import notify
import outputs
import overlap
import retries
import settings
import limits
import node_states
import nodes
import semaphores
import rolling
import routes
import schedules
import starts
import strangers
import vouchers
import whys
import whys_filled
import telling
import texts
import workers
from cluster import ROOT, Cluster, Failure, now_ms
from stalls import Stalls

# group -> name -> function with (cluster, scratch folder, long); a cluster for each group
GROUPS = {
    "programs": {
        "examples": lambda c, d, long: examples.all_of_them(c, d),
        "answers": lambda c, d, long: inputs.answers(c),
        "asking": lambda c, d, long: asking.all_of_them(c),
        "calendars": lambda c, d, long: calendars.run_all(c, d),
        "bulk": lambda c, d, long: bulk.all_of_them(c),
        "callers": lambda c, d, long: callers.all_of_them(c, d),
        "contexts": lambda c, d, long: contexts.all_of_them(c, d),
        "configuration": lambda c, d, long: inputs.configuration(c),
        "documents": lambda c, d, long: documents.run_all(c, d),
        "schedules": lambda c, d, long: schedules.run_all(c, d),
        "first_day": lambda c, d, long: first_day.all_of_them(c, d),
        "texts": lambda c, d, long: texts.everywhere(c, d),
        "frames": lambda c, d, long: inputs.frames(c, 5000 if long else 1000),
        "handlers": lambda c, d, long: handlers.all_of_them(c),
        "judged": lambda c, d, long: judged.seen(c),
        "locks": lambda c, d, long: locks.all_of_them(c, d, 40 if long else 20),
        "ways_to_end": lambda c, d, long: outputs.ways_to_end(c),
        "cancelled_and_timed_out": lambda c, d, long: outputs.cancelled_and_timed_out(c),
        "over_the_cap": lambda c, d, long: outputs.over_the_cap(c),
        "flood": lambda c, d, long: outputs.flood(c, 200 if long else 20),
        "followed": lambda c, d, long: kept_logs.followed(c),
        "forged": lambda c, d, long: forged.refused(c),
        "logs_in_folder": lambda c, d, long: kept_logs.in_folder(c.programs, d),
    },
    "workers": {
        "proper_killed": lambda c, d, long: workers.killed(c, d, "worker-1.proper"),
        "warden_killed": lambda c, d, long: workers.killed(c, d, "worker-1.warden"),
        "worker_killed": lambda c, d, long: workers.killed(c, d, "worker-1"),
        "worker_host_killed": lambda c, d, long: workers.killed(c, d, "worker-1.host"),
        "telling": lambda c, d, long: telling.all_of_them(c),
        "sessions_ended": lambda c, d, long: vouchers.sessions_ended(c, d, 90 if long else 25),
        "host_frozen": lambda c, d, long: vouchers.host_frozen(c, d, 30 if long else 12),
        "worker_terminated": lambda c, d, long: workers.terminated(c),
        "worker_hurried": lambda c, d, long: workers.hurried(c),
        "second_worker_refused": lambda c, d, long: workers.second_refused(c, d),
        "handlers_known": lambda c, d, long: workers.handlers_known(c, d),
        "worker_starts": lambda c, d, long: starts.run_all(c),
        "worker_drained": lambda c, d, long: workers.drained(c, d),
        "nodes": lambda c, d, long: nodes.all_of_them(c.programs, d),
        "node_states": lambda c, d, long: node_states.all_of_them(c.programs, d),
        "autoscale": lambda c, d, long: autoscale.all_of_them(c.programs, d),
        "routes": lambda c, d, long: routes.all_of_them(c.programs, d),
        "losses": lambda c, d, long: losses.all_of_them(c.programs, d),
        "costs": lambda c, d, long: eyes.costs(c),
        "pages": lambda c, d, long: eyes.pages(c),
    },
    "masters": {
        "leader_killed": lambda c, d, long: failover.leader_killed(c, 10 if long else 2),
        "leader_host_dies": lambda c, d, long: failover.leader_host_dies(c, 3 if long else 1),
        "leader_cut_off": lambda c, d, long: failover.leader_cut_off(c),
        "many_crons": lambda c, d, long: failover.many_crons(c.programs, d, 10 if long else 3),
        "huge_moment": lambda c, d, long: moment.huge(c.programs, d, 1_000_000 if long else 50_000, 180 if long else 40),
        "after_an_hour": lambda c, d, long: late.after_an_hour(c.programs, d, 3000 if long else 300),
        "freezes": lambda c, d, long: late.freezes(c, d),
        "overlap": lambda c, d, long: overlap.all_of_them(c, d),
        "retries": lambda c, d, long: retries.all_of_them(c),
        "attention": lambda c, d, long: attention.told(c),
        "children": lambda c, d, long: children.all_of_them(c, d, 200 if long else 50),
        "limits": lambda c, d, long: limits.all_of_them(c, d, 120 if long else 30),
        "needs": lambda c, d, long: needs.all_of_them(c.programs, d, 200 if long else 48),
        "notify": lambda c, d, long: notify.all_of_them(c.programs, d),
        "expect": lambda c, d, long: expect.all_of_them(c.programs, d),
        "settings": lambda c, d, long: settings.all_of_them(c.programs, d),
        "semaphores": lambda c, d, long: semaphores.all_of_them(c, d, 200 if long else 40),
        "whys": lambda c, d, long: whys.all_of_them(c.programs, d),
        "whys_filled": lambda c, d, long: whys_filled.measured(c.programs, d, *((1_000_000, 10_000_000) if long else (5_000, 50_000))),
        "leader_frozen": lambda c, d, long: failover.leader_frozen(c, 10 if long else 1),
    },
    "servers": {
        "both_gone": lambda c, d, long: outages.both_gone(c, d, 60 if long else 9, 20 if long else 6),
        "servers_killed": lambda c, d, long: outages.servers_killed(c, 5 if long else 1),
        "dropped_column": lambda c, d, long: office.dropped_column(c),
        "read_only_account": lambda c, d, long: office.read_only_account(c),
        "missing_epoch_row": lambda c, d, long: office.missing_epoch_row(c),
        "blocked_election": lambda c, d, long: office.blocked_election(c),
        "password_changed": lambda c, d, long: office.password_changed(c),
    },
    "data": {
        "zookeeper_wiped": lambda c, d, long: lost_data.wiped(c, d),
        "zookeeper_restored": lambda c, d, long: lost_data.restored(c, d),
        "copied_nodes": lambda c, d, long: lost_data.copied_nodes(c),
    },
    "strangers": {
        "second_cluster": lambda c, d, long: strangers.second_cluster(c, d),
    },
}
DRILLS = {name: drill for group in GROUPS.values() for name, drill in group.items()}

# On a cluster of their own: name -> function with (present programs, old programs, scratch folder)
ROLLING = {
    "upgrade_in_place": lambda new, old, d: rolling.in_place(new, d),
    "rolling_upgrade": lambda new, old, d: rolling.upgrade(new, old, d),
}
# On a cluster of its own whose masters and database see a fake clock
CLOCKS = clocks.DRILLS
# On a cluster of its own for each
ELECTORS = electors.DRILLS
DATABASES = galera.DRILLS
FULL_DISK = "deaths_on_full_disk"
NO_OLD = "give --old-bin DIR, or ROTA_OLD_BIN (scripts/programs_of COMMIT DIR makes one)"


def perform(name, drill):
    began = time.monotonic()
    try:
        drill()
        outcome = "passed"
    except Failure as failure:
        outcome = f"FAILED: {failure}"
    except Exception:  # an error of the drill itself is a failure too, printed in full
        outcome = "FAILED: " + traceback.format_exc()
    print(f"drill {name} ({time.monotonic() - began:.1f} s) {outcome}", flush=True)
    return outcome == "passed"


TRIES = 3


def perform_patiently(name, drill, prepare_again):
    """A drill that fails while the machine itself stands still for long is reported and runs again."""
    for left in reversed(range(TRIES)):
        began_ms = now_ms()
        if perform(name, drill):
            return True
        if not left or not Cluster.stalls.was_long(began_ms):
            return False
        print(f"drill {name} AGAIN: the machine stood still for {Cluster.stalls.within(began_ms)} ms", flush=True)
        prepare_again()
    return False


class Tally:
    """Returns what ran; prints and counts what was skipped."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, name, drill, prepare_again=lambda: None):
        if perform_patiently(name, drill, prepare_again):
            self.passed += 1
        else:
            self.failed += 1

    def skip(self, name, why):
        self.skipped += 1
        print(f"drill {name} SKIPPED: {why}", flush=True)


class Stage:
    """The cluster for the drills; when one drill left it in disorder, another one in a folder of its own."""

    def __init__(self, asked, scratch):
        self.asked, self.scratch, self.number = asked, scratch, 0
        self.build()

    def build(self):
        self.number += 1
        self.folder = f"{self.scratch}/stage-{self.number}"
        pathlib.Path(self.folder).mkdir(parents=True)
        self.cluster = Cluster(self.folder + "/c", self.asked.bin, masters=2, workers=2,
                               set=["worker.slots=20", f"worker.output.cap_bytes={1 << 30}"])
        began = time.monotonic()
        try:
            self.cluster.up()
        except BaseException:
            self.cluster.down()
            raise
        print(f"cluster up ({time.monotonic() - began:.1f} s)", flush=True)

    def rebuild(self):
        self.cluster.down()
        self.build()


def perform_drills(names, asked, scratch, tally):
    """Runs all of them on one cluster."""
    if not names:
        return
    stage = Stage(asked, scratch)
    try:
        for name in names:
            tally.add(name, lambda: DRILLS[name](stage.cluster, stage.folder, asked.long), stage.rebuild)
            if tally.failed and asked.keep:
                return
    finally:
        if not (tally.failed and asked.keep):
            stage.cluster.down()


def perform_rolling(names, asked, scratch, tally):
    for name in names:
        if name == "rolling_upgrade" and not asked.old_bin:
            tally.skip(name, f"no programs of an earlier commit; {NO_OLD}")
        else:
            folders = (f"{scratch}/{name}-{number}" for number in range(TRIES))
            tally.add(name, lambda: ROLLING[name](asked.bin, asked.old_bin, next(folders)))


def perform_clocks(names, asked, scratch, tally):
    for name in names:
        if why := clocks.needs():
            tally.skip(name, why)
        else:
            folders = (f"{scratch}/{name}-{number}" for number in range(TRIES))
            tally.add(name, lambda: CLOCKS[name](asked.bin, next(folders)))


def perform_electors(names, asked, scratch, tally):
    for name in names:
        elector, drill = ELECTORS[name]
        if why := electors.needs(elector):
            tally.skip(name, why)
        else:
            folders = (f"{scratch}/{name}-{number}" for number in range(TRIES))
            tally.add(name, lambda: drill(asked.bin, next(folders), asked.long))


def perform_databases(names, asked, scratch, tally):
    for name in names:
        needs, drill = DATABASES[name]
        if why := needs():
            tally.skip(name, why)
        else:
            folders = (f"{scratch}/{name}-{number}" for number in range(TRIES))
            tally.add(name, lambda: drill(asked.bin, next(folders), asked.long))


def perform_full_disk(asked, scratch, tally):
    """Runs on a cluster of its own with long sessions, which shows a process that waits for the end of one."""
    folder = scratch + "/full_disk"
    disk = folder + "/disk"
    if why := full_disk.small_disk(disk):
        tally.skip(FULL_DISK, f"needs an ext4 in a file, mounted: {why}")
        return
    cluster = Cluster(folder + "/c", asked.bin, masters=2, workers=2, pages="no", session_ms=full_disk.SESSION_MS,
                      set=["worker.slots=20", f"worker.zookeeper.session_timeout_ms={full_disk.SESSION_MS}"])
    try:
        cluster.up()
        tally.add(FULL_DISK, lambda: full_disk.deaths(cluster, folder, disk, 3 if asked.long else 2))
    finally:
        if not (tally.failed and asked.keep):
            cluster.down()
            subprocess.run(["umount", "-l", disk], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", default="", help="comma-separated")
    parser.add_argument("--group", choices=[*GROUPS, "rolling", "clocks", "electors", "databases", "disks"], help="the drills of one kind")
    parser.add_argument("--bin", default=ROOT / "build/bin", type=lambda text: pathlib.Path(text).resolve(),
                        help="folder of the programs")
    parser.add_argument("--dir", default="", help="where the cluster goes")
    parser.add_argument("--old-bin", default=os.environ.get("ROTA_OLD_BIN", ""),
                        help="programs of an earlier commit, for rolling_upgrade")
    parser.add_argument("--keep", action="store_true", help="leave a failed cluster's folder")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join([*DRILLS, *ROLLING, *CLOCKS, *ELECTORS, *DATABASES, FULL_DISK]))
        return 0
    groups = {**GROUPS, "rolling": ROLLING, "clocks": CLOCKS, "electors": ELECTORS, "databases": DATABASES, "disks": [FULL_DISK]}
    everything = [*groups[asked.group]] if asked.group else [*DRILLS, *ROLLING, *CLOCKS, *ELECTORS, *DATABASES, FULL_DISK]
    wanted = [n for n in asked.only.split(",") if n] or everything
    unknown = [n for n in wanted if n not in [*DRILLS, *ROLLING, *CLOCKS, *ELECTORS, *DATABASES, FULL_DISK]]
    if unknown:
        parser.error(f"no drill named {unknown[0]}; --list names them")
    scratch = asked.dir or tempfile.mkdtemp(prefix="rota-e2e-")
    pathlib.Path(scratch).mkdir(parents=True, exist_ok=True)
    tally = Tally()
    Cluster.stalls = Stalls(scratch)
    try:
        perform_drills([n for n in wanted if n in DRILLS], asked, scratch, tally)
        if not (tally.failed and asked.keep):
            perform_rolling([n for n in wanted if n in ROLLING], asked, scratch, tally)
        if not (tally.failed and asked.keep):
            perform_clocks([n for n in wanted if n in CLOCKS], asked, scratch, tally)
        if not (tally.failed and asked.keep):
            perform_electors([n for n in wanted if n in ELECTORS], asked, scratch, tally)
        if not (tally.failed and asked.keep):
            perform_databases([n for n in wanted if n in DATABASES], asked, scratch, tally)
        if FULL_DISK in wanted and not (tally.failed and asked.keep):
            perform_full_disk(asked, scratch, tally)
    finally:
        Cluster.stalls.close()
        if tally.failed and asked.keep:
            print(f"kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    if tally.skipped:
        print(f"{tally.skipped} SKIPPED, see above", flush=True)
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not (tally.passed or tally.skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
