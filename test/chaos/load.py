#!/usr/bin/python3
"""The clients of a run: they submit, repeat, cancel, edit, pause and resume until they are told to stop, and
record their requests and the answers (clients.jsonl).

    load.py EVIDENCE GENERATED_PYTHON SEED MASTER[,MASTER...]

Commands on its input, one a line: `start`, `calm` (no new work; unknown requests are repeated until they
are known; answers `calm N` with the number of keys that stayed unknown), `pause` (all saved jobs; answers
`paused`), `end`."""
import json
import pathlib
import random
import sys
import threading
import time

evidence, generated, seed, masters = sys.argv[1:5]
sys.path.insert(0, generated)
from thrift.protocol import TBinaryProtocol  # noqa: E402
from thrift.transport import TSocket, TTransport  # noqa: E402
from rota.job import JobService, ttypes  # noqa: E402
from rota.ttypes import ErrorKind, RequestHead, RotaError  # noqa: E402

import jobs  # noqa: E402

MASTERS = masters.split(",")
PROGRAMS = str(pathlib.Path(generated).parent / "bin")
# It may or may not have been done.
UNCLEAR = {ErrorKind.UNKNOWN_OUTCOME, ErrorKind.TIMED_OUT, ErrorKind.INTERNAL}


def now_ms():
    return time.time_ns() // 1_000_000


class Notes:
    """clients.jsonl: one line per operation, written before the next request."""

    def __init__(self, path):
        self.file, self.lock, self.number = open(path, "a", encoding="utf-8"), threading.Lock(), 0

    def write(self, **line):
        with self.lock:
            self.number += 1
            self.file.write(json.dumps({"id": self.number, **line}) + "\n")
            self.file.flush()


class Caller:
    """One thread's connections to the masters."""

    def __init__(self, notes, dice):
        self.notes, self.dice, self.open = notes, dice, {}

    def client(self, address):
        if address not in self.open:
            host, port = address.rsplit(":", 1)
            socket = TSocket.TSocket(host, int(port))
            socket.setTimeout(7000)
            transport = TTransport.TFramedTransport(socket)
            transport.open()
            self.open[address] = (JobService.Client(TBinaryProtocol.TBinaryProtocol(transport)), transport)
        return self.open[address][0]

    def call(self, op, ask, key="", job="", content=None, run=""):
        """Asks a random master; returns (outcome, answer). Never raises."""
        address = self.dice.choice(MASTERS)
        line = {"op": op, "key": key, "job": job, "content": content, "asked_ms": now_ms(), "run": run,
                "error": "", "master": address}
        answer, line["outcome"] = None, "ok"
        try:
            client = self.client(address)
        except Exception as error:  # nothing was sent
            line.update(outcome="rejected", error=f"connect: {error}")
        else:
            answer = self.ask(client, address, ask, line)
        line["answered_ms"] = now_ms()
        self.notes.write(**line)
        return line["outcome"], answer

    def ask(self, client, address, ask, line):
        try:
            answer = ask(client, RequestHead(forward=True, deadline_ms=6000))
            error = getattr(answer, "error", None)
            if error is not None:
                raise error
            if getattr(answer, "run", None):
                line["run"] = str(answer.run)
            if getattr(answer, "version", None):
                line["version"] = answer.version
            return answer
        except RotaError as error:
            kind = ErrorKind._VALUES_TO_NAMES.get(error.kind, str(error.kind))
            line.update(outcome="unknown" if error.kind in UNCLEAR else "rejected",
                        error=f"{kind}: {error.message}", kind=kind)
        except Exception as error:  # the connection failed after the request was sent
            line.update(outcome="unknown", error=f"{type(error).__name__}: {error}")
            self.open.pop(address)[1].close()
        return None


