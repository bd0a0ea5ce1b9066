"""Scripts, http calls, handlers in a process of their own, and a checkpoint that outlives its worker."""
import contextlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import threading
import time

from cluster import check, figure, wait_until


def ended(cluster, job, seconds=60, **fields):
    """Applies the job, runs it once, returns the run's end, and deletes the job."""
    cluster.apply(json.dumps({"name": job, **fields}))
    run = cluster.ok("job", "run", job).strip()
    end = cluster.await_run(run, seconds)
    cluster.ok("job", "delete", "--yes", job)
    return end


# --- scripts --------------------------------------------------------------------------------------

SCRIPTS = {
    "/bin/sh": 'echo "result sh $ROTA_PARAM_WHO" >&"$ROTA_FD"',
    "bash": 'words=(bash "$ROTA_PARAM_WHO"); echo "result ${words[*]}" >&"$ROTA_FD"',
    "python3": 'import os\nos.write(int(os.environ["ROTA_FD"]), b"result python3 " + os.environb[b"ROTA_PARAM_WHO"] + b"\\n")',
    "node": 'require("fs").writeSync(+process.env.ROTA_FD, `result node ${process.env.ROTA_PARAM_WHO}\\n`)',
    "perl -w": 'open(my $rota, ">&=", $ENV{ROTA_FD}) or die; print $rota "result perl $ENV{ROTA_PARAM_WHO}\\n"',
}


PATH = "/usr/local/bin:/usr/bin:/bin"  # not the worker's own: that is of whoever has started it


def scripts(cluster):
    ran = []
    for interpreter, text in SCRIPTS.items():
        program = interpreter.split()[0]
        end = ended(cluster, "script", script=text, interpreter=interpreter, parameters={"who": "you"},
                    environment={"PATH": PATH})
        if shutil.which(program, path=PATH) is None:
            check(f"'{program}' was not found" in end["outcome"]["message"], f"{program}: {end['outcome']}")
            continue
        check(end["state"] == "succeeded", f"{interpreter}: {end['outcome']}")
        check(end["outcome"]["result"] == f"{os.path.basename(program)} you", f"{interpreter}: {end['outcome']}")
        ran.append(program)
    end = ended(cluster, "script", script="x", interpreter="no-such-interpreter -x", environment={"PATH": PATH})
    check(end["reason"] == "start_failed" and "'no-such-interpreter' was not found on this worker" in
          end["outcome"]["message"], f"a missing interpreter: {end['outcome']}")
    figure("scripts", interpreters=",".join(ran), missing_one=repr(end["outcome"]["message"]))


# --- http -----------------------------------------------------------------------------------------

class Site:
    """A server on the loopback: /ok, /flaky (503 twice, then 200), /moved, /hang, /large."""

    def __init__(self):
        self.asked, self.lock, self.over = [], threading.Lock(), threading.Event()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                site.answer(self, b"")

            def do_POST(self):
                site.answer(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, call, body):
        with self.lock:
            self.asked.append((call.command, call.path, dict(call.headers), body))
            before = sum(1 for _, path, _, _ in self.asked if path == call.path) - 1
        status, text = {"/flaky": (503 if before < 2 else 200, b"at last"), "/moved": (302, b""),
                        "/large": (200, b"0123456789abcdef" * 524288)}.get(call.path, (200, b"fine " + body))
        if call.path == "/hang":
            self.over.wait(120)
            return
        call.send_response(status)
        if call.path == "/moved":
            call.send_header("Location", "/ok")
        call.send_header("Content-Length", str(len(text)))
        call.end_headers()
        call.wfile.write(text)

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_address[1]}{path}"

    def of(self, path):
        with self.lock:
            return [one for one in self.asked if one[1] == path]

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


