"""A pool grows from one worker to ten under a wave of load and shrinks again, by the example hook; no run is cut."""
import json
import pathlib
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cluster import ROOT, Cluster, check, figure, wait_until

MOST = 10
SLOTS = 2
RUNS = 80
HOOK = str(ROOT / "examples/scale_local.py")


def hooks_of(folder, programs):
    return [{"name": "local", "timeout": "60s", "command": [
        HOOK, "--base", folder + "/scale-base.yaml", "--dir", folder + "/scaled", "--program", programs + "/rota-worker"]},
            {"name": "broken", "command": ["/bin/false"]}]


def all_of_them(programs, folder):
    kubernetes(folder)
    hooks = hooks_of(folder, programs)
    cluster = Cluster(folder + "/autoscale", programs, masters=2, workers=0, set=[
        "master.hooks=" + json.dumps(hooks), "master.workers.dead_after_ms=3000"])
    try:
        cluster.up()
        base = f'cluster: rota\nslots: {SLOTS}\nzookeeper:\n  connect: "127.0.0.1:{cluster.zookeeper_port()}"\n  server_tick_ms: 500\n'
        pathlib.Path(folder, "scale-base.yaml").write_text(base)
        refused(cluster)
        wave(cluster, folder)
        given_up(cluster)
        cluster.verify()
    finally:
        stop_all(folder)
        cluster.down()


def stop_all(folder):
    """The workers that the hook started: by its own means, as a call would."""
    for name in pathlib.Path(folder, "scaled").glob("*.json"):
        known = json.loads(name.read_text())
        call = {"sequence": known["sequence"] + 1, "pool": name.stem, "keep": 0,
                "stoppable": [{"worker": worker} for worker in known["workers"]]}
        subprocess.run(hooks_of(folder, "")[0]["command"], input=json.dumps(call), text=True, timeout=300)


def pool_of(cluster, pool="default"):
    return next((p for p in cluster.json("autoscale", "list") if p["pool"] == pool), None)


def refused(cluster):
    for words, what in ((["--min-workers", "5", "--max-workers", "2"], "more than max-workers"),
                        (["--hook", "nowhere"], "name no such hook"), (["--min-workers", "-1"], "--min-workers"),
                        (["--max-workers", "20000"], "out of range")):
        done = cluster.rota("pool", "set", "default", *words)
        check(done.returncode != 0 and what in done.stderr, f"{words}: {done.stderr}")


def wave(cluster, folder):
    ledger = folder + "/autoscale-ledger"
    for name, value in (("cool_down_ms", "2s"), ("average_ms", "1s")):
        cluster.ok("setting", "set", "autoscale." + name, value)
    cluster.ok("pool", "set", "default", "--min-workers", "1", "--max-workers", str(MOST), "--hook", "local")
    began = time.monotonic()
    wait_until(lambda: len(cluster.workers_here()) == 1, 60, "the first worker")
    command = f"echo start $ROTA_RUN_ID >> {ledger}; sleep 2; echo end $ROTA_RUN_ID >> {ledger}"
    cluster.apply(json.dumps({"name": "wave", "overlap": "allow", "retry": {"count": 0}, "loss": {"then": "never"},
                              "command": ["/bin/sh", "-c", command]}))
    runs = [cluster.ok("job", "run", "wave").strip() for _ in range(RUNS)]
    wait_until(lambda: (lambda p: p and p["wanted"] == MOST)(pool_of(cluster)), 60, "ten workers are wanted")
    cluster.kill("leader")
    grown = wait_until(lambda: len(cluster.workers_here()) >= MOST, 120, "ten workers are here")
    check(grown, "ten workers")
    most_at = round(time.monotonic() - began, 1)
    ended = [cluster.await_run(run, 180) for run in runs]
    wrong = [run for run in ended if run["state"] != "succeeded" or run["attempt"] != 1]
    check(not wrong, f"{len(wrong)} runs were cut: {wrong[:2]}")
    cluster.kill("leader")
    wait_until(lambda: (lambda p: p and p["wanted"] == 1 and p["workers"] == 1 and p["leaving"] == 0)(pool_of(cluster)),
               120, "one worker is left")
    lines = pathlib.Path(ledger).read_text().splitlines()
    starts, ends = (sorted(line.split()[1] for line in lines if line.startswith(word)) for word in ("start", "end"))
    check(starts == ends and len(starts) == RUNS, f"{len(starts)} commands began, {len(ends)} ended")
    changes = cluster.json("autoscale", "changes", "default")
    check(all(1 <= c["wanted"] <= MOST for c in changes), f"{changes}")
    wait_until(lambda: pool_of(cluster)["call"]["state"] == "delivered", 60, "the last call is delivered")
    named = {worker for c in changes for worker in c["stoppable"]}
    check(len(named) == MOST - 1, f"{named} were named as stoppable")
    shown = cluster.json("pool", "show", "default")
    check(shown["wanted_workers"] == 1 and shown["hook"] == "local", f"{shown}")
    figure("autoscale", runs=RUNS, cut=0, grown_after_s=most_at, seconds=round(time.monotonic() - began, 1),
           changes=len(changes), epochs=len({c["epoch"] for c in changes}))


