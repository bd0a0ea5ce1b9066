"""Output is read as it comes from any master, wherever it is kept, and goes when its time is over."""
import json
import pathlib
import subprocess
import time

from cluster import Cluster, check, figure, wait_until

# A line every 100 ms that says when it was printed.
CLOCK = "import time\nfor i in range(30):\n    print(time.time(), flush=True)\n    time.sleep(0.1)\n"
TEXT = "for i in range(40000): print(i, 'of many lines that are much alike')\n"


def masters(cluster):
    return cluster.env["ROTA_MASTERS"].split(",")


def worst_lag(cluster, run, master):
    """How late each line came to a reader of this master, who is there from the start, in ms; all must come."""
    reader = subprocess.Popen([cluster.programs + "/rota", "--masters", master, "run", "logs", "-f", run],
                              env=cluster.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lags = []
    try:
        for line in reader.stdout:
            lags.append((time.time() - float(line)) * 1000)
    finally:
        reader.kill()
        reader.wait()
    check(len(lags) == 30, f"{len(lags)} of 30 lines came through {master}")
    return max(lags)


def followed(cluster):
    """Through each master, so through followers too."""
    worst = {}
    for number, master in enumerate(masters(cluster), 1):
        run = cluster.submit("/usr/bin/python3", "-c", CLOCK)
        worst[f"master_{number}_ms"] = round(worst_lag(cluster, run, master))
    figure("followed", **worst)
    check(max(worst.values()) <= 1000, f"a line came more than a second late: {worst}")


def in_folder(programs, scratch):
    """A cluster that keeps output in a folder, and not for long."""
    logs = pathlib.Path(scratch, "kept")
    cluster = Cluster(scratch + "/f", programs, masters=2, workers=1, zookeepers=1,
                      set=["master.logs.store=folder", f"master.logs.folder={logs}",
                           "master.logs.keep_ms=8000", "master.runs.keep_ms=30000"])
    try:
        cluster.up()
        followed(cluster)
        cluster.apply("name: ticking\nschedule: '@every 1s'\nhandler: noop\noverlap: allow\n")
        first_tick = wait_until(lambda: cluster.runs("ticking"), 30, "a tick")[-1]
        short = kept_and_deleted(cluster, logs)
        runs_deleted(cluster, first_tick["id"], short)
    finally:
        cluster.down()


def kept_and_deleted(cluster, logs):
    wanted = subprocess.run(["/usr/bin/python3", "-c", TEXT], capture_output=True, check=True).stdout
    cluster.apply("name: kept\nkeep_logs: forever\nkeep_runs: forever\ncommand: %s\n" % json.dumps(["/usr/bin/python3", "-c", TEXT]))
    for_ever = cluster.ok("job", "run", "kept").strip()
    short = cluster.submit("/usr/bin/python3", "-c", TEXT)
    for run in (for_ever, short):
        cluster.await_run(run)
        for master in masters(cluster):
            got = cluster.ok("--masters", master, "run", "logs", run, timeout=60).encode()
            check(got == wanted, f"{len(got)} of {len(wanted)} bytes, or others, through {master}")
    on_disk = sum(path.stat().st_size for path in logs.rglob("*.log"))
    began = time.monotonic()
    wait_until(lambda: not list(logs.rglob(f"*/{short}")), 150, "the output is deleted")
    told = cluster.rota("run", "logs", short)
    check(told.returncode == 0 and told.stdout == "" and "kept long enough" in told.stderr,
          f"a reader is told: {told.stderr}")
    check(cluster.ok("run", "logs", for_ever).encode() == wanted, "what is kept for ever is there")
    cluster.verify()
    figure("kept_and_deleted", bytes=len(wanted), runs=2, on_disk=on_disk,
           deleted_after_s=round(time.monotonic() - began, 1), verify="green")
    return short


def runs_deleted(cluster, *gone):
    """Runs go, too, when their time is over; what is kept for ever stays, and verify tells gone from missing."""
    began = time.monotonic()
    for run in gone:
        wait_until(lambda: cluster.rota("run", "show", str(run)).returncode == 3, 150, f"run {run} is deleted")
    check(len(cluster.runs("kept")) == 1, "a run that is kept for ever is there")
    report = cluster.verify()
    ticks = next(one for one in report["checks"] if one["promise"] == "P1")
    figure("runs_deleted", deleted_after_s=round(time.monotonic() - began, 1), ticks_left=ticks["planned"],
           verify="green")
