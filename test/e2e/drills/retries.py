"""Retries and timeouts on real processes: what ends a run that is out of time, and when, through the death of a leader."""
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


def all_of_them(cluster):
    took = run_timeout(cluster)
    no_time_left(cluster)
    waited = queue_timeout(cluster)
    cluster.verify()
    figure("retries", run_timeout_ms=took, queue_timeout_ms=waited)
