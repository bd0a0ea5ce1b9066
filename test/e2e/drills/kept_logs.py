"""Output can be read from any master as it comes, from either store, and is deleted when its time is over."""
import contextlib
import json
import os
import pathlib
import subprocess
import time

from cluster import Cluster, check, figure, now_ms, wait_until

# Once told to go on, prints a line every 100 ms with its time.
CLOCK = ("import os, sys, time\nprint('up', flush=True)\nwhile not os.path.exists(sys.argv[1]):\n    time.sleep(0.05)\n"
         "for i in range(30):\n    print(time.time(), flush=True)\n    time.sleep(0.1)\n")
KEEP_MS = 8000
TEXT = "for i in range(40000): print(i, 'of many lines that are much alike')\n"


def masters(cluster):
    return cluster.env["ROTA_MASTERS"].split(",")


def worst_lag(cluster, run, go, master):
    """How late each line came to a reader of this master, who is there from the start, in ms; all must come. What the
    machine itself held up does not count."""
    reader = subprocess.Popen([cluster.programs + "/rota", "--masters", master, "run", "logs", "-f", run],
                              env=cluster.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lags = []
    try:
        check(reader.stdout.readline() == b"up\n", "the reader is there")
        go.touch()
        for line in reader.stdout:
            lags.append((float(line) * 1000, time.time() * 1000))
    finally:
        reader.kill()
        reader.wait()
    check(len(lags) == 30, f"{len(lags)} of 30 lines came through {master}")
    return max(came - printed - cluster.stalls.within(printed, came) for printed, came in lags)


def followed(cluster):
    """Reads through each master, so also through followers."""
    worst = {}
    for number, master in enumerate(masters(cluster), 1):
        go = pathlib.Path(f"{cluster.folder}.go-{time.monotonic_ns()}")
        run = cluster.submit("/usr/bin/python3", "-c", CLOCK, str(go))
        worst[f"master_{number}_ms"] = round(worst_lag(cluster, run, go, master))
    figure("followed", **worst)
    check(max(worst.values()) <= 1000, f"a line came more than a second late: {worst}")


def in_folder(programs, scratch):
    """A cluster that keeps output in a folder, and not for long."""
    logs = pathlib.Path(scratch, "kept")
    cluster = Cluster(scratch + "/f", programs, masters=2, workers=1, zookeepers=1,
                      set=["master.logs.store=folder", f"master.logs.folder={logs}",
                           f"master.logs.keep_ms={KEEP_MS}", "master.runs.keep_ms=45000"])
    try:
        cluster.up()
        followed(cluster)
        cluster.apply("name: ticking\nschedule: '@every 1s'\nhandler: noop\noverlap: allow\n")
        first_tick = wait_until(lambda: cluster.runs("ticking"), 30, "a tick")[-1]
        short = kept_and_deleted(cluster, logs)
        files_gone(cluster, logs)
        runs_deleted(cluster, first_tick["id"], short)
    finally:
        cluster.down()


def read_everywhere(cluster, run, wanted):
    """Whether each master returns exactly that."""
    return all(cluster.ok("--masters", master, "run", "logs", run, timeout=60).encode() == wanted
               for master in masters(cluster))


def read_in_time(cluster, wanted):
    """A run whose output was read before it was deleted; None: this machine took longer than that."""
    run = cluster.submit("/usr/bin/python3", "-c", TEXT)
    ended = cluster.await_run(run)["ended_at_ms"]
    is_read = read_everywhere(cluster, run, wanted)
    check(is_read or now_ms() - ended >= KEEP_MS, "bytes are missing, or others, and still kept")
    return run if is_read else None


def bytes_on_disk(logs):
    """Runs beside retention, which may delete what was just listed."""
    total = 0
    for folder, _, files in os.walk(logs):
        for name in files:
            with contextlib.suppress(FileNotFoundError):
                total += os.path.getsize(os.path.join(folder, name))
    return total


def kept_and_deleted(cluster, logs):
    wanted = subprocess.run(["/usr/bin/python3", "-c", TEXT], capture_output=True, check=True).stdout
    cluster.apply("name: kept\nkeep_logs: forever\nkeep_runs: forever\ncommand: %s\n" % json.dumps(["/usr/bin/python3", "-c", TEXT]))
    forever = cluster.ok("job", "run", "kept").strip()
    cluster.await_run(forever)
    check(read_everywhere(cluster, forever, wanted), "what is kept forever is read")
    short = wait_until(lambda: read_in_time(cluster, wanted), 60, "output is read before its time is over")
    on_disk = bytes_on_disk(logs)
    began = time.monotonic()
    wait_until(lambda: not any(short in folders for _, folders, _ in os.walk(logs)), 150, "the output is deleted")
    told = cluster.rota("run", "logs", short)
    check(told.returncode == 0 and told.stdout == "" and "their time was over" in told.stderr,
          f"a reader is told: {told.stderr}")
    check(cluster.ok("run", "logs", forever).encode() == wanted, "what is kept forever is there")
    cluster.verify()
    figure("kept_and_deleted", bytes=len(wanted), runs=2, on_disk=on_disk,
           deleted_after_s=round(time.monotonic() - began, 1), verify="green")
    return short


def files_gone(cluster, logs):
    """A file that somebody else removed does not count as deleted by retention: verify is red until it is back."""
    kept = cluster.runs("kept")[0]["id"]
    wait_until(lambda: now_ms() - cluster.run(str(kept))["ended_at_ms"] > 16_000, 20, "the output is old enough")
    file = next(pathlib.Path(folder, name) for folder, _, names in os.walk(logs) for name in names
                if f"/{kept}" in folder)
    cluster.verify()
    aside = file.rename(pathlib.Path(cluster.folder, "aside"))
    told = cluster.rota("verify")
    check(told.returncode == 1 and f"run {kept}" in told.stdout, f"verify did not notice: {told.stdout} {told.stderr}")
    aside.rename(file)
    cluster.verify()
    figure("files_gone", run=kept, noticed=1, verify="green again")


def runs_deleted(cluster, *gone):
    """Runs are also deleted when their time is over; those kept forever stay, and verify tells deleted from missing."""
    began = time.monotonic()
    for run in gone:
        wait_until(lambda: cluster.rota("run", "show", str(run)).returncode == 3, 150, f"run {run} is deleted")
    check(len(cluster.runs("kept")) == 1, "a run that is kept forever is there")
    report = cluster.verify()
    ticks = next(one for one in report["checks"] if one["promise"] == "P1")
    figure("runs_deleted", deleted_after_s=round(time.monotonic() - began, 1), ticks_left=ticks["planned"],
           verify="green")
