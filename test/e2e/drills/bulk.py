"""By hand, for many at once: a run once more, all runs of a job cancelled, all jobs with a label paused, run, deleted."""
import json

from cluster import check, figure, wait_until


def rerun(cluster):
    cluster.apply("name: greet\nparameters: {who: nobody, how: hello}\ncommand: [sh, -c, 'exit 0']\n")
    first = cluster.ok("job", "run", "greet", "--param", "who=ann").strip()
    cluster.await_run(first)
    again = cluster.ok("run", "rerun", first, "--param", "how=bye").strip()
    got = cluster.await_run(again)
    check(got["parameters"] == {"who": "ann", "how": "bye"}, str(got["parameters"]))
    cluster.apply("name: greet\ncommand: [echo, corrected]\n")
    done = cluster.rota("run", "rerun", "--wait", first)
    check(done.returncode == 0 and "was made by version 1" in done.stderr, done.stderr)
    one_off = cluster.submit("/bin/true")
    cluster.await_run(one_off)
    done = cluster.rota("run", "rerun", one_off)
    check(done.returncode == 2 and "belongs to no saved job" in done.stderr, done.stderr)
    cluster.ok("job", "delete", "--yes", "greet")


def cancel_all_of(cluster):
    cluster.apply("name: slow\noverlap: allow\ncommand: [sleep, '600']\n")
    runs = [cluster.ok("job", "run", "slow").strip() for _ in range(3)]
    done = cluster.rota("run", "cancel", "--job", "slow")
    check(done.returncode == 2 and "nothing was changed" in done.stderr, done.stderr)
    check("3 unfinished runs cancelled" in cluster.rota("run", "cancel", "--yes", "--job", "slow").stderr, "all of them")
    for run in runs:
        check(cluster.await_run(run)["state"] in ("killed", "cancelled"), f"run {run} ends")
    check(cluster.rota("run", "cancel", runs[0], "--job", "slow").returncode == 2, "either or")
    cluster.ok("job", "delete", "--yes", "slow")


def by_label(cluster):
    for name, team in (("fin-a", "fin"), ("fin-b", "fin"), ("ops-a", "ops")):
        cluster.apply(f"name: {name}\nlabels: {{team: {team}, tier: '1'}}\ncommand: [echo, hello]\n")
    state = lambda name: json.loads(cluster.ok("-o", "json", "job", "show", name))["state"]
    done = cluster.rota("job", "pause", "-l", "team=fin", "--dry-run")
    check(done.returncode == 11 and "fin-a" in done.stdout and "ops-a" not in done.stdout, done.stdout)
    done = cluster.rota("job", "pause", "-l", "team=fin")
    check(done.returncode == 2 and state("fin-a") == "enabled", "a person is asked")
    cluster.ok("job", "pause", "--yes", "-l", "team=fin", "-l", "tier=1")
    check([state(n) for n in ("fin-a", "fin-b", "ops-a")] == ["paused", "paused", "enabled"], "two are paused")
    check(cluster.rota("job", "pause", "--dry-run", "-l", "team=fin").returncode == 0, "nothing is left to do")
    done = cluster.rota("job", "run", "--yes", "-l", "team=fin", "--param", "none")
    check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"refused once, before any run: {done.stderr}")
    check(not cluster.runs("fin-a") and not cluster.runs("fin-b"), "nothing has run")
    rows = json.loads(cluster.ok("-o", "json", "job", "run", "--yes", "-l", "team=fin"))
    check([row["name"] for row in rows] == ["fin-a", "fin-b"], str(rows))
    for row in rows:
        check(cluster.await_run(row["run"])["state"] == "succeeded", "it runs, though it is paused")
    cluster.ok("job", "resume", "--yes", "-l", "team=fin")
    check(state("fin-b") == "enabled", "resumed")
    check(cluster.rota("job", "delete", "--yes", "-l", "team=nobody").returncode == 3, "no such job")
    check(cluster.rota("job", "delete", "--yes", "fin-a", "-l", "team=fin").returncode == 2, "either or")
    cluster.ok("job", "delete", "--yes", "-l", "tier=1")
    wait_until(lambda: not json.loads(cluster.ok("-o", "json", "job", "list", "fin-")), 30, "they are gone")


def all_of_them(cluster):
    rerun(cluster)
    cancel_all_of(cluster)
    by_label(cluster)
    figure("bulk", jobs=3, runs=3)
