"""The examples that the documents show, run as they stand."""
import json
import os
import subprocess

from cluster import ROOT, check, figure


def report(cluster):
    run = cluster.await_run(cluster.submit(str(ROOT / "examples/report.sh")))
    check(run["state"] == "succeeded", f"report.sh: {run['state']} {run['reason']}")
    check("done" in cluster.ok("run", "logs", run["id"]), "the report's output")


def dump(cluster, folder):
    """A dump of Rota's own database; two are kept of three."""
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
    cluster.ok("job", "delete", "nightly-dump")


def python_client(cluster, folder):
    """submit.py over the IDL alone, through a master that may be a follower."""
    generated = folder + "/gen"
    os.makedirs(generated, exist_ok=True)
    for name in ("common", "job"):
        subprocess.run(["thrift", "--gen", "py", "-out", generated, str(ROOT / f"thrift/{name}.thrift")],
                       check=True)
    for master in cluster.env["ROTA_MASTERS"].split(","):
        done = subprocess.run(["/usr/bin/python3", str(ROOT / "examples/submit.py"), master, "/bin/true"],
                              env=dict(os.environ, PYTHONPATH=generated), capture_output=True, text=True)
        check(done.returncode == 0 and "succeeded" in done.stdout, f"submit.py {master}: {done.stdout} {done.stderr[-600:]}")


def all_of_them(cluster, folder):
    report(cluster)
    dump(cluster, folder)
    python_client(cluster, folder)
    figure("examples", ran=3)
