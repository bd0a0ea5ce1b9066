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
    local(folder)
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


# --- the hook for this host, with a program that stands in for a worker

def local(folder):
    """Nobody is accepted as stopped whom it does not know, and who is to go does not count as one that stays."""
    place = pathlib.Path(folder, "local")
    place.mkdir(parents=True)
    (place / "base.yaml").write_text("cluster: rota\nid: other\nslots: 2\n")
    worker = place / "worker"
    worker.write_text("#!/bin/sh\nexec sleep 600\n")
    worker.chmod(0o755)
    memory = place / "scaled/etl.json"

    def call(sequence, keep, *stoppable):
        text = json.dumps({"sequence": sequence, "pool": "etl", "keep": keep,
                           "stoppable": [{"worker": name, "incarnation": "i"} for name in stoppable]})
        done = subprocess.run([HOOK, "--base", place / "base.yaml", "--dir", place / "scaled", "--program", worker, "--others", "2"],
                              input=text, text=True, capture_output=True, timeout=60)
        return done.returncode, sorted(json.loads(memory.read_text())["workers"]), done.stderr
    try:
        check(call(1, 3)[:2] == (0, ["etl-1"]), "two are there, one is started")
        code, workers, told = call(2, 3, "other-1")
        check(code == 1 and workers == ["etl-1", "etl-2"] and "other-1 is not one" in told, f"{code} {workers} {told}")
        check(call(2, 3, "other-1")[:2] == (1, ["etl-1", "etl-2"]), "again: it fails, and starts nobody")
        check(call(3, 2, "etl-2")[:2] == (0, ["etl-1"]), "its own one is stopped")
        check(call(3, 2, "etl-2")[:2] == (0, ["etl-1"]), "a repeat of what is done is accepted")
        check(call(4, 1, "etl-9")[0] == 1, "it never started that one")
        check(call(2, 9)[:2] == (0, ["etl-1"]), "an older call is dropped")
    finally:
        last = json.loads(memory.read_text())["sequence"] + 1
        call(last, 0, *json.loads(memory.read_text())["workers"])


# --- the hook for Kubernetes, against a stand-in of its API server

PODS = "/api/v1/namespaces/jobs/pods/"
SCALE = "/apis/apps/v1/namespaces/jobs/deployments/rota-workers"


class ApiServer:
    def __init__(self):
        self.asked, self.notes, self.replicas, self.status, self.ending = [], {}, 0, {}, set()
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == SCALE + "/scale":
                    return self.answer({"kind": "Scale", "spec": {"replicas": api.replicas} if api.replicas else {},
                                        "status": {"replicas": 99}})
                return self.answer({"metadata": {"annotations": api.notes}})

            def do_PATCH(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                api.asked.append((self.path, body, self.headers["Content-Type"], self.headers["Authorization"]))
                if self.path.startswith(PODS):
                    return self.answer_of_pod()
                if self.path in api.status:
                    return self.send_error(api.status[self.path])
                api.replicas = body.get("spec", {}).get("replicas", api.replicas)
                api.notes.update(body.get("metadata", {}).get("annotations", {}))
                return self.answer({})

            def do_DELETE(self):
                api.asked.append(("DELETE " + self.path, None, None, self.headers["Authorization"]))
                self.answer_of_pod(True)

            def answer_of_pod(self, ends=False):
                pod = self.path.removeprefix(PODS)
                if pod in api.status:
                    return self.send_error(api.status[pod])
                if ends:
                    api.ending.add(pod)
                ending = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if pod in api.ending else {}
                return self.answer({"metadata": {"name": pod, **ending}})

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

    def of_pods(self):
        """Pods that were marked, and "DELETE" and those that were deleted, since it was last asked."""
        paths = [path.replace(PODS, "") for path, *_ in self.asked if PODS in path]
        self.asked.clear()
        return paths


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

    def gives(replicas, *words, fails=False):
        done = call(*words)
        check((done.returncode != 0) == fails and api.replicas == replicas, f"{words}: {done} {api.replicas} {api.asked}")
        return done.stderr
    try:
        gives(3, 7, 3)
        path, body, kind, who = api.asked[-1]
        check(path == SCALE + "/scale", path)
        check(body == {"spec": {"replicas": 3}} and kind == "application/merge-patch+json", f"{body} {kind}")
        check(who == "Bearer secret", f"{who}")
        pods_of_calls(api, gives)
        api.server.shutdown()
        api.server.server_close()
        check(call(99, 2).returncode != 0, "a call that nobody answers fails")
    finally:
        api.server.shutdown()


def pods_of_calls(api, gives):
    """Nobody is stopped who is not named, whatever fails; who is named never stays. Three replicas."""
    api.status["gone"] = 404
    api.asked.clear()
    gives(2, 8, 1, "rota-1", "gone")                      # one is to go, and the other one has gone
    deleted = ["rota-1", "gone", "DELETE rota-1"]
    check(api.of_pods() == deleted, f"{api.asked}")
    gives(2, 7, 3)                                        # an older call is dropped
    check(not api.asked, f"{api.asked}")
    gives(2, 8, 1, "rota-1", "gone")                      # the same call again changes nothing
    gives(2, 9, 1, "rota-1")                              # it ends already, and is no replica any more
    gives(2, 10, 0)                                       # `keep` has fallen, and nobody is named
    for status in (500, 403, 401):
        api.status["rota-2"] = status
        api.asked.clear()
        check(f"rota-2: status {status}" in gives(2, 11, 1, "rota-2", fails=True), "the pod and its status are told")
        check([path for path, *_ in api.asked] == [PODS + "rota-2"], f"{api.asked}")
    del api.status["rota-2"]
    api.status[SCALE + "/scale"] = 500
    gives(2, 11, 0, "rota-2", fails=True)                 # written down, and not done: the next try does it
    check("DELETE rota-2" not in api.of_pods(), "it is not deleted before replicas fall")
    api.status["rota-2"] = 404
    api.status.pop(SCALE + "/scale")
    gives(2, 11, 0, "rota-2")                             # unless it has gone by itself: others stay
    del api.status["rota-2"]
    gives(1, 12, 0, "rota-2")
    api.ending.clear()                                    # as if it was cut off before it deleted the pod
    gives(1, 12, 0, "rota-2")
    check(api.of_pods().count("DELETE rota-2") == 2, "its repeat deletes the pod")
    api.ending.clear()
    gives(4, 13, 4, "rota-3")                             # load is back
    check(api.of_pods() == ["rota-3", "DELETE rota-3"], "who is named is stopped all the same")
    api.replicas, api.notes["rota/sequence"] = 9, "13"
    gives(8, 14, 8, "rota-4")
    gives(0, 15, 0, *(f"rota-{n}" for n in range(10, 18)))
    gives(0, 16, 0)