def http_answers(cluster, site):
    end = ended(cluster, "call", handler="http", parameters={
        "url": site.url("/ok"), "body": "{\"ä\": 1}", "header.Content-Type": "application/json"})
    check(end["state"] == "succeeded" and end["outcome"]["result"] == "fine {\"ä\": 1}", f"/ok: {end}")
    method, _, headers, body = site.of("/ok")[0]
    check(method == "POST" and body == "{\"ä\": 1}".encode(), f"what was sent: {method} {body}")
    check(headers["Content-Type"] == "application/json" and headers["Rota-Run"] == str(end["id"]), f"{headers}")
    end = ended(cluster, "call", handler="http", retry={"count": 3, "delay": "100ms"},
                parameters={"url": site.url("/flaky")})
    check(end["state"] == "succeeded" and end["attempt"] == 3, f"/flaky: {end}")
    keys = {headers["Idempotency-Key"] for _, _, headers, _ in site.of("/flaky")}
    check(len(keys) == 1, f"one key for all attempts of a run: {keys}")
    end = ended(cluster, "call", handler="http", parameters={"url": site.url("/moved")})
    check(end["state"] == "failed" and "status 302, expected 200-299" in end["outcome"]["message"], f"/moved: {end}")
    check(len(site.of("/ok")) == 1, "a redirect is not followed unless that is asked for")
    end = ended(cluster, "call", handler="http", parameters={"url": site.url("/moved"), "redirects": "1"})
    check(end["state"] == "succeeded" and len(site.of("/ok")) == 2, f"/moved, followed: {end}")
    end = ended(cluster, "call", handler="http", output_cap_bytes=65536, parameters={"url": site.url("/large")})
    check(end["state"] == "succeeded" and end["outcome"]["stdout_bytes"] == 8 << 20, f"/large: {end['outcome']}")
    kept = len(cluster.ok("run", "logs", "--stdout", str(end["id"])))
    check(kept < 200_000, f"of a large answer the cap is kept, not {kept} bytes")
    refused = cluster.rota("job", "apply", "--yes", "-f", "-", input=json.dumps(
        {"name": "call", "handler": "http", "parameters": {"url": "htp://x"}}))
    check(refused.returncode != 0 and "must be http://HOST" in refused.stderr, f"a wrong address: {refused}")
    return kept


def http_hangs(cluster, site):
    """As many calls hang as there are slots; the worker's beat goes on, and a cancellation ends them."""
    cluster.apply(json.dumps({"name": "hang", "handler": "http", "overlap": "allow",
                              "parameters": {"url": site.url("/hang"), "timeout": "10m"}}))
    hung = [cluster.ok("job", "run", "hang").strip() for _ in range(8)]
    wait_until(lambda: len(site.of("/hang")) == 8, 30, "eight calls hang")
    workers = {w["id"]: w["incarnation"] for w in cluster.json("worker", "list")}
    began = time.monotonic()
    for run in hung:
        cluster.ok("run", "cancel", run)
    ends = [cluster.await_run(run) for run in hung]
    took = time.monotonic() - began
    check({end["state"] for end in ends} == {"killed"}, f"{[end['state'] for end in ends]}")
    check({w["id"]: w["incarnation"] for w in cluster.json("worker", "list")} == workers, "the workers live on")
    cluster.ok("job", "delete", "--yes", "hang")
    end = ended(cluster, "call", handler="http", parameters={"url": site.url("/hang"), "timeout": "300ms"})
    check(end["state"] == "failed" and "timed out" in end["outcome"]["message"], f"its own timeout: {end['outcome']}")
    return round(took, 2)


def http_calls(cluster):
    site = Site()
    try:
        kept = http_answers(cluster, site)
        took = http_hangs(cluster, site)
        figure("http", calls=len(site.asked), kept_of_8MiB=kept, hung=8, cancelled_after_s=took)
    finally:
        site.close()


# --- a process of its own -------------------------------------------------------------------------

def handler_process(run):
    """The pid of the run's handler; None while there is none."""
    wanted = f"ROTA_RUN_ID={run}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
            if b"--handler" in words and wanted in open(f"/proc/{pid}/environ", "rb").read().split(b"\0"):
                return int(pid)
        except OSError:
            continue
    return None


def isolated(cluster):
    """Handlers that crash and hang, beside one inside the same worker that must notice nothing."""
    def start(job, **fields):
        cluster.apply(json.dumps({"name": job, "handler": "sleep", "worker": "worker-1", **fields}))
        return cluster.ok("job", "run", job).strip()

    def hung(number):
        for seconds in (1, 5, 25):  # it must be found before its time is over
            run = start(f"hang-{number}", isolation="process", timeout=f"{seconds}s", kill_grace="200ms",
                        parameters={"for_ms": "60000"})
            pid = wait_until(lambda: handler_process(run) or (cluster.run(run)["ended_at_ms"] and -1), 20,
                             "the handler's process")
            stopped = False
            with contextlib.suppress(ProcessLookupError):
                if pid > 0:
                    os.kill(pid, signal.SIGSTOP)
                    stopped = True
            end = cluster.await_run(run)
            if stopped or seconds == 25:
                return end

    life = {w["id"]: w["incarnation"] for w in cluster.json("worker", "list")}["worker-1"]
    beside = start("beside", parameters={"for_ms": "3600000"})
    crashes, hangs = [], []
    for number in range(6):
        run = start(f"crash-{number}", isolation="process", parameters={"for_ms": "60000"})
        os.kill(wait_until(lambda: handler_process(run), 20, "the handler's process"), signal.SIGSEGV)
        crashes.append(cluster.await_run(run))
        # The kill ladder wakes a stopped process, so that it can act on its TERM.
        hangs.append(hung(number))
    check({(e["reason"], e["outcome"]["signal"]) for e in crashes} == {("signalled", 11)}, f"{crashes}")
    check({e["state"] for e in hangs} == {"timed_out"}, f"{hangs}")
    run = start("fine", isolation="process", parameters={"for_ms": "50"})
    fine = cluster.await_run(run)
    check(fine["state"] == "succeeded", f"{fine}")
    check(cluster.run(beside)["state"] in ("running", "dispatched"), "the run beside goes on")
    check({w["id"]: w["incarnation"] for w in cluster.json("worker", "list")}["worker-1"] == life,
          "the worker is in the same life")
    cluster.ok("run", "cancel", beside)
    end = cluster.await_run(beside)
    check(end["state"] == "killed", "the run beside is cancelled")
    check(end["outcome"]["cpu_us"] is not None and end["outcome"]["peak_memory_bytes"] is None,
          f"its thread's costs are told, its memory as not known: {end['outcome']}")
    for job in ["beside", "fine"] + [f"{what}-{n}" for what in ("crash", "hang") for n in range(6)]:
        cluster.ok("job", "delete", "--yes", job)
    figure("isolated", crashed=len(crashes), hung=len(hangs), workers_lost=0,
           last_hang=repr(hangs[-1]["outcome"]["message"]))