class Load:
    def __init__(self):
        folder = pathlib.Path(evidence)
        self.notes = Notes(folder / "clients.jsonl")
        self.saved = jobs.saved_jobs(PROGRAMS, evidence)
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.known = []  # (key, content, run) that were answered ok
        self.pending = []  # (key, content) whose outcome is unknown
        self.cancellable = []
        self.threads = []

    def caller(self, name):
        return Caller(self.notes, random.Random(f"{seed}-{name}"))

    # --- submits ------------------------------------------------------------------------------

    def one_off(self, dice, name):
        """Any content that a client may submit."""
        millis = dice.choice([50, 200, 200, 200, 500, 1500, 6000])
        words = [f"{PROGRAMS}/ledger_job", f"{evidence}/ledger/one-off-{name}.log", str(millis)]
        if dice.random() < 0.1:
            words += ["--exit", "4"]
        if dice.random() < 0.1:
            words += ["--ignore-term"]
        content = {"name": f"one-off-{name}-{dice.randrange(10 ** 9)}", "command": words, "kill_grace": "1s",
                   "overlap": "allow"}
        if dice.random() < 0.2:
            content["loss"] = "never"
        if dice.random() < 0.2:
            content["retry"] = {"count": 1, "delay": "500ms"}
        return content

    def submit(self, caller, key, content):
        item = ttypes.SubmitItem(jobs.definition(ttypes, content), {}, key)
        outcome, answer = caller.call("submit", lambda c, head: c.submit(head, item), key, content["name"],
                                      content)
        with self.lock:
            if outcome == "ok" and key:
                self.known.append((key, content, answer.run))
                if int(content["command"][2]) >= 1500:
                    self.cancellable.append(answer.run)
            elif outcome == "unknown" and key:
                self.pending.append((key, content))
        return outcome

    def repeat_pending(self, caller):
        with self.lock:
            if not self.pending:
                return False
            key, content = self.pending.pop(0)
        # A refusal only says that this request was not done: the key stays unknown.
        if self.submit(caller, key, content) == "rejected":
            with self.lock:
                self.pending.append((key, content))
        return True

    def submit_for_ever(self, name):
        caller = self.caller(name)
        dice, number = caller.dice, 0
        while not self.stop.wait(dice.uniform(0.1, 0.9)):
            chance, number = dice.random(), number + 1
            with self.lock:
                old = dice.choice(self.known[-200:]) if self.known else None
            if self.pending and chance < 0.5:
                self.repeat_pending(caller)
            elif old and chance < 0.60:
                self.submit(caller, old[0], old[1])
            elif old and chance < 0.63:  # a used key with other content must be refused
                self.conflict(caller, old)
            else:
                key = "" if chance > 0.95 else f"{seed}-{name}-{number}"
                self.submit(caller, key, self.one_off(dice, name))

    def conflict(self, caller, old):
        other = {**old[1], "command": [*old[1]["command"][:2], "77"]}
        item = ttypes.SubmitItem(jobs.definition(ttypes, other), {}, old[0])
        caller.call("submit", lambda c, head: c.submit(head, item), old[0], other["name"], other)

    # --- the others -----------------------------------------------------------------------------

    def cancel_for_ever(self):
        caller = self.caller("cancel")
        dice, number = caller.dice, 0
        while not self.stop.wait(dice.uniform(1, 3)):
            with self.lock:
                run = self.cancellable.pop() if self.cancellable else None
                self.cancellable.clear()
            if run and dice.random() < 0.5:
                caller.call("cancel", lambda c, head: c.cancel_run(head, run, "chaos"), run=str(run))
            else:
                number += 1
                self.run_by_hand(caller, f"{seed}-hand-{number}")

    def run_by_hand(self, caller, key):
        for _ in range(30):
            outcome, _ = caller.call("run_now", lambda c, head: c.run_now(head, "default", "by-hand", {}, key),
                                     key, "by-hand", {"parameters": {}})
            if outcome != "unknown" or self.stop.wait(0.5):
                return

    def edit_for_ever(self):
        caller = self.caller("edit")
        dice = caller.dice
        edited = [job for job in self.saved if job["name"].startswith("edited-")]
        while not self.stop.wait(dice.uniform(1, 5)):
            job, chance = dice.choice(edited), dice.random()
            if chance < 0.45:
                self.apply(caller, jobs.edits_of(job, dice))
            elif chance < 0.9:
                self.set_paused(caller, job["name"], dice.random() < 0.5)
            else:
                name = job["name"]
                caller.call("delete", lambda c, head: c.delete_job(head, "default", name, "chaos"), job=name)
                self.stop.wait(dice.uniform(0, 2))
                self.apply(caller, job)

    def apply(self, caller, job):
        edit = ttypes.JobEdit(jobs.definition(ttypes, job))

        def ask(client, head):
            return client.apply_jobs(head, [edit], False)[0]
        return caller.call("apply", ask, job=job["name"], content=job)[0]

    def set_paused(self, caller, name, paused):
        return caller.call("pause" if paused else "resume",
                           lambda c, head: c.set_paused(head, "default", name, paused, "chaos"), job=name)

    # --- the run's phases -----------------------------------------------------------------------

    def until_ok(self, ask, seconds=120):
        end = time.monotonic() + seconds
        while ask() != "ok":
            if time.monotonic() > end:
                raise RuntimeError("the clients are not answered any more")
            time.sleep(0.3)

    def start(self):
        caller = self.caller("setup")
        for job in self.saved:
            self.until_ok(lambda job=job: self.apply(caller, job))
        work = [lambda n=n: self.submit_for_ever(n) for n in "abc"]
        work += [self.cancel_for_ever, self.edit_for_ever]
        self.threads = [threading.Thread(target=one, daemon=True) for one in work]
        for thread in self.threads:
            thread.start()
        return "started"

    def calm(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(30)
        caller, end = self.caller("calm"), time.monotonic() + 60
        while time.monotonic() < end and self.repeat_pending(caller):
            time.sleep(0.05)
        return f"calm {len(self.pending)}"

    def pause(self):
        caller = self.caller("pause")
        for job in self.saved:
            if "schedule" in job:
                self.until_ok(lambda name=job["name"]: self.pause_one(caller, name))
        return "paused"

    def pause_one(self, caller, name):
        outcome, _ = self.set_paused(caller, name, True)
        # Deleted at the moment by an edit without an answer: nothing to pause.
        return "ok" if outcome == "rejected" and self.last_error_is_absence(caller, name) else outcome

    def last_error_is_absence(self, caller, name):
        address = caller.dice.choice(MASTERS)
        try:
            caller.client(address).get_job(RequestHead(forward=True), "default", name)
        except RotaError as error:
            return error.kind == ErrorKind.NOT_FOUND
        except Exception:  # our caller asks again
            caller.open.pop(address, None)
        return False


def main():
    load = Load()
    print("ready", flush=True)
    for line in sys.stdin:
        command = line.strip()
        if command == "end":
            return
        print({"start": load.start, "calm": load.calm, "pause": load.pause}[command](), flush=True)


if __name__ == "__main__":
    main()
