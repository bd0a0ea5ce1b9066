"""`rota verify` must notice eight changes to a correct history, each made in the store and then undone."""
import json
import subprocess

from cluster import Failure, check, figure, now_ms, wait_until

LOGS_SETTLE_MS = 15_000  # until then verify assumes that output is on its way


class Store:
    """The cluster's database, accessed without Rota."""

    def __init__(self, cluster):
        self.words = ["mariadb", "--no-defaults", "--user=root", f"--socket={cluster.database_socket()}",
                      "--batch", "--skip-column-names"]
        self.words.append(self.ask("SELECT table_schema FROM information_schema.tables WHERE table_name = 'watermark'"))

    def ask(self, sql):
        done = subprocess.run(self.words + [f"--execute={sql}"], text=True, capture_output=True, timeout=120)
        check(done.returncode == 0, f"{sql}: {done.stderr}")
        return done.stdout.strip()


def changes(store, retried, printed):
    """(name, the change, its undoing) on the newest ticks; the jobs are paused."""
    last, before = store.ask("SELECT run_id FROM run WHERE tick_ms IS NOT NULL "
                             "ORDER BY run_id DESC LIMIT 2").split()
    keep = f"CREATE TABLE kept AS SELECT * FROM run WHERE run_id = {before}"
    copy = (f"{keep}; UPDATE kept SET run_id = {last} + 1000, tick_ms = tick_ms + 137, request_key = NULL; "
            "INSERT INTO run SELECT * FROM kept")
    # The attempt before the retry: the very first may have been refused, or lost before it began.
    failed = store.ask(f"SELECT MIN(attempt) FROM attempt WHERE run_id = {retried} AND outcome_state = 'failed'")
    of_printed = f"FROM log_chunk WHERE run_id = {printed}"
    first_attempt = f"WHERE run_id = {retried} AND attempt = {failed}"
    return [
        ("a run deleted", f"{keep}; DELETE FROM run WHERE run_id = {before}",
         "INSERT INTO run SELECT * FROM kept; DROP TABLE kept"),
        ("a run added", copy, f"DELETE FROM run WHERE run_id = {last} + 1000; DROP TABLE kept"),
        ("a tick shifted", f"UPDATE run SET tick_ms = tick_ms + 1000 WHERE run_id = {last}",
         f"UPDATE run SET tick_ms = tick_ms - 1000 WHERE run_id = {last}"),
        ("attempts overlapping", f"UPDATE attempt SET outcome_ended_ms = outcome_ended_ms + 60000 {first_attempt}",
         f"UPDATE attempt SET outcome_ended_ms = outcome_ended_ms - 60000 {first_attempt}"),
        ("an older epoch's row", f"UPDATE run SET epoch = epoch - 1 WHERE run_id = {last}",
         f"UPDATE run SET epoch = epoch + 1 WHERE run_id = {last}"),
        ("output gone", f"CREATE TABLE kept AS SELECT * {of_printed}; DELETE {of_printed}",
         "INSERT INTO log_chunk SELECT * FROM kept; DROP TABLE kept"),
        ("output altered", f"CREATE TABLE kept AS SELECT * {of_printed}; "
         f"UPDATE log_chunk SET content = 'A line' WHERE run_id = {printed}",
         f"DELETE {of_printed}; INSERT INTO log_chunk SELECT * FROM kept; DROP TABLE kept"),
    ]


def broken_promises(cluster, masters=None):
    words = ["--masters", masters] if masters else []
    done = cluster.rota(*words, "-o", "json", "verify", timeout=60)
    check(done.returncode in (0, 1), f"verify: exit {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    check(report["ok"] == (done.returncode == 0), "verify's exit status and its report differ")
    return [c["promise"] for c in report["checks"] if not c["ok"]]


def both_masters(cluster):
    """The leader's id and the follower's address; None while one of them is away."""
    masters = cluster.json("cluster", "status")["masters"]
    leaders = [m["id"] for m in masters if m["leads"]]
    followers = [m["address"] for m in masters if not m["leads"] and m["address"]]
    return (leaders[0], followers[0]) if leaders and followers else None


def watermark_ahead(cluster, store):
    """A follower verifies while the leader is stopped and so does not write its watermark.

    A machine that stands still meanwhile lets the other master take over, which writes its own: then again."""
    for _ in range(5):
        leader, follower = wait_until(lambda: both_masters(cluster), 30, "a leader and a follower")
        cluster.kill(leader, "-STOP")
        try:
            store.ask("UPDATE watermark SET value_ms = value_ms + 60000")
            ahead = store.ask("SELECT value_ms FROM watermark")
            broken = broken_promises(cluster, follower)
            was_ahead = store.ask("SELECT value_ms FROM watermark") == ahead
            store.ask(f"UPDATE watermark SET value_ms = value_ms - 60000 WHERE value_ms = {ahead}")
        finally:
            cluster.kill(leader, "-CONT")
        if broken or was_ahead:
            return broken
    raise Failure("the leader was replaced before a follower could verify, five times")


def read_by_all(cluster):
    """A run that is old enough to be judged and whose output each master has read and may remember."""
    printed = cluster.submit("/bin/echo", "a line of output")
    ended = cluster.await_run(printed)["ended_at_ms"]
    for master in cluster.env["ROTA_MASTERS"].split(","):
        wait_until(lambda: "a line" in cluster.ok("--masters", master, "run", "logs", printed), 30, "the output is read")
    return printed, ended


def seen(cluster):
    printed, ended = read_by_all(cluster)
    cluster.apply("name: judged\nschedule: '@every 1s'\noverlap: allow\ncommand: [/bin/true]\n")
    retried = cluster.submit("/bin/false", options=["--retries", "1"])
    cluster.await_run(retried)
    store = Store(cluster)
    wait_until(lambda: len(cluster.runs("judged", state="succeeded")) >= 5, 30, "five ticks")
    cluster.ok("job", "pause", "judged")
    wait_until(lambda: all(r["ended_at_ms"] for r in cluster.runs("judged")), 30, "all runs end")
    wait_until(lambda: now_ms() - ended > LOGS_SETTLE_MS + 1000, 20, "the output is old enough")
    found = []
    for name, do, undo in changes(store, retried, printed):
        cluster.verify()
        store.ask(do)
        try:
            broken = broken_promises(cluster)
        finally:
            store.ask(undo)
        if not broken:
            raise Failure(f"verify did not notice: {name}")
        found.append(f"{name}: {'+'.join(broken)}")
    ahead = watermark_ahead(cluster, store)
    check(ahead, "verify did not notice a watermark ahead of its time")
    found.append(f"the watermark ahead: {'+'.join(ahead)}")
    wait_until(cluster.leader, 30, "a leader")
    cluster.await_verified()
    cluster.ok("job", "delete", "--yes", "judged")
    figure("judged", changes=len(found), noticed=len(found), which="; ".join(found).replace(" ", "_"))
