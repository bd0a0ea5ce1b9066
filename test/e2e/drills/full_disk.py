"""Processes die while the disk of their state folders is full: they are back as soon as always, no result is lost
(P6, P17). The disk is an ext4 in a file, in a mount namespace of this process: both vanish with it."""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import time

from cluster import check, figure, judge_ledger, now_ms, wait_until
from workers import start_ledger_runs

HOSTS = ("worker-1", "master-2", "master-1")
PARTS = ("worker-1.proper", "worker-1.warden")
SESSION_MS = 10_000  # a process that waits for its end is visible in the figures
CLONE_NEWNS = 0x20000
MEBIBYTES = 64


def small_disk(folder):
    """Mounts an empty ext4 in `folder`, visible to this process and its children; otherwise returns why not."""
    image = pathlib.Path(str(folder) + ".image")
    pathlib.Path(folder).mkdir(parents=True)
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        return "no right to mount (" + os.strerror(ctypes.get_errno()) + ")"
    path = os.environ.get("PATH", "") + ":/sbin:/usr/sbin"
    for words in (["mount", "--make-rprivate", "/"], ["truncate", "-s", f"{MEBIBYTES}M", str(image)],
                  ["mkfs.ext4", "-q", "-m", "0", str(image)], ["mount", "-o", "loop", str(image), str(folder)]):
        try:
            done = subprocess.run(words, env=dict(os.environ, PATH=path), capture_output=True, text=True, timeout=60)
        except OSError as error:
            return str(error)
        if done.returncode != 0:
            return f"{words[0]}: {done.stderr.strip()[-200:]}"
    image.unlink()
    return ""


def fill(disk):
    """Fills it to the last block: blocks that ext4 reserves for first bytes become free once these are written."""
    with open(pathlib.Path(disk, "filler"), "ab", buffering=0) as file:
        has_grown = True
        while has_grown:
            has_grown = False
            for size in (1 << 20, 4096, 1024, 1):
                try:
                    while file.write(b"x" * size):
                        has_grown = True
                except OSError:
                    continue
            os.fsync(file.fileno())


def move_onto(cluster, disk):
    for name in HOSTS:
        cluster.script("stop", name)
        place = pathlib.Path(cluster.folder, name)
        shutil.move(place, pathlib.Path(disk, name))
        place.symlink_to(pathlib.Path(disk, name))
        cluster.script("start", name)
        wait_until(cluster.is_whole, 60, f"{name} is back from its move")


def worker_absence(cluster, part):
    """How long after kill -9 its next life is online, in ms."""
    before = wait_until(lambda: cluster.workers_here().get("worker-1"), 60, "worker-1 is here")
    began = int(cluster.kill(part)["at_ms"])
    wait_until(lambda: cluster.workers_here().get("worker-1", before) != before, 60, f"worker-1 is back after {part}")
    return now_ms() - began


def leader_absence(cluster):
    epoch = cluster.epoch()
    began = int(cluster.kill("leader")["at_ms"])
    wait_until(lambda: cluster.leader() and cluster.epoch() > epoch, 60, "a successor leads")
    took = now_ms() - began
    wait_until(cluster.is_whole, 60, "both masters are here")
    return took


def absences(cluster, times, before_each):
    found = {}
    for part in (*PARTS, "leader"):
        for _ in range(times):
            before_each()
            took = leader_absence(cluster) if part == "leader" else worker_absence(cluster, part)
            found.setdefault(part.split(".")[-1], []).append(took)
            wait_until(cluster.is_whole, 60, "all are back")
    return found


def check_files(cluster):
    """The files on the full disk belong to the present lives: they were replaced there."""
    for name in HOSTS:
        state = pathlib.Path(cluster.folder, name)

        def sessions():
            try:
                return json.loads((state / "session").read_text())["sessions"]
            except (OSError, ValueError):
                return []
        alive = wait_until(lambda: len(sessions()) == 1 and os.path.exists(f"/proc/{sessions()[0]['pid']}"), 10,
                           f"the session file of {name} names the present life and no other")
        pid = int((state / f"{name}.pid").read_text().split()[0])
        check(alive and os.path.exists(f"/proc/{pid}"), f"{name}.pid names a dead process")
    kept = int(pathlib.Path(cluster.folder, "worker-1/epoch").read_text().split()[1])
    check(kept == cluster.epoch(), f"worker-1 keeps epoch {kept}, the leader's is {cluster.epoch()}")


def adopted_by_next_watchdog(cluster):
    """A watchdog dies: its successor finds the living program through the file on the full disk."""
    state = pathlib.Path(cluster.folder, "master-1")
    before = (state / "master-1.pid").read_text()
    cluster.kill("master-1.watchdog")
    cluster.script("start", "master-1")
    time.sleep(1)
    check((state / "master-1.pid").read_text() == before and "running" in cluster.script("status", may_fail=True),
          "the next watchdog did not watch on")
    wait_until(cluster.is_whole, 30, "all are here")


def deaths(cluster, folder, disk, times):
    move_onto(cluster, disk)
    with_room = absences(cluster, 1, lambda: None)
    ledger = os.path.join(folder, "ledger-full-disk")
    enough = ledger + "-enough"
    there, runs = start_ledger_runs(cluster, ledger, "worker-1", 10, enough)
    check(there, "no run went to worker-1")
    full = absences(cluster, times, lambda: fill(disk))
    pathlib.Path(enough).touch()
    ended = [cluster.await_run(r, 120) for r in runs]
    short = [cluster.await_run(cluster.submit("/bin/echo", "on a full disk", options=["--worker", "worker-1"]))]
    lost = [(r["id"], r["state"], r["reason"]) for r in ended + short if r["state"] != "succeeded"]
    overlap = judge_ledger(ledger).get("max_overlap_ms")
    figure("full_disk", free_bytes=shutil.disk_usage(disk).free, runs=len(ended), lost=len(lost), overlap_ms=overlap,
           **{f"{part}_with_room_ms": "/".join(map(str, took)) for part, took in with_room.items()},
           **{f"{part}_full_ms": "/".join(map(str, took)) for part, took in full.items()})
    check(not lost, f"runs that did not succeed: {lost[:5]}")
    unwritten = [name for name in HOSTS if "the session file cannot be written" in cluster.log(name)]
    check(not unwritten, f"{unwritten} could not write the session file")
    check_files(cluster)
    adopted_by_next_watchdog(cluster)
    cluster.verify()
