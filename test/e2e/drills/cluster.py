"""A real cluster for the drills: starts it, kills parts of it, asks it questions, and ends it."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from proxy import Proxy

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPT = str(ROOT / "scripts" / "cluster")


# A wait may take this many times as long as usual. It only ends what hangs; it is not a promise.
PATIENCE = 6


class Failure(Exception):
    """A drill did not see what it expected."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def now_ms():
    return int(time.time() * 1000)


def wait_until(question, seconds, what):
    """Asks until the answer is true, and returns it. On an idle machine it takes at most `seconds`."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        answer = question()
        if answer:
            return answer
        check(time.monotonic() < end, f"not within {seconds * PATIENCE} s: {what}")
        time.sleep(0.05)


class Cluster:
    stalls = None  # stalls.Stalls, beside all drills

    def __init__(self, folder, programs, **shape):
        self.folder = str(folder)
        self.programs = str(programs)
        self.shape = shape  # masters, workers, zookeepers, session_ms, set=[...]
        # This machine's proxy settings must not apply to the loopback.
        self.env = dict(os.environ, ROTA_BIN_DIR=self.programs, XDG_CONFIG_HOME=self.folder + "/settings",
                        no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")

    # --- the script ---------------------------------------------------------------------------

    def script(self, *words, timeout=120, may_fail=False):
        # A file, not a pipe: processes that the script leaves running would keep a pipe open.
        log = pathlib.Path(self.folder + ".script.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "w+") as out:
            done = subprocess.run([SCRIPT, "--dir", self.folder, *words], env=self.env, stdout=out,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=timeout * PATIENCE)
            out.seek(0)
            text = out.read()
        check(may_fail or done.returncode == 0, f"scripts/cluster {' '.join(words)}: {text[-2000:]}")
        return text

    def up(self):
        """master-1 reaches ZooKeeper through a proxy, so that it can be cut off."""
        self.proxy = Proxy(self.zookeeper_port)
        words = ["up", "--wait-s", str(90 * PATIENCE),
                 "--set", f"master-1.zookeeper.connect=127.0.0.1:{self.proxy.port}"]
        for key, value in self.shape.items():
            for one in value if isinstance(value, list) else [value]:
                words += ["--" + key.replace("_", "-"), str(one)]
        self.script(*words, timeout=240)
        self.read_env()
        return self

    def chosen(self, pattern):
        """The script's record of that process; until it exists, None."""
        try:
            state = pathlib.Path(self.folder, "cluster.state").read_text()
        except OSError:
            return None
        found = re.search(pattern, state)
        return found and found.group(1)

    def zookeeper_port(self):
        port = self.chosen(r'zk_ports=\(\[0\]="(\d+)"')
        return port and int(port)

    def database_socket(self):
        return self.chosen(r'db_socket="([^"]+)"')

    def read_env(self):
        for line in self.script("env").splitlines():
            if line.startswith("export ") and not line.startswith("export PATH"):
                name, _, value = line[len("export "):].partition("=")
                self.env[name] = "".join(shlex.split(value))

    def down(self):
        self.script("down", timeout=90, may_fail=True)
        self.proxy.close()

    def kill(self, target, signal="-9", *more):
        """Signals; returns the pids and the wall time in ms just before it."""
        if target.startswith("leader"):  # the script waits for no more than 10 s
            wait_until(self.leader, 30, "a leader")
        text = self.script("kill", target, signal, *more)
        words = dict(word.split("=", 1) for word in text.split() if "=" in word)
        return words

    def pids(self, target):
        """The present pids of the target, separated by commas; empty: it does not run."""
        found = re.search(r"\bpids=(\S*)", self.script("kill", target, "-0", may_fail=True))
        return found.group(1) if found else ""

    # --- the rota command ---------------------------------------------------------------------

    def rota(self, *words, timeout=60, input=None):
        if "--deadline" not in words:
            words = ("--deadline", "60s", *words)
        return subprocess.run([self.programs + "/rota", *words], env=self.env, text=True,
                              capture_output=True, timeout=timeout * PATIENCE, input=input,
                              errors="replace")

    def ok(self, *words, **more):
        done = self.rota(*words, **more)
        check(done.returncode == 0, f"rota {' '.join(words)[:200]}: exit {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def json(self, *words, **more):
        return json.loads(self.ok("-o", "json", *words, **more))

    def submit(self, *command, options=()):
        return self.ok("submit", *options, "--", *command).strip()

    def run(self, run_id):
        return self.json("run", "show", run_id)

    def await_run(self, run_id, seconds=60):
        return wait_until(lambda: (lambda r: r["ended_at_ms"] and r)(self.run(run_id)), seconds,
                          f"run {run_id} ends")

    def await_started(self, runs):
        """Waits until each was given to a worker; a short run may already have ended."""
        wait_until(lambda: all(self.run(r)["state"] not in ("waiting", "queued") for r in runs), 30, "all have started")

    def await_verified(self, seconds=30):
        """Waits until every promise is kept, by the store; otherwise fails with verify's last output."""
        deadline = time.monotonic() + seconds
        while (done := self.rota("verify", timeout=120)).returncode != 0:
            check(time.monotonic() < deadline, f"verify is not green within {seconds} s: {done.stdout} {done.stderr}")
            time.sleep(0.2)

    def runs(self, job="", limit=1000, **more):
        words = ["run", "list", "--limit", str(limit)]
        if job:
            words += ["--job", job]
        for key, value in more.items():
            words += ["--" + key, value]
        return self.json(*words)

    def apply(self, text):
        self.ok("job", "apply", "--yes", "-f", "-", input=text)

    def leader(self):
        done = self.rota("-o", "json", "--deadline", "3s", "cluster", "status")
        if done.returncode != 0:
            return None
        status = json.loads(done.stdout)
        return next((m["id"] for m in status["masters"] if m["leads"]), None) if status["epoch"] else None

    def epoch(self):
        return self.json("cluster", "status")["epoch"]

    def workers_here(self):
        """id -> incarnation of the workers that accept work."""
        done = self.rota("-o", "json", "--deadline", "2s", "worker", "list")
        rows = json.loads(done.stdout) if done.returncode == 0 else []
        return {w["id"]: w["incarnation"] for w in rows if w["state"] in ("online", "busy", "warning")}

    def is_whole(self):
        """Whether both masters and both workers are there, and a leader answers."""
        done = self.rota("-o", "json", "--deadline", "2s", "cluster", "status")
        masters = json.loads(done.stdout)["masters"] if done.returncode == 0 else []
        return sum(1 for m in masters if m["address"]) == 2 and len(self.workers_here()) == 2

    def verify(self):
        """Returns the report; fails unless every promise is kept."""
        done = self.rota("-o", "json", "verify", timeout=120)
        check(done.returncode == 0, f"verify is red: {done.stdout[-2000:]} {done.stderr[-500:]}")
        return json.loads(done.stdout)

    # --- the files ----------------------------------------------------------------------------

    def delays(self):
        """What delayed the masters' loops, by their logs, as MASTER:store|processor:MILLISECONDS."""
        line = re.compile(r"loop: (the database|this process).* recorded late longest_ms=(\d+)")
        kinds = {"the database": "store", "this process": "processor"}
        return [f"{path.stem}:{kinds[kind]}:{ms}" for path in
                sorted(pathlib.Path(self.folder, "logs").glob("master-*.log"))
                for kind, ms in line.findall(path.read_text(errors="replace"))]

    def log(self, name):
        path = pathlib.Path(self.folder, "logs", name + ".log")
        return path.read_text(errors="replace") if path.exists() else ""

    def ledger_job(self):
        return str(pathlib.Path(self.programs).parent / "test-bin" / "ledger_job")


def judge_ledger(path, by_job=False):
    """Returns (largest overlap in ms, the judge's output); fails when anything was ever alive twice."""
    words = ["/usr/bin/python3", str(ROOT / "test/support/ledger_check.py"), str(path), "--json"]
    done = subprocess.run(words + (["--job"] if by_job else []), text=True, capture_output=True)
    check(done.returncode == 0, f"the ledger shows two live attempts: {done.stdout} {done.stderr}")
    return json.loads(done.stdout)


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if len(ordered) % 2 else sum(
        ordered[len(ordered) // 2 - 1:len(ordered) // 2 + 1]) / 2


def figure(name, **values):
    """One line for people and for records."""
    print(f"figure={name} " + " ".join(f"{key}={value}" for key, value in values.items()), flush=True)
