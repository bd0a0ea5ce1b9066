"""What follows when workers are lost: a job that kills its host does not go through the fleet (P5), and a job with
`loss: confirm` starts again only once somebody has confirmed that its worker is dead."""
import os
import time

from cluster import Cluster, check, figure, judge_ledger, wait_until
from documents import at_terminal

WORKERS = 4
HOST_KILLER = """\
name: host-killer
script: |
  # Ends its worker like a kernel panic: the warden, and the watchdog that would restart it.
  pid=$PPID
  victims=
  while [ "$pid" -gt 1 ]; do
    case $(tr '\\0' ' ' </proc/$pid/cmdline) in *rota-worker*|*rota-warden*|*watchdog*) victims="$victims $pid" ;; esac
    pid=$(awk '{print $4}' /proc/$pid/stat)
  done
  sleep 1
  kill -9 $victims
  sleep 600
"""


def at_most_three_hosts(cluster):
    """Each attempt kills the worker that it runs on; the fourth worker is left alone."""
    cluster.apply(HOST_KILLER)
    began = time.monotonic()
    run = cluster.ok("job", "run", "host-killer").strip()
    ended = cluster.await_run(run, 120)
    check((ended["state"], ended["reason"]) == ("lost", "loss_limit"), f"{ended['state']} {ended['reason']}")
    check(ended["attempt"] == 3 and ended["losses"] == 3, f"{ended['attempt']} attempts, {ended['losses']} losses")
    hosts = {attempt["worker"] for attempt in ended["attempts"]} | {ended["worker"]}
    why = cluster.ok("run", "why", run)
    check("loss 3 of at most 3" in why and "look whether it harms" in why, why)
    shown = cluster.ok("run", "show", run)
    check("3 times with its workers, at most 3" in shown, shown)
    for worker in sorted(hosts):
        cluster.script("start", worker)
    wait_until(lambda: len(cluster.workers_here()) == WORKERS, 60, "all workers are back")
    return len(hosts), time.monotonic() - began


def confirmed(cluster, folder):
    """The host of a run is gone for good: the run waits, says for what, survives a change of leader, and goes on."""
    ledger = os.path.join(folder, "ledger-confirmed")
    cluster.apply(f"name: asks\nloss: confirm\ncommand: [{cluster.ledger_job()}, {ledger}, '600000']\n")
    run = cluster.ok("job", "run", "asks").strip()
    cluster.await_started([run])
    time.sleep(1.5)
    worker = cluster.run(run)["worker"]
    refused = cluster.rota("worker", "confirm-dead", "--yes", worker)
    check(refused.returncode == 5 and "is registered" in refused.stderr, f"{refused.returncode} {refused.stderr}")
    check(cluster.rota("worker", "confirm-dead", "--yes", "typo").returncode == 3, "no such worker")
    cluster.kill(worker + ".host")
    wait_until(lambda: "confirm-dead " + worker in cluster.ok("run", "why", run), 40, "the run says what it waits for")
    cluster.kill("leader")
    wait_until(cluster.leader, 30, "another leader")
    time.sleep(10)
    check(cluster.run(run)["attempt"] == 1, "nothing follows without a confirmation")
    told = [cluster.programs + "/rota", "worker", "confirm-dead", "--why", "its host burnt", worker]
    status, _, shown = at_terminal(told, cluster.env, [("[y/N]", lambda: "n\n")])
    check(status == 2 and f"run {run} (asks) attempt 1: starts again" in shown, f"{status}: {shown}")
    time.sleep(2)
    check(cluster.run(run)["attempt"] == 1, "a no changes nothing")
    status, out, _ = at_terminal(told, cluster.env, [("[y/N]", lambda: "y\n")])
    check(status == 0 and f"{worker} confirmed dead" in out, f"{status}: {out}")
    wait_until(lambda: cluster.run(run)["attempt"] == 2 and cluster.run(run)["state"] == "running", 30, "it runs again")
    check(cluster.run(run)["worker"] != worker, "elsewhere")
    again = cluster.rota("worker", "confirm-dead", "--yes", worker)
    check(again.returncode == 0 and "nothing waits" in again.stderr, f"{again.returncode} {again.stderr}")
    cluster.script("start", worker)
    wait_until(lambda: worker in cluster.workers_here(), 30, "the dead one is back after all")
    lives = cluster.ok("worker", "list", "--lives", worker)
    check("confirmed dead by local: its host burnt" in lives, lives)
    time.sleep(2)
    check(cluster.run(run)["attempt"] == 2, "and changes nothing")
    cluster.ok("run", "cancel", run)
    cluster.await_run(run)
    return judge_ledger(ledger).get("max_overlap_ms")


def all_of_them(programs, folder):
    # The job must see its worker's processes, so no namespace hides them.
    cluster = Cluster(folder + "/losses", programs, masters=2, workers=WORKERS, pages="no",
                      set=["worker.containment=scan"])
    try:
        cluster.up()
        hosts, seconds = at_most_three_hosts(cluster)
        overlap = confirmed(cluster, folder)
        losses = next(check for check in cluster.verify()["checks"] if check["promise"] == "P5")
        check(losses["planned"] >= 2, f"verify has looked at {losses}")
        figure("losses", hosts_killed=hosts, of=WORKERS, seconds=f"{seconds:.1f}", overlap_ms=overlap)
    finally:
        cluster.down()
