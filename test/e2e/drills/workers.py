"""Workers die in every way: no result is lost, nothing is alive twice, nothing is left (P4, P6, P12, P17, P18)."""
import json
import os
import pathlib
import subprocess
import time

from cluster import check, figure, judge_ledger, median, wait_until

RUNS = 20


def slots_busy(cluster, worker):
    rows = [w for w in cluster.json("worker", "list") if w["id"] == worker]
    return rows and rows[0]["running"]


def start_ledger_runs(cluster, ledger, worker, count, enough):
    """`count` runs of the ledger job, which end once the file `enough` exists: those on that worker, and all."""
    runs = [cluster.submit(cluster.ledger_job(), ledger, "600000", "--until", enough,
                           options=["--name", f"ledger-{i}"]) for i in range(count)]
    cluster.await_started(runs)
    time.sleep(1.5)  # a run is stored as running after one second
    return [r for r in runs if cluster.run(r)["worker"] == worker], runs


def beats_after(ledger, at_us):
    """The first line of each run after the moment, by CLOCK_BOOTTIME in us."""
    first = {}
    with open(ledger, "rb") as file:
        for line in file.read().split(b"\n")[:-1]:
            words = line.split()
            at = int(words[5])
            if at > at_us:
                first.setdefault(words[1].decode(), at)
    return first


