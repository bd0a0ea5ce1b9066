"""The commands that show and wait: what people need first."""
import json
import subprocess
import time

from cluster import check, figure, wait_until


def waiting(cluster):
    """--wait says why a run does not begin, --wait-at-most implies --wait, and run wait exits by the run's result."""
    done = cluster.rota("submit", "--pool", "nowhere", "--wait-at-most", "5s", "--", "/bin/true")
    check(done.returncode == 6, f"--wait-at-most alone: exit {done.returncode}: {done.stderr}")
    check('has not begun: ' in done.stderr and 'pool "nowhere"' in done.stderr, f"no reason is told: {done.stderr}")
    run = done.stderr.split()[1]
    cluster.ok("run", "cancel", run)
    check(cluster.rota("run", "wait", run).returncode == 10, "a cancelled run is no success")
    good = cluster.submit("/bin/sleep", "0.2")
    check(cluster.rota("run", "wait", good).returncode == 0, "a success")
    long = cluster.submit("/bin/sleep", "60")
    done = cluster.rota("run", "wait", long, "--wait-at-most", "1s")
    check(done.returncode == 6 and "goes on" in done.stderr, done.stderr)
    return long


def showing(cluster, running):
    """One worker, its runs, the newest run of a job, YAML, and a repeated list."""
    worker = wait_until(lambda: cluster.run(running)["worker"], 20, "it was given to a worker")
    shown = wait_until(lambda: (lambda text: running in text and text)(cluster.ok("worker", "show", worker)), 10,
                       "worker show names what runs there")
    check("LIFE" in shown and "figures of" in shown, shown)
    check(cluster.rota("worker", "show", "nobody").returncode == 3, "a worker that was never here")
    listed = [run["id"] for run in cluster.json("run", "list", "--worker", worker)]
    check(running in listed, f"{running} is not among the runs of {worker}")
    check(cluster.json("run", "list", "--worker", "nobody") == [], "runs of nobody")
    cluster.ok("run", "cancel", running)
    cluster.apply("name: seen\ncommand: [/bin/false]\n")
    check(" - " in cluster.ok("job", "list", "seen"), "it has not run yet")
    check(cluster.rota("job", "run", "seen", "--wait-at-most", "60s").returncode == 10, "it failed")
    check("failed" in cluster.ok("job", "list", "seen"), "the list tells its last result")
    check('name: "seen"' in cluster.ok("-o", "yaml", "job", "show", "seen"), "YAML")
    again = subprocess.Popen([cluster.programs + "/rota", "-o", "json", "job", "list", "--watch", "seen"], env=cluster.env,
                             stdout=subprocess.PIPE, text=True)
    try:
        check(json.loads(again.stdout.readline())[0]["last_run"]["state"] == "failed", "a document is one line")
        cluster.ok("job", "pause", "seen")
        check(json.loads(again.stdout.readline())[0]["state"] == "paused", "another one when something has changed")
    finally:
        again.kill()
        again.wait()
    cluster.ok("job", "delete", "--yes", "seen")


def completing(cluster):
    """The shells' scripts ask --complete; bash runs its own."""
    cluster.apply("name: completed\ncommand: [/bin/true]\n")

    def words(*begun):
        done = subprocess.run([cluster.programs + "/rota", "--complete", *begun], env=cluster.env, text=True,
                              capture_output=True, timeout=60)
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    check("completed" in words("job", "show", "comp"), "names of jobs")
    check("worker-1" in words("worker", "drain", ""), "names of workers")
    check(words("-o", "y") == ["yaml"], "values of an option")
    script = cluster.ok("completion", "bash")
    done = subprocess.run(["bash", "-c", script + '\nCOMP_WORDS=(rota run w); COMP_CWORD=2; _rota; echo "${COMPREPLY[@]}"'],
                          env={**cluster.env, "PATH": cluster.programs + ":/usr/bin:/bin"}, text=True, capture_output=True, timeout=60)
    check(done.stdout.split() == ["why", "wait"] or sorted(done.stdout.split()) == ["wait", "why"], done.stdout + done.stderr)
    cluster.ok("job", "delete", "--yes", "completed")


def all_of_them(cluster):
    began = time.monotonic()
    showing(cluster, waiting(cluster))
    completing(cluster)
    figure("asking", seconds=f"{time.monotonic() - began:.1f}")