def given_up(cluster):
    """A hook that fails for good is told, and the number stays within its limits."""
    cluster.ok("setting", "set", "autoscale.tries", "2")
    cluster.ok("pool", "set", "other", "--min-workers", "3", "--hook", "broken")
    wait_until(lambda: (lambda p: p and p["call"] and p["call"]["state"] == "given_up")(pool_of(cluster, "other")), 60,
               "the hook is given up")
    told = [one for one in cluster.json("attention") if one["kind"] == "autoscale"]
    check(told and "broken" in told[0]["sentence"], f"{told}")
    cluster.ok("pool", "set", "other", "--min-workers", "none", "--hook", "none")


# --- the hook for Kubernetes, against a stand-in of its API server

class ApiServer:
    def __init__(self):
        self.asked, self.sequence, self.replicas = [], "", 0
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                notes = {"rota/sequence": api.sequence} if api.sequence else {}
                self.answer({"metadata": {"annotations": notes}})

            def do_PATCH(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                api.asked.append((self.path, body, self.headers["Content-Type"], self.headers["Authorization"]))
                if "/pods/gone" in self.path:
                    return self.send_error(404)
                api.replicas = body.get("spec", {}).get("replicas", api.replicas)
                notes = body.get("metadata", {}).get("annotations", {})
                api.sequence = notes.get("rota/sequence", api.sequence)
                return self.answer({})

            def answer(self, body):
                text = json.dumps(body, indent=1).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def kubernetes(folder):
    api = ApiServer()
    token = pathlib.Path(folder, "kube-token")
    token.write_text("secret")
    env = {"PATH": "/usr/bin:/bin", "KUBE_API": api.url, "KUBE_TOKEN_FILE": str(token), "KUBE_CA_FILE": "", "no_proxy": "127.0.0.1"}

    def call(sequence, keep, *stoppable):
        text = json.dumps({"sequence": sequence, "pool": "etl", "wanted": keep, "keep": keep,
                           "stoppable": [{"worker": name, "incarnation": "i"} for name in stoppable]},
                          separators=(",", ":"))
        return subprocess.run([str(ROOT / "examples/scale_kubernetes.sh"), "jobs", "rota-workers"], input=text, env=env,
                              text=True, capture_output=True, timeout=60)
    try:
        done = call(7, 3)
        check(done.returncode == 0 and api.replicas == 3, f"{done.stderr} {api.asked}")
        path, body, kind, who = api.asked[-1]
        check(path == "/apis/apps/v1/namespaces/jobs/deployments/rota-workers/scale", path)
        check(body == {"spec": {"replicas": 3}} and kind == "application/merge-patch+json", f"{body} {kind}")
        check(who == "Bearer secret", f"{who}")
        check(call(8, 1, "rota-1", "gone").returncode == 0 and api.replicas == 1, f"{api.asked}")
        costs = [path for path, body, _, _ in api.asked if "/pods/" in path]
        check(costs == ["/api/v1/namespaces/jobs/pods/rota-1", "/api/v1/namespaces/jobs/pods/gone"], f"{costs}")
        check(call(7, 3).returncode == 0 and api.replicas == 1, "an older call is dropped")
        check(call(8, 1).returncode == 0 and api.replicas == 1, "the same call again changes nothing")
        api.server.shutdown()
        api.server.server_close()
        check(call(9, 2).returncode != 0, "a call that nobody answers fails")
    finally:
        api.server.shutdown()
