"""A worker's vouchers, and when another attempt may follow: sessions that end early, and hosts that stand still
(P4)."""
import os
import pathlib
import random
import time

import zk_session
from cluster import check, figure, judge_ledger, now_ms, wait_until
from workers import boottime_us, start_ledger_runs

PAUSE_S = 0.11


def sessions_ended(cluster, folder, seconds):
    """Ends the sessions of all masters and workers as soon as they appear, nine times a second, while commands run."""
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


def host_frozen(cluster, folder, seconds):
    """All of worker-1 stands still, with its jobs, beyond its fence; then it goes on."""
    ledger = os.path.join(folder, "ledger-frozen")
    enough = ledger + ".enough"
    there, runs = start_ledger_runs(cluster, ledger, "worker-1", 12, enough)
    check(there, "no run went to worker-1")
    cluster.kill("worker-1.host", "-STOP")
    began = time.monotonic()
    wait_until(lambda: all(cluster.run(run)["worker"] == "worker-2" for run in there), 60, "they run on worker-2")
    time.sleep(max(0.0, seconds - (time.monotonic() - began)))
    thawed, thawed_ms = boottime_us(), now_ms()
    cluster.kill("worker-1.host", "-CONT")
    told = wait_until(lambda: stretches_of(cluster, there), 60, "worker-1 tells that it stood still")
    pathlib.Path(enough).touch()
    finished = [cluster.await_run(run, 60) for run in runs]
    bad = [(run["id"], run["state"], run["reason"]) for run in finished if run["state"] != "succeeded"]
    check(not bad, f"runs that did not succeed after all: {bad[:5]}")
    wait_until(cluster.is_whole, 60, "all are back")
    report = cluster.verify()
    after = longest_after(ledger, set(there), thawed)
    figure("host_frozen", frozen_s=round(time.monotonic() - began), on_it=len(there), told=len(told),
           stood_still_ms=f"{min(told)}..{max(told)}", ran_after_thaw_ms=round(after, 1), verify=report["ok"])
    check(after < 100 + cluster.stalls.within(thawed_ms), f"attempts ran on for {after} ms after their host went on")


def stretches_of(cluster, runs):
    """How long each first attempt's host stood still, once all of them report it."""
    told = []
    for run in runs:
        first = next((a for a in cluster.run(run)["attempts"] if a["attempt"] == 1), None)
        still = first and first["outcome"].get("stood_still")
        if not still:
            return None
        told.append(still["to_ms"] - still["from_ms"])
    return told


def longest_after(ledger, runs, thawed_us):
    """The last line of any of these first attempts, in ms after the thaw."""
    last = thawed_us
    with open(ledger, "rb") as file:
        for line in file.read().split(b"\n")[:-1]:
            words = line.split()
            if words[1].decode() in runs and words[2] == b"1":
                last = max(last, int(words[5]))
    return (last - thawed_us) / 1000


def end_sessions(files, seconds):
    """Ends the sessions that the files name, another file each time; returns how many were ended."""
    ended, end_at = 0, time.monotonic() + seconds
    while time.monotonic() < end_at:
        for session in zk_session.sessions_in(random.choice(files)):
            try:
                ended += zk_session.end(*session)
            except (OSError, ValueError):
                pass  # ZooKeeper is slow; the next round tries again
        time.sleep(PAUSE_S)
    return ended