def boottime_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def killed(cluster, folder, part, runs=RUNS):
    """kill -9 of a part of worker-1 with commands running; each run must end well, exactly once. Of
    `.host` nothing comes back by itself: its runs go on elsewhere after the fence."""
    ledger = os.path.join(folder, f"ledger-{part.replace('.', '-')}")
    enough = ledger + ".enough"
    there, all_runs = start_ledger_runs(cluster, ledger, "worker-1", runs, enough)
    check(there, "no run went to worker-1")
    killed_at = int(cluster.kill(part)["at_ms"]) * 1000 - (time.time_ns() // 1000 - boottime_us())
    done_at = boottime_us()
    wait_until(lambda: set(there) <= set(beats_after(ledger, done_at)), 60, "those on worker-1 go on, or again")
    pathlib.Path(enough).touch()
    ended = [cluster.await_run(r, 90) for r in all_runs]
    not_good = [(r["id"], r["state"], r["reason"]) for r in ended if r["state"] != "succeeded"]
    check(not not_good, f"runs that did not succeed after all: {not_good[:5]}")
    judged = judge_ledger(ledger)
    tries = sum(r["attempt"] for r in ended)
    back = beats_after(ledger, killed_at)
    delays = [(back[r] - killed_at) / 1000 for r in there if r in back]
    figure("worker_killed", part=part, runs=len(all_runs), on_it=len(there), attempts=tries,
           back_median_ms=round(median(delays)) if delays else -1,
           back_worst_ms=round(max(delays)) if delays else -1,
           overlap_ms=judged.get("max_overlap_ms", judged))
    if part.endswith(".host"):
        cluster.script("start", "worker-1")
    wait_until(lambda: any(w["id"] == "worker-1" and w["state"] in ("online", "busy", "warning")
                           for w in cluster.json("worker", "list")), 30, "worker-1 is back")


def terminated(cluster):
    """SIGTERM: nothing new, running attempts finish, the node vanishes, exit 0."""
    runs = [cluster.submit("/bin/sleep", "3") for _ in range(4)]
    cluster.await_started(runs)
    mine = [r for r in runs if cluster.run(r)["worker"] == "worker-2"]
    at = int(cluster.kill("worker-2.watchdog", "-TERM")["at_ms"])
    wait_until(lambda: state_of(cluster, "worker-2") not in ("online", "busy", "warning"), 10, "worker-2 says that it stops")
    later = [cluster.submit("/bin/true") for _ in range(6)]
    ended = [cluster.await_run(r) for r in later]
    check(all(r["worker"] == "worker-1" for r in ended), "a stopping worker got a new attempt")
    for run in [cluster.await_run(r) for r in mine]:
        check(run["state"] == "succeeded" and run["attempt"] == 1, f"a running attempt was cut: {run}")
    wait_until(lambda: all(w["id"] != "worker-2" or w["state"] == "offline"
                           for w in cluster.json("worker", "list")), 20, "worker-2 is gone")
    figure("worker_terminated", running=len(mine), cut=0, at=at)
    start_again(cluster, "worker-2")
    wait_until(lambda: any(w["id"] == "worker-2" and w["state"] == "online"
                           for w in cluster.json("worker", "list")), 30, "worker-2 is back")


def start_again(cluster, worker):
    """Starts it once its last life is over: the cluster knows that the worker is gone before its processes end."""
    wait_until(lambda: not cluster.pids(worker + ".watchdog"), 60, f"{worker}'s watchdog has ended")
    cluster.script("start", worker)


def state_of(cluster, worker):
    return next((w["state"] for w in cluster.json("worker", "list") if w["id"] == worker), "absent")


def life_of(cluster, worker, state):
    """The incarnation that is in this state, or None."""
    return next((w["incarnation"] for w in cluster.json("worker", "list") if (w["id"], w["state"]) == (worker, state)), None)


def hurried(cluster):
    """SIGTERM twice: the kill ladder starts at once, the runs go on elsewhere."""
    runs = [cluster.submit("/bin/sleep", "600") for _ in range(6)]
    cluster.await_started(runs)
    mine = [r for r in runs if cluster.run(r)["worker"] == "worker-2"]
    check(mine, "no run went to worker-2")
    began = time.monotonic()
    cluster.kill("worker-2.watchdog", "-TERM")
    wait_until(lambda: state_of(cluster, "worker-2") == "draining", 10, "the first TERM has come to worker-2")
    cluster.kill("worker-2.watchdog", "-TERM")
    wait_until(lambda: all(cluster.run(r)["worker"] == "worker-1" for r in mine), 30, "they run on worker-1")
    took = time.monotonic() - began
    for run in runs:
        cluster.ok("run", "cancel", run)
    figure("worker_hurried", handed_over=len(mine), seconds=round(took, 1))
    start_again(cluster, "worker-2")
    wait_until(lambda: state_of(cluster, "worker-2") == "online", 30, "worker-2 is back")


def second_refused(cluster, folder):
    """A second worker with the id of a running one exits with 2; the first does not notice."""
    runs = [cluster.submit("/bin/sleep", "8", options=["--worker", "worker-1"]) for _ in range(3)]
    cluster.await_started(runs)
    life = next(w["incarnation"] for w in cluster.json("worker", "list") if w["id"] == "worker-1")
    second = os.path.join(folder, "second")
    environment = dict(os.environ, ROTA_STATE_DIR=second, ROTA_HEARTBEAT_FILE=second + "/heartbeat",
                       ROTA_LISTEN_PORT="0", ROTA_HTTP_PORT="0")
    began = time.monotonic()
    done = subprocess.run([cluster.programs + "/rota-worker", "--config", cluster.folder + "/worker-1.yaml"],
                          env=environment, text=True, errors="replace", capture_output=True, timeout=600)
    took = time.monotonic() - began
    check(done.returncode == 2, f"the second worker ended with {done.returncode}: {done.stderr[-500:]}")
    check("worker-1" in done.stdout + done.stderr, "its log does not name the id")

    def lives():
        return [(w["incarnation"], w["state"]) for w in cluster.json("worker", "list") if w["id"] == "worker-1"]
    wait_until(lambda: len(lives()) == 1, 10, "the second's node is gone")
    check(lives() in ([(life, "online")], [(life, "busy")]), f"the first was touched: {lives()}")
    for run in [cluster.await_run(r) for r in runs]:
        check(run["state"] == "succeeded" and run["attempt"] == 1, f"a run of the first was cut: {run}")
    all_go_to(cluster, "worker-1", 3, "the first works on", ["--worker", "worker-1"])
    figure("second_worker_refused", seconds=round(took, 1), cut=0, exit=done.returncode)


def all_go_to(cluster, worker, count, why, options=()):
    ended = [cluster.await_run(r) for r in [cluster.submit("/bin/true", options=options) for _ in range(count)]]
    wrong = [r["id"] for r in ended if r["worker"] != worker]
    check(not wrong, f"{why}: runs {wrong} did not go to {worker}")


def drained(cluster, folder):
    """Nothing new at once, through takeover and a new life; running attempts end, or are handed over; resumed."""
    ledger = os.path.join(folder, "ledger-drained")
    runs = [cluster.submit(cluster.ledger_job(), ledger, "4000") for _ in range(8)]
    cluster.await_started(runs)
    mine = [r for r in runs if cluster.run(r)["worker"] == "worker-1"]
    cluster.ok("worker", "drain", "worker-1", "--yes", "--why", "drill")
    all_go_to(cluster, "worker-2", 6, "drained")
    wait_until(lambda: any(w["id"] == "worker-1" and w["drain"] and w["state"] == "draining"
                           for w in cluster.json("worker", "list")), 5, "it is shown as draining")
    for run in [cluster.await_run(r) for r in mine]:
        check(run["state"] == "succeeded" and run["attempt"] == 1, f"a running attempt was cut: {run}")
    before = cluster.epoch()
    cluster.kill("leader")
    wait_until(lambda: cluster.leader() and cluster.epoch() > before, 30, "a successor leads")
    all_go_to(cluster, "worker-2", 4, "after a takeover")
    life = wait_until(lambda: life_of(cluster, "worker-1", "draining"), 30, "the successor knows its life and its drain")
    cluster.kill("worker-1.proper")
    wait_until(lambda: life_of(cluster, "worker-1", "draining") not in (None, life), 30, "the new life is drained too")
    all_go_to(cluster, "worker-2", 4, "after a new life")
    cluster.ok("worker", "resume", "worker-1")
    wait_until(lambda: state_of(cluster, "worker-1") == "online", 10, "it works again")
    first = cluster.await_run(cluster.submit("/bin/true"))
    check(first["worker"] == "worker-1" and first["attempt"] == 1,
          f"worker-1 is shown online, and the next run went elsewhere, or was refused: {first}")
    all_go_to(cluster, "worker-1", 3, "after its resume", ["--worker", "worker-1"])
    enough = ledger + ".enough"
    long_runs = [cluster.submit(cluster.ledger_job(), ledger, "600000", "--until", enough) for _ in range(6)]
    cluster.await_started(long_runs)
    there = [r for r in long_runs if cluster.run(r)["worker"] == "worker-1"]
    check(there, "no run went to worker-1 after it was resumed")
    began = time.monotonic()
    cluster.ok("worker", "drain", "worker-1", "--yes", "--deadline", "1s", "--wait-at-most", "300s")
    emptied = time.monotonic() - began
    pathlib.Path(enough).touch()
    ended = {r: cluster.await_run(r, 60) for r in long_runs}
    check(all(r["state"] == "succeeded" for r in ended.values()), "a handed over run did not succeed after all")
    for run in there:
        check(ended[run]["attempts"] and ended[run]["attempts"][0]["reason"] == "handed_over",
              f"no reason recorded: {ended[run]['attempts']}")
    judged = judge_ledger(ledger)
    figure("worker_drained", finished=len(mine), handed_over=len(there), emptied_s=round(emptied, 1),
           overlap_ms=judged.get("max_overlap_ms", judged), lives=len(cluster.json("worker", "list", "--lives", "worker-1")))
    cluster.ok("worker", "resume", "worker-1")
    wait_until(lambda: state_of(cluster, "worker-1") == "online", 10, "it works again")


def handlers_known(cluster, folder):
    """Runs of a handler that nobody knows wait, and say so, under two leaders; then they go to nobody else."""
    cluster.apply(json.dumps({"name": "greet", "handler": "hello", "parameters": {"times": "1"},
                              "overlap": "allow"}))
    waiting = cluster.ok("job", "run", "greet").strip()
    words = "no worker of pool default knows handler hello"
    wait_until(lambda: words in cluster.ok("run", "why", waiting), 20, "the run says why it waits")
    check(cluster.run(waiting)["reason"] == "handler_unknown", f"{cluster.run(waiting)}")
    cluster.kill("leader")
    wait_until(lambda: cluster.is_whole() and words in cluster.ok("run", "why", waiting), 60, "a new leader says it, too")
    state = os.path.join(folder, "hello")
    environment = dict(os.environ, ROTA_ID="hello-1", ROTA_STATE_DIR=state, ROTA_HEARTBEAT_FILE=state + "/heartbeat",
                       ROTA_LISTEN_PORT="0", ROTA_HTTP_PORT="0")
    with open(os.path.join(folder, "hello.log"), "w") as log:
        program = subprocess.Popen([cluster.programs + "/hello_handler", "--config",
                                    cluster.folder + "/worker-1.yaml"], env=environment, stdout=log, stderr=log)
    try:
        runs = [cluster.ok("job", "run", "greet").strip() for _ in range(RUNS)]
        ended = [cluster.await_run(r, 90) for r in [waiting, *runs]]
    finally:
        program.terminate()
        program.wait(60)
    wrong = [(r["id"], r["state"], r["worker"]) for r in ended if (r["state"], r["worker"]) != ("succeeded", "hello-1")]
    check(not wrong, f"runs of the handler: {wrong}")
    check(all(r["attempt"] == 1 for r in ended), "a run was tried elsewhere")
    wait_until(lambda: "hello-1" not in cluster.workers_here(), 30, "the worker is gone")
    again = cluster.ok("job", "run", "greet").strip()
    wait_until(lambda: words in cluster.ok("run", "why", again), 20, "a run waits again")
    cluster.ok("run", "cancel", again)
    cluster.ok("job", "delete", "--yes", "greet")
    figure("handlers_known", runs=len(ended), elsewhere=0, leaders=2)
