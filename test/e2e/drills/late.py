"""After an outage of an hour late ticks are caught up at a rate, and live ticks are as soon as ever. A freeze, and what
its end starts; what is said about any moment."""
import json
import subprocess
import time

import pages
from cluster import Cluster, check, figure, now_ms, wait_until
from judged import Store

HOUR_MS = 3_600_000
RATE = 20
LIVE = "name: live\nschedule: '@every 1s'\nhandler: noop\noverlap: allow\n"
# Jobs that stand there since before the outage; no leader has led since. They begin at the watermark, so that no tick
# of theirs lies before it.
COPY_JOBS = """
INSERT INTO job (job_id, namespace, name, saved_name, version, state, one_off, state_by, state_why, created_ms, changed_ms)
  SELECT seq, j.namespace, CONCAT('late-', seq), CONCAT('late-', seq), 1, j.state, 0, '', '', j.created_ms - {back}, j.changed_ms - {back}
  FROM job j, seq_1_to_{count} WHERE j.name = 'pattern';
INSERT INTO job_version (job_id, version, valid_from_ms, anchor_ms, enabled, principal, definition_hash, rules, definition)
  SELECT seq, 1, w.value_ms - {back}, v.anchor_ms - {back}, v.enabled, v.principal, v.definition_hash,
         COALESCE(d.rules, v.rules), COALESCE(d.body, v.definition)
  FROM watermark w, seq_1_to_{count}, job_version v JOIN job j ON j.job_id = v.job_id
  LEFT JOIN definition d ON d.hash = v.content_hash WHERE j.name = 'pattern' AND v.version = 1;
UPDATE job SET ticks_through_ms = (SELECT value_ms FROM watermark) WHERE job_id > {count};
UPDATE watermark SET value_ms = value_ms - {back}, reaching_ms = NULL, job_id = NULL;
"""
CAUGHT_UP = "FROM run WHERE job_id <= {count} AND recorded_ms - tick_ms > 60000"


def after_an_hour(programs, scratch, count):
    cluster = Cluster(scratch + "/l", programs, masters=1, workers=1, zookeepers=1, set=["worker.slots=64"])
    try:
        cluster.up()
        store = Store(cluster)
        cluster.apply("name: pattern\nschedule: '*/10 * * * *'\nhandler: noop\n")
        cluster.apply(LIVE)
        time.sleep(3)
        cluster.script("stop", "master-1")
        store.ask(COPY_JOBS.format(count=count, back=HOUR_MS))
        cluster.script("start", "master-1")
        wait_until(cluster.leader, 60, "a leader after the outage")
        # To Rota a watermark that went back is a restored database.
        accepted = subprocess.run([cluster.programs + "/rota-master", "--accept-restore", "--config",
                                   cluster.folder + "/master-1.yaml"], env=cluster.env, text=True, capture_output=True)
        check(accepted.returncode == 0, f"--accept-restore: {accepted.stderr[-500:]}")
        watch_catch_up(cluster, store, count)
        cluster.verify()
    finally:
        cluster.down()


