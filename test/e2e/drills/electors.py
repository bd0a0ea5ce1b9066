"""Each elector: the leader dies, the elector's servers go away, and masters of two electors at once.
No tick is lost or doubled, no job is killed, and who stands by says why."""
import json
import os
import pathlib
import subprocess
import time

from cluster import Cluster, check, figure, now_ms, wait_until
from eyes import fetch
from office import Led

SERVERS = {"zookeeper": "zookeeper", "mysql": "mariadb", "etcd": "etcd"}
STANDS_BY = "the database names the elector '{}', and this master is configured for '{}'"


def needs(elector):
    """Why it cannot be drilled here; empty: it can."""
    return "" if elector != "etcd" or os.path.exists("/usr/bin/etcd") else "etcd-server is not installed"


def started(programs, folder, **shape):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder + "/c", programs, masters=2, workers=1, **shape)
    try:
        return cluster.up()
    except BaseException:
        cluster.down()
        raise


def other_leads(cluster, than, since_ms):
    wait_until(lambda: cluster.leader() not in (None, than), 60, f"another than {than} leads")
    return now_ms() - since_ms - cluster.stalls.within(since_ms)


def goes(cluster, led, how):
    """The leader goes in that way; the other takes office. Returns how long nobody led."""
    leader = wait_until(cluster.leader, 30, "a leader")
    began = now_ms()
    if how == "stopped":
        cluster.script("stop", leader)
    else:
        cluster.kill(leader + ".host")
    took = other_leads(cluster, leader, began)
    led.goes_on()
    cluster.script("start", leader)
    wait_until(lambda: sum(1 for m in cluster.json("cluster", "status")["masters"] if m["address"]) == 2, 30,
               "both masters are here")
    return took


def restarted(cluster, led):
    """kill -9 of the leader, its watchdog alive: its lease does not have to lapse."""
    epoch = cluster.epoch()
    began = int(cluster.kill("leader")["at_ms"])

    def is_led_again():
        done = cluster.rota("-o", "json", "--deadline", "2s", "cluster", "status")
        return done.returncode == 0 and json.loads(done.stdout)["epoch"] > epoch
    wait_until(is_led_again, 60, "a leader after the kill")
    took = now_ms() - began - cluster.stalls.within(began)
    led.goes_on()
    return took


def servers_away(cluster, led, name, seconds):
    """The elector's servers stop for a while. Without etcd ticks go on, without the others they are made up for."""
    epoch, began = cluster.epoch(), time.time()
    cluster.script("stop", name)
    time.sleep(seconds)
    if name == "etcd":
        check(cluster.epoch() == epoch, "the leader changed while etcd was away")
        check(any(r["scheduled_at_ms"] > began * 1000 + 1000 for r in led.runs()), "ticks stood still without etcd")
    cluster.script("start", name)
    wait_until(cluster.leader, 60, "a leader after the servers' return")
    led.goes_on()
    return cluster.epoch() - epoch


def one(programs, folder, elector, long):
    cluster = started(programs, folder, elector=elector)
    try:
        led = Led(cluster)
        away = 60 if long else 12
        run = cluster.submit("sleep", str(2 * away + 60))
        cluster.await_started([run])
        killed = restarted(cluster, led)
        stopped, host = goes(cluster, led, "stopped"), goes(cluster, led, "killed")
        changes = servers_away(cluster, led, SERVERS[elector], away)
        wait_until(lambda: cluster.run(run)["state"] != "dispatched", 30, "the worker's word of the job is stored again")
        row = cluster.run(run)
        check(row["state"] == "running" and row["attempt"] == 1, f"the job did not go on: {row['state']}, {row['attempt']}")
        cluster.ok("run", "cancel", run)
        ticks = led.end()
        figure("elector_" + elector, killed_ms=killed, stopped_ms=stopped, host_died_ms=host, away_s=away, epochs_after=changes,
               missing=ticks["missing"], doubled=ticks["doubled"])
    finally:
        cluster.down()


def master(cluster, name, *words):
    return subprocess.run([cluster.programs + "/rota-master", "--config", f"{cluster.folder}/{name}.yaml", *words],
                          text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)


def says_everywhere(cluster, name, text):
    """On its page and health, in its log, and in the cluster's status."""
    page = cluster.env["ROTA_MASTER_PAGES"].split(",")[int(name[-1]) - 1]
    places = {"log": lambda: cluster.log(name), "healthz": lambda: fetch(page + "/healthz")[1],
              "page": lambda: fetch(page + "/")[1].replace("&#39;", "'"), "status": lambda: cluster.ok("cluster", "status")}
    for place, look in places.items():
        wait_until(lambda: text in " ".join(look().split()), 40, f"{place} of {name} says: {text}")


def two_at_once(programs, folder):
    """master-2 is configured for another elector than the one in force; then the elector is changed."""
    cluster = started(programs, folder, set=["master-2.elector=mysql"])
    try:
        led = Led(cluster)
        check(cluster.leader() == "master-1", "a master whose elector is not in force leads")
        says_everywhere(cluster, "master-2", STANDS_BY.format("zookeeper", "mysql"))
        epoch = cluster.epoch()
        unasked = master(cluster, "master-1", "--set-elector", "mysql")
        check(unasked.returncode == 1 and "nothing was changed" in unasked.stderr, f"not asked: {unasked}")
        check(cluster.epoch() == epoch, "a change that was not confirmed changed the leader")
        began = now_ms()
        done = master(cluster, "master-1", "--set-elector", "mysql", "--yes")
        check(done.returncode == 0 and "takes office next: master-2" in done.stdout, f"set-elector: {done}")
        took = other_leads(cluster, "master-1", began)
        says_everywhere(cluster, "master-1", STANDS_BY.format("mysql", "zookeeper"))
        check(cluster.leader() == "master-2", "the old elector's master came back")
        led.goes_on()
        again = master(cluster, "master-1", "--set-elector", "mysql", "--yes")
        check(again.returncode == 0 and "already" in again.stdout, f"the same again: {again}")
        ticks = led.end()
        figure("two_electors", change_ms=took, missing=ticks["missing"], doubled=ticks["doubled"])
    finally:
        cluster.down()


# name -> what it needs, and function with (programs, folder, long)
DRILLS = {
    "elector_zookeeper": ("zookeeper", lambda programs, folder, long: one(programs, folder, "zookeeper", long)),
    "elector_mysql": ("mysql", lambda programs, folder, long: one(programs, folder, "mysql", long)),
    "elector_etcd": ("etcd", lambda programs, folder, long: one(programs, folder, "etcd", long)),
    "two_electors": ("mysql", lambda programs, folder, long: two_at_once(programs, folder)),
}
