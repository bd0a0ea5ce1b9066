"""What a worker is granted, and when it may be followed: sessions that end before their time, and hosts that
stand still (P4)."""
import os
import pathlib
import random
import time

import zk_session
from cluster import check, figure, judge_ledger, wait_until
from workers import start_ledger_runs

PAUSE_S = 0.11


def sessions_ended(cluster, folder, seconds):
    """Sessions of all masters and workers are ended as they come, nine looks a second, with commands running."""
    ledger = os.path.join(folder, "ledger-sessions")
    enough = ledger + ".enough"
    there, runs = start_ledger_runs(cluster, ledger, "worker-1", 12, enough)
    check(there, "no run went to worker-1")
    processes = ("master-1", "master-2", "worker-1", "worker-2")
    ended = end_sessions([os.path.join(cluster.folder, name, "session") for name in processes], seconds)
    check(ended >= seconds, f"only {ended} sessions could be ended in {seconds} s")
    pathlib.Path(enough).touch()
    finished = [cluster.await_run(run, 120) for run in runs]
    bad = [(run["id"], run["state"], run["reason"]) for run in finished if run["state"] != "succeeded"]
    check(not bad, f"runs that did not succeed after all: {bad[:5]}")
    judged = judge_ledger(ledger)
    wait_until(cluster.is_whole, 60, "all are back")
    cluster.await_verified()
    figure("sessions_ended", ended=ended, seconds=seconds, runs=len(runs), on_it=len(there),
           attempts=sum(run["attempt"] for run in finished),
           overlap_ms=judged.get("max_overlap_ms", judged))


def end_sessions(files, seconds):
    """Those that one of the files names, at each look another's; how many were ended."""
    ended, end_at = 0, time.monotonic() + seconds
    while time.monotonic() < end_at:
        for session in zk_session.sessions_in(random.choice(files)):
            try:
                ended += zk_session.end(*session)
            except (OSError, ValueError):
                pass  # ZooKeeper is slow; the next look tries again
        time.sleep(PAUSE_S)
    return ended