def watch_catch_up(cluster, store, count):
    began = now_ms()
    caught_up = CAUGHT_UP.format(count=count)
    wait_until(lambda: int(store.ask(f"SELECT COUNT(*) {caught_up}")) == count, 60, "all late ticks are recorded")
    waiting = store.ask(f"SELECT run_id {caught_up} AND state = 'waiting' ORDER BY run_id DESC LIMIT 1")
    # A run newer than what the leader last published is told without its place, and on a busy machine all slots
    # are taken for a moment: then it waits for one first.
    def told():
        text = cluster.ok("run", "why", waiting)
        return text if "stands for late ticks" in text and "caught up at 20 a" in text else None

    shown = wait_until(told, 5, "rota run why tells the pace at which late ticks are caught up")
    documented = pages.text_block("docs/late.md", "waiting: ")
    shown = shown[:shown.index("\ndecided by")]  # the checks behind it are in docs/why.md
    check(pages.shape(shown) == pages.shape(documented), f"docs/late.md says\n{documented}of\n{shown}")
    left = f"SELECT COUNT(*) {caught_up} AND state <> 'succeeded'"
    wait_until(lambda: store.ask(left) == "0", count // RATE + 60, "all are caught up")
    first, last = (int(word) for word in store.ask(f"SELECT MIN(dispatched_ms), MAX(dispatched_ms) {caught_up}").split())
    live = ("SELECT COUNT(*), MAX(r.dispatched_ms - r.tick_ms) FROM run r JOIN job j ON j.job_id = r.job_id "
            f"WHERE j.name = 'live' AND r.tick_ms BETWEEN {first} AND {last}")
    ticks, latest = (int(float(word)) for word in store.ask(live).split())
    gaps = int(float(store.ask(f"SELECT SUM(tick_count) FROM gap WHERE job_id <= {count} AND reason = 'coalesced_into'")))
    rate = (count - 1) * 1000 / max(last - first, 1)
    held_up = cluster.stalls.within(began) if cluster.stalls else 0
    figure("after_an_hour", caught_up=count, seconds=round((last - first) / 1000, 1), a_second=round(rate, 1),
           live_ticks=ticks, latest_live_ms=latest, coalesced=gaps, held_up_ms=held_up)
    check(rate <= RATE + 1, f"{rate} a second were caught up")
    check(latest - held_up <= 1000, f"a live tick was {latest} ms late")


def tick_why(cluster, name, at_ms):
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms // 1000)) + f".{at_ms % 1000:03d}Z"
    return cluster.json("job", "why", name, "--at", at)


def freezes(cluster, folder):
    """A freeze outlives its leader; its end starts one run that names it; every moment can be asked for."""
    cluster.apply("name: icy\nschedule: '@every 1s'\nhandler: noop\noverlap: allow\n")
    wait_until(lambda: cluster.runs("icy"), 20, "it fires")
    fired = cluster.runs("icy")[0]
    done = cluster.rota("freeze", "--until", "1h")
    check(done.returncode == 2, f"it was frozen without a question: {done.stdout} {done.stderr}")
    frozen = cluster.json("freeze", "--namespace", "default", "--until", "1h", "--why", "release", "--yes")
    time.sleep(2)
    cluster.kill("leader")
    wait_until(lambda: "frozen until" in cluster.rota("cluster", "status").stdout, 60, "the next leader knows it")
    time.sleep(2)
    gaps = json.loads(cluster.ok("-o", "json", "job", "gaps", "icy"))
    check(all(gap["reason"] == "frozen" for gap in gaps) and gaps, f"gaps: {gaps}")
    middle = (gaps[0]["from_ms"] if "from_ms" in gaps[0] else gaps[0]["from_at_ms"])
    check(tick_why(cluster, "icy", middle)["what"] == "frozen", "a frozen tick is not told")
    check(tick_why(cluster, "icy", fired["scheduled_at_ms"])["run"] == str(fired["id"]), "a fired tick is not told")
    check(tick_why(cluster, "icy", fired["scheduled_at_ms"] + 1)["what"] == "not_planned", "between two ticks")
    check(tick_why(cluster, "icy", middle + 600_000)["what"] == "frozen", "a tick that will be frozen is not told")
    cluster.ok("freeze", "end", "--namespace", "default", "--yes")
    made_up = wait_until(lambda: [r for r in cluster.runs("icy") if r["kind"] == "after_freeze"], 20, "its run")
    check(len(made_up) == 1, f"{len(made_up)} runs stand for one freeze")
    run = cluster.await_run(made_up[0]["id"])
    told = tick_why(cluster, "icy", run["scheduled_at_ms"])
    check(told["what"] == "frozen" and told["run"] == str(run["id"]), f"what is said of it: {told}")
    check(any(f["id"] == frozen["id"] and f["state"] == "over" for f in cluster.json("freeze", "list")), "the list")
    cluster.verify()
    cluster.ok("job", "delete", "--yes", "icy")
    examples = pages.documented(cluster, "docs/late.md", folder + "/pages-late")
    figure("freezes", gaps=len(gaps), made_up=1, takeovers=1, examples=examples)
