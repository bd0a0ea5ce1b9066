"""Retries and timeouts on real processes: what ends a run that is out of time, and when; which ends are tried again, and
where. Through the death of a leader."""
import json
import time

from cluster import check, figure, wait_until


def ended(cluster, run, state, reason):
    got = cluster.await_run(run)
    check((got["state"], got["reason"]) == (state, reason), f"run {run}: {got['state']} {got['reason']}: {got['detail']}")
    return got


def run_timeout(cluster):
    """The second attempt gets what the first has left, the leader dies meanwhile, and no third one follows."""
    cluster.apply("name: patient\ntimeout: {run: 12s}\nretry: {count: 9, delay: 1s, factor: 1}\n"
                  "script: |\n  [ \"$ROTA_ATTEMPT\" = 1 ] && { sleep 3; exit 1; }\n  sleep 600\n")
    run = cluster.ok("job", "run", "patient").strip()
    wait_until(lambda: cluster.run(run)["attempt"] == 2, 60, "the second attempt")
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the next leader")
    got = ended(cluster, run, "timed_out", "run_timeout")
    check(got["attempt"] == 2, f"{got['attempt']} attempts")
    took = got["ended_at_ms"] - got["recorded_at_ms"]
    check(took >= 11500, f"it ended after {took} ms")
    why = cluster.ok("run", "why", run)
    check("longer with all of its attempts" in why and "timeout.run: 12s" in why, why)
    cluster.ok("job", "delete", "--yes", "patient")
    return took


def no_time_left(cluster):
    cluster.apply("name: hasty\ntimeout: {run: 5s}\nretry: {count: 9, delay: 20s}\ncommand: [sh, -c, 'exit 3']\n")
    run = cluster.ok("job", "run", "hasty").strip()
    got = ended(cluster, run, "failed", "exit_status")
    check(got["attempt"] == 1 and "no time for another attempt" in got["detail"], got["detail"])
    cluster.ok("job", "delete", "--yes", "hasty")


def queue_timeout(cluster):
    cluster.apply("name: nowhere\npool: nobody-is-there\ntimeout: {queue: 3s}\ncommand: [echo, never]\n")
    began = time.monotonic()
    run = cluster.ok("job", "run", "nowhere").strip()
    got = ended(cluster, run, "timed_out", "queue_timeout")
    check(got["attempt"] == 0, "nothing ran")
    why = cluster.ok("run", "why", run)
    check("waited longer for its first attempt" in why and "timeout.queue: 3s" in why, why)
    cluster.ok("job", "delete", "--yes", "nowhere")
    return round((time.monotonic() - began) * 1000)


def not_ready(cluster):
    """The next leader counts the failures as the one before: what was not ready is none."""
    retry = {"count": 1, "delay": "1s", "again": {"exit": [75], "every": "4s", "at_most": "10m"}}
    script = "case $ROTA_ATTEMPT in 1|2|4) exit 75;; 3) exit 1;; esac\n"
    cluster.apply(json.dumps({"name": "looks", "retry": retry, "script": script}))
    run = cluster.ok("job", "run", "looks").strip()
    wait_until(lambda: len(cluster.run(run)["attempts"]) == 2, 60, "it was not ready twice")
    wait_until(lambda: "not ready yet" in cluster.ok("run", "why", run), 60, "why tells that it is not ready")
    cluster.kill("leader")
    wait_until(cluster.leader, 60, "the next leader")
    got = cluster.await_run(run)
    check((got["state"], got["attempt"]) == ("succeeded", 5), f"{got['state']} after {got['attempt']} attempts")
    took = got["ended_at_ms"] - got["recorded_at_ms"]
    check(took >= 13000, f"it took {took} ms; three pauses of 4 s and one of 1 s are in it")
    cluster.ok("job", "delete", "--yes", "looks")
    return took


def never_ready(cluster):
    again = {"exit": ["70-79"], "every": "2s", "at_most": "5s"}
    cluster.apply(json.dumps({"name": "in-vain", "retry": {"again": again}, "command": ["sh", "-c", "exit 75"]}))
    run = cluster.ok("job", "run", "in-vain").strip()
    got = ended(cluster, run, "failed", "exit_status")
    check(got["attempt"] in (2, 3) and "not ready for 5s" in got["detail"], f"{got['attempt']}: {got['detail']}")
    cluster.ok("job", "delete", "--yes", "in-vain")


def forbidden(cluster):
    for key, ends, status in (("never", [{"exit": [2, "64-78"]}], 70), ("only", ["timed_out", {"signal": [9]}], 1)):
        retry = {"count": 5, "delay": "1s", key: ends}
        cluster.apply(json.dumps({"name": key, "retry": retry, "command": ["sh", "-c", f"exit {status}"]}))
        run = cluster.ok("job", "run", key).strip()
        got = ended(cluster, run, "failed", "exit_status")
        check(got["attempt"] == 1, f"retry.{key}: {got['attempt']} attempts")
        why = cluster.ok("run", "why", run)
        check(f"retry: {key}" in why, why)
        cluster.ok("job", "delete", "--yes", key)


def another_worker(cluster):
    """Each attempt is on another worker than the one before; while there is none, the run waits."""
    for word in ("prefer", "require"):
        retry = {"count": 3, "delay": "1s", "factor": 1, "jitter": "200ms", "another_worker": word}
        cluster.apply(json.dumps({"name": word, "retry": retry, "command": ["false"]}))
        run = cluster.ok("job", "run", word).strip()
        got = ended(cluster, run, "failed", "exit_status")
        hosts = [attempt["worker"] for attempt in got["attempts"]] + [got["worker"]]
        check(len(hosts) == 4 and all(a != b for a, b in zip(hosts, hosts[1:])), f"{word}: {hosts}")
    cluster.ok("worker", "drain", "worker-2", "--yes")
    run = cluster.ok("job", "run", "require").strip()
    wait_until(lambda: "not on worker-1, its last worker" in cluster.ok("run", "why", run), 60, "it waits for another")
    preferring = ended(cluster, cluster.ok("job", "run", "prefer").strip(), "failed", "exit_status")
    check({attempt["worker"] for attempt in preferring["attempts"]} == {"worker-1"}, "prefer does not wait")
    check(cluster.run(run)["attempt"] == 1, "require does")
    cluster.ok("worker", "resume", "worker-2")
    ended(cluster, run, "failed", "exit_status")
    for word in ("prefer", "require"):
        cluster.ok("job", "delete", "--yes", word)


def all_of_them(cluster):
    took = run_timeout(cluster)
    no_time_left(cluster)
    waited = queue_timeout(cluster)
    not_ready_ms = not_ready(cluster)
    never_ready(cluster)
    forbidden(cluster)
    another_worker(cluster)
    cluster.verify()
    figure("retries", run_timeout_ms=took, queue_timeout_ms=waited, not_ready_ms=not_ready_ms)