# --- locks ----------------------------------------------------------------------------------------

LOCKED = """exec "$ROTA" lock door --wait --ttl 10s -- /bin/sh -c '
mkdir "$1" || echo "two at once" >>"$1.wrong"
sleep 0.2
echo "$ROTA_LOCK_TOKEN" >>"$1.tokens"
rmdir "$1"' lock "$DOOR"
"""


def locked_commands(cluster):
    """Commands run one at a time, on whichever worker; a holder of the lock is killed."""
    door = os.path.join(cluster.folder, "door")
    rota = cluster.programs + "/rota"
    options = ["--env", f"ROTA={rota}", "--env", f"DOOR={door}"]
    first = cluster.submit(rota, "lock", "door", "--ttl", "10s", "--", "/bin/sh", "-c", "echo in; exec sleep 600")
    wait_until(lambda: "in" in cluster.ok("run", "logs", first).split(), 20, "the first has the lock")
    refused = cluster.await_run(cluster.submit(rota, "lock", "door", "--", "/bin/true"))
    check(refused["outcome"]["exit_status"] == 6, f"a lock that another has: {refused}")
    runs = [cluster.submit("/bin/sh", "-c", LOCKED, options=options) for _ in range(6)]
    time.sleep(0.5)
    check(not os.path.exists(door + ".tokens"), "nobody came in while the first has the lock")
    cluster.ok("run", "cancel", first)
    workers = {end["worker"] for end in map(cluster.await_run, runs) if check_good(end)}
    check(not os.path.exists(door + ".wrong"), "two commands had the lock at once")
    tokens = [int(line) for line in open(door + ".tokens")]
    check(len(tokens) == 6 and tokens == sorted(set(tokens)), f"tokens grow: {tokens}")
    ended = cluster.await_run(cluster.submit(rota, "lock", "other", "--", "/bin/sh", "-c", "exit 7"))
    check(ended["outcome"]["exit_status"] == 7, f"the command's own exit status: {ended}")
    figure("locked_commands", runs=len(tokens), workers=len(workers), overlaps=0)


def lost_lock(cluster):
    """A command whose lock ZooKeeper no longer guarantees is ended before another can get the lock."""
    beats = os.path.join(cluster.folder, "beats")
    words = [cluster.programs + "/rota", "lock", "door", "--ttl", "3s", "--", "/bin/sh", "-c",
             f"trap '' TERM; echo in; while :; do echo >> {beats}; sleep 0.05; done"]
    holder = subprocess.Popen(words, env=cluster.env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    try:
        check(holder.stdout.readline() == "in\n", "the command has the lock")
        began = time.time()
        cluster.kill("zookeeper", "-STOP")
        complaint = holder.communicate(timeout=120)[1]
    finally:
        cluster.kill("zookeeper", "-CONT")
        holder.kill()
    check(holder.returncode == 7 and "was lost" in complaint, f"exit {holder.returncode}: {complaint}")
    check(cluster.rota("lock", "door", "--wait-at-most", "120s", "--", "/bin/true").returncode == 0,
          "the next one gets it")
    # Masters and workers were without ZooKeeper for the same time: their sessions may end only now.
    wait_until(cluster.is_whole, 60, "all are here again")
    figure("lost_lock", ttl_s=3, last_beat_after_s=round(os.stat(beats).st_mtime - began, 2))


def check_good(end):
    check(end["state"] == "succeeded", f"a command with the lock: {end}")
    return True


def all_of_them(cluster):
    scripts(cluster)
    http_calls(cluster)
    isolated(cluster)
    locked_commands(cluster)
    lost_lock(cluster)
