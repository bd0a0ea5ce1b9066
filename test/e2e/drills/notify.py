"""A real receiver refuses at first and hangs once; a leader is killed between; each failure is heard, by the same id."""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cluster import Cluster, check, figure, wait_until

REFUSED = 3
HANG_S = 15


class Receiver:
    """Refuses the first few, hangs on the next, then accepts all. Loopback only."""

    def __init__(self):
        self.heard, self.tries, self.lock = [], 0, threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
                with receiver.lock:
                    receiver.tries += 1
                    turn = receiver.tries
                if turn == REFUSED + 1:
                    time.sleep(HANG_S)
                if turn > REFUSED + 1:
                    with receiver.lock:
                        receiver.heard.append(json.loads(body))
                self.send_response(503 if turn <= REFUSED else 200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/alarm"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def of_event(self, event):
        with self.lock:
            return [one for one in self.heard if one["event"] == event]


def all_of_them(programs, folder):
    receiver = Receiver()
    told = folder + "/told-by-command"
    receivers = [{"name": "ops", "url": receiver.url, "timeout": "2s"},
                 {"name": "file", "command": ["/bin/sh", "-c", f"cat >> {told}; echo >> {told}"], "events": ["failed"]}]
    cluster = Cluster(folder + "/notify", programs, masters=2, workers=1, set=[
        "master.receivers=" + json.dumps(receivers), "master.notify.default=[ops, file]"])
    try:
        cluster.up()
        wait_until(lambda: cluster.workers_here(), 60, "the worker is here")
        refused(cluster)
        heard_in_the_end(cluster, receiver, told)
        tested(cluster)
        cluster.verify()
    finally:
        cluster.down()
        receiver.server.shutdown()


def refused(cluster):
    done = cluster.rota("job", "apply", "--yes", "-f", "-",
                        input=json.dumps({"name": "unknown", "notify": ["nowhere"], "command": ["true"]}))
    check(done.returncode != 0 and "knows no receiver 'nowhere'" in done.stderr, f"an unknown receiver: {done.stderr}")


def run_five(cluster):
    return [int(cluster.ok("job", "run", "fails").strip()) for _ in range(5)]


def heard_in_the_end(cluster, receiver, told):
    cluster.apply(json.dumps({"name": "fails", "overlap": "allow", "command": "exit 3"}))
    began = time.monotonic()
    runs = run_five(cluster)
    wait_until(lambda: receiver.tries > REFUSED, 60, "the receiver has refused, and hangs")
    cluster.kill("leader")
    runs += run_five(cluster)
    wait_until(lambda: set(runs) <= {one["run"] for one in receiver.of_event("failed")}, 180, "each failure is heard")
    heard = receiver.of_event("failed")
    ids = {run: {one["id"] for one in heard if one["run"] == run} for run in runs}
    check(all(len(each) == 1 for each in ids.values()), f"one failure has several ids: {ids}")
    wait_until(lambda: not cluster.json("notify", "list", "--undelivered"), 120, "nothing is open")
    with open(told, encoding="utf-8") as lines:
        by_command = {json.loads(line)["run"] for line in lines if line.strip()}
    check(by_command == set(runs), f"the command was told of {by_command}, not of {runs}")
    figure("notify", runs=len(runs), tries=receiver.tries, heard=len(heard), seconds=round(time.monotonic() - began, 1))


def tested(cluster):
    answer = cluster.json("notify", "test", "ops")["answer"]
    check(answer.startswith("status 200"), f"notify test: {answer}")
    check(cluster.rota("notify", "test", "nowhere").returncode == 3, "a receiver that is not there is not found")
