#!/usr/bin/python3
"""Drills on real processes: real ZooKeeper, real MariaDB, real kills.

    run.py [--long] [--only NAME[,NAME...]] [--bin DIR] [--dir DIR] [--keep]

Each drill prints its figures; the last line counts. --long runs each as often and as long as the
promises name; without it a short form runs. --list names them."""
import argparse
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

import examples
import failover
import inputs
import judged
import outages
import outputs
import workers
from cluster import ROOT, Cluster, Failure

# name -> what runs it, with (cluster, scratch folder, long)
DRILLS = {
    "examples": lambda c, d, long: examples.all_of_them(c, d),
    "answers": lambda c, d, long: inputs.answers(c),
    "configuration": lambda c, d, long: inputs.configuration(c),
    "frames": lambda c, d, long: inputs.frames(c, 5000 if long else 1000),
    "judged": lambda c, d, long: judged.seen(c),
    "ways_to_end": lambda c, d, long: outputs.ways_to_end(c),
    "cancelled_and_timed_out": lambda c, d, long: outputs.cancelled_and_timed_out(c),
    "over_the_cap": lambda c, d, long: outputs.over_the_cap(c),
    "flood": lambda c, d, long: outputs.flood(c, 200 if long else 20),
    "proper_killed": lambda c, d, long: workers.killed(c, d, "worker-1.proper"),
    "warden_killed": lambda c, d, long: workers.killed(c, d, "worker-1.warden"),
    "worker_killed": lambda c, d, long: workers.killed(c, d, "worker-1"),
    "worker_host_killed": lambda c, d, long: workers.killed(c, d, "worker-1.host"),
    "worker_terminated": lambda c, d, long: workers.terminated(c),
    "leader_killed": lambda c, d, long: failover.leader_killed(c, 10 if long else 2),
    "leader_host_dies": lambda c, d, long: failover.leader_host_dies(c, 3 if long else 1),
    "leader_cut_off": lambda c, d, long: failover.leader_cut_off(c),
    "leader_frozen": lambda c, d, long: failover.leader_frozen(c, 10 if long else 1),
    "both_gone": lambda c, d, long: outages.both_gone(c, d, 60 if long else 9, 20 if long else 6),
    "servers_killed": lambda c, d, long: outages.servers_killed(c, 5 if long else 1),
}


def perform(name, cluster, scratch, long):
    began = time.monotonic()
    try:
        DRILLS[name](cluster, scratch, long)
        outcome = "passed"
    except Failure as failure:
        outcome = f"FAILED: {failure}"
    except Exception:  # an error of the drill itself is a failure too, told whole
        outcome = "FAILED: " + traceback.format_exc()
    print(f"drill {name} ({time.monotonic() - began:.1f} s) {outcome}", flush=True)
    return outcome == "passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", default="", help="comma-separated")
    parser.add_argument("--bin", default=ROOT / "build/bin", type=lambda text: pathlib.Path(text).resolve(),
                        help="folder of the programs")
    parser.add_argument("--dir", default="", help="where the cluster goes")
    parser.add_argument("--keep", action="store_true", help="leave a failed cluster's folder")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(DRILLS))
        return 0
    names = [n for n in asked.only.split(",") if n] or list(DRILLS)
    unknown = [n for n in names if n not in DRILLS]
    if unknown:
        parser.error(f"no drill named {unknown[0]}; --list names them")
    scratch = asked.dir or tempfile.mkdtemp(prefix="rota-e2e-")
    pathlib.Path(scratch).mkdir(parents=True, exist_ok=True)
    cluster = Cluster(scratch + "/c", asked.bin, masters=2, workers=2,
                      set=["worker.slots=20", f"worker.output.cap_bytes={1 << 30}"])
    passed = failed = 0
    try:
        began = time.monotonic()
        cluster.up()
        print(f"cluster up ({time.monotonic() - began:.1f} s)", flush=True)
        for name in names:
            good = perform(name, cluster, scratch, asked.long)
            passed, failed = passed + good, failed + (not good)
            if not good and asked.keep:
                break
    finally:
        if not (failed and asked.keep):
            cluster.down()
            shutil.rmtree(scratch, ignore_errors=True)
        else:
            print(f"kept: {scratch}")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
