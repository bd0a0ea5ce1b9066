"""What every process shows: /healthz, /metrics and the status page (checked as Prometheus would read them)."""
import html
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from cluster import ROOT, check, figure, wait_until

sys.path.insert(0, str(ROOT / "test/support"))
import metrics_check  # noqa: E402


STRAIGHT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # ignores this machine's proxy settings


def fetch(url, method="GET"):
    request = urllib.request.Request(url, method=method)
    try:
        with STRAIGHT.open(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def series(text):
    """Name with labels -> value."""
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if line and not line.startswith("#")}


def promtool_says(text):
    tool = shutil.which("promtool")
    if not tool:
        return "absent"
    done = subprocess.run([tool, "check", "metrics"], input=text, text=True, capture_output=True, timeout=30)
    check(done.returncode == 0, f"promtool: {done.stdout}{done.stderr}")
    return "passed"


TITLED = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def browser_says(cluster, url):
    """A real browser shows a job's name that contains markup as text."""
    tool = shutil.which("chromium") or shutil.which("google-chrome")
    if not tool:
        return "absent"
    cluster.apply(f"name: {json.dumps(TITLED)}\ncommand: [/bin/true]\n")
    shown = html.escape(TITLED, quote=False)

    def seen():
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run([tool, "--headless", "--no-sandbox", "--disable-gpu", "--no-proxy-server",
                                   f"--user-data-dir={profile}", "--dump-dom", url],
                                  text=True, capture_output=True, timeout=120)
        check("owned</title>" not in done.stdout, "the page runs what a job is called")
        return "<title>Rota, cluster" in done.stdout and shown in done.stdout
    wait_until(seen, 30, "the browser shows the job's name")
    cluster.ok("job", "delete", "--yes", TITLED)
    return "passed"


def alert_rules(names):
    """Each rule uses existing metrics: a rule with an unknown name would never fire."""
    path = ROOT / "config/alerts.yaml"
    asked = set(re.findall(r"\brota_\w+", "\n".join(
        line for line in path.read_text().splitlines() if line.strip().startswith("expr:"))))
    unknown = sorted(asked - names)
    check(asked and not unknown, f"alert rules ask for what no page shows: {unknown}")
    tool = shutil.which("promtool")
    if tool:
        done = subprocess.run([tool, "check", "rules", str(path)], text=True, capture_output=True, timeout=30)
        check(done.returncode == 0, f"promtool: {done.stdout}{done.stderr}")
    return len(asked)


def slow_and_garbage(url):
    """A client that sends garbage, or nothing, does not keep other clients from their answers."""
    place = urlsplit(url)
    idle = []
    for text in [b"", b"GET", b"\0" * 100, b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000] * 10:
        one = socket.create_connection((place.hostname, place.port), timeout=60)
        try:
            one.sendall(text)
        except OSError:
            pass
        idle.append(one)
    began = time.monotonic()
    status, _ = fetch(url + "/healthz")
    took = (time.monotonic() - began) * 1000
    for one in idle:
        one.close()
    check(status == 200, f"not answered beside slow clients: {status}")
    return took


COSTLY = """
import os, subprocess, sys, time
block = bytearray(os.urandom(1 << 20)) * 120            # 120 MiB, touched
with open("data", "wb") as file:
    file.write(block[:40 << 20])
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
with open("data", "rb") as file:
    assert len(file.read()) == 40 << 20
end = time.process_time() + 0.7
while time.process_time() < end:
    pass
child = "import time\\nwhile time.process_time() < 0.5: pass"
subprocess.run([sys.executable, "-c", child], check=True)
"""


def file_system_of(folder):
    return subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True).stdout.strip()


WRITER = """
with open("counted", "wb") as file:
    file.write(bytes(40 << 20))
print(next(line.split()[1] for line in open("/proc/self/io") if line.startswith("write_bytes")))
"""


def written_as_told(folder):
    """How much the kernel counts when a process writes 40 MiB there."""
    done = subprocess.run(["/usr/bin/python3", "-c", WRITER], cwd=folder, capture_output=True, text=True)
    pathlib.Path(folder, "counted").unlink(missing_ok=True)
    return int(done.stdout or "0")


def costs(cluster):
    """CPU time, peak memory, bytes read and written: stored with the run, also those of children, and shown."""
    run = cluster.await_run(cluster.submit("/usr/bin/python3", "-c", COSTLY))
    check(run["state"] == "succeeded", f"the costly run: {run}")
    told = run["outcome"]
    check(told["cpu_us"] >= 1_200_000, f"CPU time of program and child: {told['cpu_us']} us")
    check(told["peak_memory_bytes"] >= 120 << 20, f"peak memory: {told['peak_memory_bytes']}")
    place = file_system_of(cluster.folder)
    if written_as_told(cluster.folder) < 40 << 20:
        print(f"costs: bytes written NOT CHECKED: on {place} the kernel counts none", flush=True)
    else:
        check(told["written_bytes"] >= 40 << 20, f"written: {told['written_bytes']}")
    shown = cluster.ok("run", "show", run["id"])
    check("peak memory" in shown and "cpu" in shown, f"not shown: {shown}")
    figure("costs", cpu_ms=told["cpu_us"] // 1000, peak_mb=told["peak_memory_bytes"] >> 20,
           read_mb=told["read_bytes"] >> 20, written_mb=told["written_bytes"] >> 20, on=place)


