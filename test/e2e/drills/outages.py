"""ZooKeeper and the database go away, for a time or by kill -9: no job is killed or rerun, ticks go on or
are made up for, nothing acknowledged is lost (P10, P19, P20)."""
import os
import pathlib
import time

from cluster import check, figure, judge_ledger, now_ms, wait_until
from failover import Load


def long_runs(cluster, ledger, count, millis):
    runs = [cluster.submit(cluster.ledger_job(), ledger, str(millis)) for _ in range(count)]
    cluster.await_started(runs)
    time.sleep(1)
    return runs


def process_starts(cluster):
    """Watchdogs write one line for each start of their process."""
    logs = [pathlib.Path(cluster.folder, name, name + ".watchdog.log")
            for name in ("master-1", "master-2", "worker-1", "worker-2")]
    return sum(log.read_text(errors="replace").count(" started pid=") for log in logs)


def both_gone(cluster, folder, seconds, runs=8):
    """ZooKeeper down for a while, then the database, with commands running all the time."""
    ledger = os.path.join(folder, "ledger-outage")
    cluster.apply("name: through\nschedule: '@every 1s'\nhandler: noop\noverlap: allow\n")
    started = long_runs(cluster, ledger, runs, (2 * seconds + 25) * 1000)
    epoch, starts = cluster.epoch(), process_starts(cluster)
    check(starts >= 4, f"{starts} starts are told of, of four processes")

    cluster.script("stop", "zookeeper")
    began = now_ms()
    time.sleep(seconds)

    def ticks_since():
        return [r for r in cluster.runs("through", limit=500) if r["scheduled_at_ms"] >= began + 1000]
    wait_until(lambda: len(ticks_since()) >= seconds - 4, 2, "ticks go on without ZooKeeper")
    ticks = ticks_since()
    late = max(r["recorded_at_ms"] - r["scheduled_at_ms"] for r in ticks)
    cluster.script("start", "zookeeper")
    wait_until(cluster.leader, 30, "a leader after ZooKeeper's return")
    after_zookeeper = cluster.epoch()
    time.sleep(4)

    cluster.script("stop", "mariadb")
    down_at = now_ms()
    time.sleep(seconds)
    cluster.script("start", "mariadb")
    back_at = now_ms()
    wait_until(lambda: any(r["scheduled_at_ms"] > down_at and r["recorded_at_ms"] for r in
                           (cluster.runs("through", limit=5) if cluster.leader() else [])), 20,
               "ticks after the database's return")
    made_up = now_ms() - back_at - cluster.stalls.within(back_at)
    after_database = cluster.epoch()

    ended = [cluster.await_run(r, 2 * seconds + 90) for r in started]
    bad = [(r["id"], r["state"], r["reason"], r["attempt"]) for r in ended
           if r["state"] != "succeeded" or r["attempt"] != 1]
    check(not bad, f"killed or rerun: {bad}")
    judge_ledger(ledger)
    cluster.ok("job", "delete", "--yes", "through")
    cluster.verify()
    check(process_starts(cluster) == starts, "a Rota process ended because of the outage")
    check(after_zookeeper - epoch <= 1 and after_database - after_zookeeper <= 1,
          f"leaders changed too often: epochs {epoch}, {after_zookeeper}, {after_database}")
    figure("both_gone", seconds=seconds, runs=runs, killed=0, rerun=0, ticks_without_zookeeper=len(ticks),
           late_without_zookeeper_ms=late, held_up=",".join(cluster.delays()) or "never", made_up_within_ms=made_up,
           epochs=f"{epoch}/{after_zookeeper}/{after_database}")
    check(made_up <= 15000, "ticks were not made up for in time")


def servers_killed(cluster, times=1):
    """kill -9 of both servers under a load of submits: everything acknowledged is there afterwards."""
    with Load(cluster, 3) as load:
        for _ in range(times):
            time.sleep(2)
            cluster.kill("mariadb")
            cluster.kill("zookeeper")
            time.sleep(1)
            cluster.script("start", "mariadb")
            cluster.script("start", "zookeeper")
            wait_until(cluster.leader, 40, "a leader again")
            time.sleep(3)
        wait_until(lambda: len(load.runs) > 20, 20, "some submits get through")
    acknowledged = load.runs
    lost = [r for r in acknowledged if cluster.await_run(r, 60)["state"] != "succeeded"]
    check(not lost, f"acknowledged and lost, or not done: {lost[:5]}")
    cluster.verify()
    figure("servers_killed", times=times, acknowledged=len(acknowledged), lost=0)
