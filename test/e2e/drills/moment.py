"""More ticks due in one millisecond than any batch may hold (P1, P2): no process is ended for it, and others fire."""
import re
import time

from cluster import Cluster, check, figure, now_ms, wait_until
from failover import staggered_jobs
from judged import Store

OTHERS = 20
LATE_MS = 1000  # P2, without the machine's own stalls
COPY_JOBS = """
INSERT INTO job (job_id, namespace, name, saved_name, version, state, one_off, state_by, state_why, created_ms, changed_ms)
  SELECT seq, j.namespace, CONCAT('crowd-', seq), CONCAT('crowd-', seq), 1, j.state, 0, '', '', j.created_ms, j.changed_ms
  FROM job j, seq_1_to_{count} WHERE j.name = 'pattern';
INSERT INTO job_version (job_id, version, valid_from_ms, anchor_ms, enabled, principal, definition_hash, rules, definition)
  SELECT seq, 1, v.valid_from_ms, v.anchor_ms, v.enabled, v.principal, v.definition_hash,
         COALESCE(d.rules, v.rules), COALESCE(d.body, v.definition)
  FROM seq_1_to_{count}, job_version v JOIN job j ON j.job_id = v.job_id
  LEFT JOIN definition d ON d.hash = v.content_hash WHERE j.name = 'pattern' AND v.version = 1;
"""
# The longest stretch between two batches that recorded ticks of the crowd, and how many there were.
BATCHES = """
SELECT COUNT(*), COALESCE(MAX(gap), 0) FROM (SELECT r - LAG(r) OVER (ORDER BY r) AS gap FROM
  (SELECT DISTINCT recorded_ms AS r FROM run WHERE tick_ms = {moment} AND job_id <= {count}) one) two
"""


def moment_text(at_ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms // 1000)) + f".{at_ms % 1000:03d}Z"


def make_crowd(cluster, store, count, moment):
    """Many jobs like one; the database copies its rows, because applying them one by one would take too long. Their
    ids come before all others, so that the slice reaches the others last."""
    cluster.apply(f"name: pattern\nschedule: '@every 24h'\nstart: {moment_text(moment)}\nhandler: noop\n"
                  "pool: nowhere\noverlap: allow\n")
    store.ask(COPY_JOBS.format(count=count))
    before = cluster.epoch()
    cluster.kill("leader")  # the next one reads them
    wait_until(lambda: cluster.leader() and cluster.epoch() > before, 60, "a leader that knows the crowd")


def ask_numbers(store, sql):
    return [int(float(word)) for word in store.ask(sql).split()]


def huge(programs, scratch, count, lead_s):
    """`count` jobs due in one millisecond, beside jobs that fire every second and submits."""
    cluster = Cluster(scratch + "/m", programs, masters=2, workers=1, zookeepers=1, set=["worker.slots=64"])
    try:
        cluster.up()
        store = Store(cluster)
        cluster.apply(staggered_jobs("beside", OTHERS))
        moment = (now_ms() // 1000 + lead_s) * 1000
        make_crowd(cluster, store, count, moment)
        check(now_ms() < moment, f"the crowd was made only {now_ms() - moment} ms after its moment")
        epoch = cluster.epoch()
        slowest = pass_moment(cluster, store, count, moment)
        done = now_ms()
        time.sleep(2)
        told(cluster, store, count, moment, done, slowest)
        check(cluster.epoch() == epoch, f"epoch {epoch} became {cluster.epoch()}: the leader did not last")
        cluster.verify()
    finally:
        cluster.down()


def pass_moment(cluster, store, count, moment):
    """Submits until all of the crowd is recorded; returns the slowest answer in ms."""
    slowest = 0
    recorded = f"SELECT COUNT(*) FROM run WHERE tick_ms = {moment} AND job_id <= {count}"
    time.sleep(max(0, moment - now_ms()) / 1000)
    until = now_ms() + max(120_000, count)
    while int(store.ask(recorded)) < count:
        check(now_ms() < until, f"after {now_ms() - moment} ms only {store.ask(recorded)} of {count} are recorded")
        asked = now_ms()
        cluster.submit("/bin/true")
        slowest = max(slowest, now_ms() - asked)
        time.sleep(0.2)
    return slowest


def told(cluster, store, count, moment, done, slowest):
    beside = "job_id IN (SELECT job_id FROM job WHERE name LIKE 'beside-%')"
    during = f"tick_ms BETWEEN {moment} AND {done}"
    last, = ask_numbers(store, f"SELECT MAX(recorded_ms) FROM run WHERE tick_ms = {moment} AND job_id <= {count}")
    batches, longest = ask_numbers(store, BATCHES.format(moment=moment, count=count))
    rows = [ask_numbers(store, f"SELECT {what} FROM run WHERE {beside} AND {during}")[0] for what in
            ("COUNT(*)", "COALESCE(MAX(recorded_ms - tick_ms), 0)", "COALESCE(MAX(outcome_started_ms - tick_ms), 0)")]
    stalled = cluster.stalls.within(moment, done)
    ended = len(re.findall(r"hang|SIGKILL|not beat", cluster.log("master-1.watchdog") + cluster.log("master-2.watchdog")))
    figure("huge_moment", ticks=count, total_ms=last - moment, batches=batches, longest_batch_ms=longest,
           others=rows[0], latest_other_recorded_ms=rows[1], latest_other_started_ms=rows[2],
           slowest_submit_ms=slowest, stalled_ms=stalled, watchdog_ended=ended)
    check(ended == 0, "a watchdog ended a master")
    check(rows[0] >= OTHERS * ((last - moment) // 1000), f"only {rows[0]} ticks of others fired meanwhile")
    check(rows[1] <= LATE_MS + 2 * stalled, f"a tick of another job was recorded {rows[1]} ms late")