MARKUP = "<script>alert('1')</script><img src=x onerror=\"a&b\">"


def escaped_texts(cluster, masters):
    """Names that users choose appear on the page as text, never as markup."""
    cluster.ok("worker", "drain", "worker-2", "--yes", "--why", MARKUP)
    wanted = "drained by local: &lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&lt;img src=x onerror=&quot;a&amp;b&quot;&gt;"
    wait_until(lambda: any(wanted in fetch(url + "/")[1] for url in masters), 10, "the page shows why it is drained")
    for url in masters:
        _, page = fetch(url + "/")
        check("<script" not in page and "<img" not in page, "markup of a user stands on the page")
        status, answer = fetch(url + "/%3Cscript%3E")
        check(status == 404 and "script" not in answer, "the path is answered with itself")
    cluster.ok("worker", "resume", "worker-2")


def without_secrets(cluster, text, where):
    secret = pathlib.Path(cluster.env["ROTA_DATABASE_PASSWORD_FILE"]).read_text().strip()
    check(secret and secret not in text, f"{where} shows the database's password")


SUCCEEDED = 'rota_worker_attempts_ended_total{state="succeeded"}'


def series_at(url):
    return series(fetch(url + "/metrics")[1])


def counts_all(url):
    """A leader's page is up to 100 ms old; a follower's has none of this."""
    found = series_at(url)
    here = sum(found.get('rota_workers{state="%s"}' % state, 0) for state in ("online", "busy", "warning"))
    return found.get("rota_ticks_fired_total", 0) >= 2 and here == 2


def pages(cluster):
    masters = cluster.env["ROTA_MASTER_PAGES"].split(",")
    workers = cluster.env["ROTA_WORKER_PAGES"].split(",")
    runs = [cluster.submit("/bin/true") for _ in range(5)]
    for run in runs:
        cluster.await_run(run)
    cluster.apply("name: pages\nschedule: '@every 1s'\ncommand: [/bin/true]\n")
    wait_until(lambda: len(cluster.runs("pages")) >= 2, 30, "ticks fire")
    wait_until(lambda: any(counts_all(url) for url in masters), 30, "the leader counts ticks and workers")
    wait_until(lambda: sum(series_at(url)[SUCCEEDED] for url in workers) >= 7, 30, "the workers count what they ran")
    leading = families = 0
    names = set()
    verdict = "absent"
    for url in masters + workers:
        status, text = fetch(url + "/metrics")
        check(status == 200, f"{url}/metrics: {status}")
        problems, count = metrics_check.problems_in(text)
        check(not problems, f"{url}/metrics: {problems[:3]}")
        families += count
        verdict = promtool_says(text)
        found = series(text)
        names.update(name.split("{")[0] for name in found)
        check(found["process_cpu_seconds_total"] > 0 and found["process_open_fds"] > 0, "no process figures")
        leading += found.get("rota_master_leading", 0)
        if found.get("rota_master_leading"):
            check(found["rota_tick_lateness_seconds_count"] >= 2, "no lateness was counted")
            check(found["rota_batch_seconds_count"] > 0, "no batch was timed")
        status, word = fetch(url + "/healthz")
        check(status == 200 and (word == "ok\n" or word.startswith(("degraded", "starting"))), f"{url}/healthz: {status} {word}")
        status, page = fetch(url + "/")
        check(status == 200 and "<html" in page and "<script" not in page, f"{url}/: {status}")
        for shown in (text, word, page):
            without_secrets(cluster, shown, url)
        check(fetch(url + "/", "POST")[0] == 405 and fetch(url + "/nothing")[0] == 404, "refusals")
    check(leading == 1, f"{leading} masters say that they lead")
    vitals = wait_until(lambda: (lambda v: all(v) and v)([w["vitals"] for w in cluster.json("worker", "list") if w["state"] != "offline"]), 15,
                        "every worker has told its vitals")
    check(all(v["disk_free_bytes"] > 0 and v["threads"] > 0 for v in vitals), f"vitals: {vitals}")
    escaped_texts(cluster, masters)
    browser = browser_says(cluster, masters[0])
    beside_slow = max(slow_and_garbage(masters[0]), slow_and_garbage(workers[0]))
    cluster.ok("job", "delete", "--yes", "pages")
    rules = alert_rules(names)
    figure("pages", alert_series=rules, processes=len(masters + workers), families=families, promtool=verdict, browser=browser,
           beside_slow_ms=round(beside_slow))
