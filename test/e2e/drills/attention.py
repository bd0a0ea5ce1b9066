"""What needs somebody is told with a command that helps, by the leader and by a follower."""
import json

from cluster import check, figure, wait_until


def told(cluster):
    # A test machine may be short of disk or memory, which is told too.
    before = {(one["kind"], one["subject"]) for one in cluster.json("attention")}
    quiet = cluster.rota("attention")
    check(quiet.returncode == 0, f"attention without --check: {quiet.stderr}")

    for job in ({"name": "breaks", "command": ["/bin/false"]},
                {"name": "homeless", "pool": "nowhere", "command": ["/bin/true"]},
                {"name": "slow", "schedule": "@every 1s", "overlap": "skip", "command": ["/bin/sleep", "600"]}):
        cluster.ok("job", "apply", "--yes", "-f", "-", input=json.dumps(job))
    cluster.ok("job", "run", "breaks")
    cluster.ok("job", "run", "homeless")

    def found():
        items = [one for one in cluster.json("attention") if (one["kind"], one["subject"]) not in before]
        by_kind = {(one["kind"], one["subject"]): one for one in items}
        wanted = (("failed", "breaks"), ("waits", "homeless"), ("stuck", "slow"))
        return all(key in by_kind for key in wanted) and by_kind

    items = wait_until(found, 40, "a failed, a waiting and a stuck job are told")
    check(items[("waits", "homeless")]["level"] == "error", "a run without a pool stands still")
    check(items[("stuck", "slow")]["level"] == "error", "a stuck job is an error")
    check(items[("failed", "breaks")]["level"] == "warning", "a failed run is a warning")
    for item in items.values():
        words = item["command"].split()
        if not words:
            continue
        check(words[0] == "rota", f"a command of rota: {item['command']}")
        done = cluster.rota(*words[1:])
        check(done.returncode == 0, f"{item['command']}: {done.stderr}")
    check(cluster.rota("attention", "--check").returncode == 1, "--check says that something is wrong")
    check("$ rota run why" in cluster.ok("attention"), "for people, with commands")

    cluster.ok("job", "pause", "slow")
    for run in cluster.json("run", "list", "--state", "running", "--state", "queued", "--state", "waiting"):
        cluster.rota("run", "cancel", str(run["id"]))
    wait_until(lambda: not any(one["kind"] in ("stuck", "waits") for one in cluster.json("attention")), 30,
               "nothing is stuck and nothing waits")
    figure("attention", told=len(items), before=len(before))
