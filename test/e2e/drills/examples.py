"""Runs the examples of the documents as written."""
import json
import os
import subprocess

from cluster import ROOT, check, figure, wait_until


def report(cluster):
    run = cluster.await_run(cluster.submit(str(ROOT / "examples/report.sh")))
    check(run["state"] == "succeeded", f"report.sh: {run['state']} {run['reason']}")
    check("done" in cluster.ok("run", "logs", run["id"]), "the report's output")


def dump(cluster, folder):
    """A dump of Rota's own database; of three, two are kept."""
    cluster.apply(json.dumps({
        "name": "nightly-dump", "schedule": "15 2 * * *",
        "command": [str(ROOT / "examples/nightly_dump.sh")],
        "parameters": {"folder": folder + "/dumps", "keep": "2"},
        "environment": {k: v for k, v in cluster.env.items() if k.startswith("ROTA_DATABASE_")}}))
    for _ in range(3):
        run = cluster.await_run(cluster.ok("job", "run", "nightly-dump").strip())
        check(run["state"] == "succeeded", cluster.rota("run", "logs", run["id"]).stderr[-500:])
    files = os.listdir(folder + "/dumps")
    check(len(files) == 2 and all(f.endswith(".sql.gz") for f in files), f"dumps kept: {files}")
    cluster.ok("job", "delete", "--yes", "nightly-dump")


def python_client(cluster, folder):
    """submit.py uses only the IDL, through a master that may be a follower."""
    generated = folder + "/gen"
    os.makedirs(generated, exist_ok=True)
    for file in sorted((ROOT / "thrift").glob("*.thrift")):
        subprocess.run(["thrift", "--gen", "py", "-out", generated, str(file)],
                       check=True)
    for master in cluster.env["ROTA_MASTERS"].split(","):
        done = subprocess.run(["/usr/bin/python3", str(ROOT / "examples/submit.py"), master, "/bin/true"],
                              env=dict(os.environ, PYTHONPATH=generated), capture_output=True, text=True)
        check(done.returncode == 0 and "succeeded" in done.stdout, f"submit.py {master}: {done.stdout} {done.stderr[-600:]}")


def parts(cluster, folder):
    """parts.sh on a worker that is completely killed in the middle: the next attempt goes on, on any worker."""
    ledger = folder + "/parts"
    cluster.apply(json.dumps({
        "name": "parts", "command": [str(ROOT / "examples/parts.sh")],
        "parameters": {"parts": "40", "seconds": "0.2", "ledger": ledger}}))
    run = cluster.ok("job", "run", "parts").strip()
    wait_until(lambda: int((cluster.run(run)["checkpoint"] or {"value": "0"})["value"]) >= 10, 30,
               "a tenth part is stored")
    cluster.kill(cluster.run(run)["worker"])
    ended = cluster.await_run(run, 90)
    check(ended["state"] == "succeeded" and ended["attempt"] > 1, f"parts.sh: {ended}")
    check(ended["outcome"]["result"] == "40 parts", f"its result: {ended['outcome']}")
    check(ended["progress"]["percent"] == 100, f"its progress: {ended['progress']}")
    lines = [line.split() for line in open(ledger).read().splitlines()]
    by_attempt = {a: [int(p) for t, p in lines if t == a] for a, _ in lines}
    began_again = by_attempt.pop(str(ended["attempt"]))[0]
    done_before = max(part for parts in by_attempt.values() for part in parts)  # of one, or of several
    check(1 < began_again <= done_before + 1, f"the last attempt began with part {began_again} after {done_before}")
    check({int(p) for _, p in lines} == set(range(1, 41)), "every part was done")
    figure("checkpoint", attempts=ended["attempt"], done_before=done_before, began_again_with=began_again,
           done_twice=len(lines) - 40)
    cluster.ok("job", "delete", "--yes", "parts")


def all_of_them(cluster, folder):
    report(cluster)
    parts(cluster, folder)
    dump(cluster, folder)
    python_client(cluster, folder)
    figure("examples", ran=4)
