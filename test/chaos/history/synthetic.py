"""Makes the evidence of a cluster that kept every promise: the judge must call it ok, and mutants spoil it.

A small story by fixed rules, not a simulator: jobs fire on their ticks, a master and a worker's host are
killed, the database is away for a while, clients submit, repeat, cancel, pause and edit. The same seed
gives the same folder, byte by byte.
"""
import json
import random
import zlib

from synthetic_folder import COLUMNS, write_folder
from zstd_frame import packed

BEGIN = 1_795_000_000_000  # a whole minute
BOOT = BEGIN - 5_000_000   # the boot clock's zero
BEAT = 20
MASTER_KILLED, MASTER_BACK = 60_000, 60_250
HOST_KILLED, REDISPATCH = 100_000, 118_000
STORE_GONE, STORE_BACK = 150_000, 154_000
LENGTH = 240_000
ID = 1 << 40


SERIAL = (1, 3, 5)


def decided_at(tick):
    """When that tick is decided: a fault near it makes it late."""
    if MASTER_KILLED <= tick < MASTER_BACK:
        return MASTER_BACK
    return STORE_BACK if STORE_GONE <= tick < STORE_BACK else tick


def schedule(**more):
    return {"kind": "none", "cron": "", "dialect": "guess", "time_zone": "UTC", "gap": "run_at_end",
            "fold": "first", "interval_ms": 0, "start_ms": None, "end_ms": None, **more}


def definition(name, millis, exit_status=0, timing=None, **rules):
    argv = ["/bin/ledger_job", f"/ledger/{name}.log", str(millis)]
    argv += ["--exit", str(exit_status)] if exit_status else []
    return {"namespace": "default", "name": name, "work": {"handler": "command", "argv": argv, "script": ""},
            "rules": {"overlap": "skip", "late": "fire_once", "queue_limit": 100, "tick_grace_ms": 60_000,
                      "kill_grace_ms": 1000, "timeout_ms": 0, "loss": "after_fence",
                      "retry": {"count": 0}, "schedule": timing or schedule(), **rules}}


class Story:
    """Store, ledgers, clients, faults and binlog as they grow together."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.seed = seed
        self.tables = {table: {} for table in COLUMNS}
        self.transactions, self.ledger, self.clients, self.printed = [], [], [], {}
        self.faults = []
        self.counter = {1: 100, 2: 100}
        self.next_op = 0
        self.busy = {}  # serial job -> its last run, and when that ends

    # --- the store, one transaction at a time -----------------------------------------------------

    def epoch_at(self, at):
        return 1 if at < MASTER_BACK else 2

    def commit(self, at, *rows):
        changes = []
        for table, row in rows:
            key = tuple(row[name] for name in COLUMNS[table]["key"])
            before = self.tables[table].get(key)
            after = {**(before or dict.fromkeys(COLUMNS[table]["all"])), **row}
            self.tables[table][key] = after
            changes.append((table, dict(before) if before else None, dict(after)))
        self.transactions.append((BEGIN + at, changes))

    def watermark(self, at):
        return "watermark", {"partition_no": 1, "value_ms": BEGIN + at}

    def new_run_id(self, at):
        epoch = self.epoch_at(at)
        self.counter[epoch] += 1
        return epoch * ID + self.counter[epoch]

    # --- jobs -------------------------------------------------------------------------------------

    def save_job(self, number, at, made):
        rows = self.version_rows(number, at, made, 1, 1)
        self.commit(at, *rows, self.watermark(at))
        self.client("apply", at, job=made["name"], content=made["name"])

    def version_rows(self, number, at, made, version, enabled):
        text = json.dumps(made, sort_keys=True)
        job = {"job_id": ID + number, "namespace": "default", "name": made["name"],
               "saved_name": made["name"], "version": version, "state": "enabled" if enabled else "paused",
               "one_off": 0, "state_by": "", "state_why": "", "created_ms": BEGIN, "changed_ms": BEGIN + at}
        row = {"job_id": ID + number, "version": version, "valid_from_ms": BEGIN + at, "valid_to_ms": None,
               "anchor_ms": BEGIN, "enabled": enabled, "principal": "local", "definition_hash": version,
               "rules": json.dumps(made["rules"]), "definition": text}
        return ("job", job), ("job_version", row)

    def change_version(self, number, at, made, version, enabled):
        self.commit(at, ("job_version", {"job_id": ID + number, "version": version - 1,
                                         "valid_to_ms": BEGIN + at}),
                    *self.version_rows(number, at, made, version, enabled), self.watermark(at))

    # --- runs -------------------------------------------------------------------------------------

    def record(self, number, version, at, tick=None, kind="tick", key=None, lag=12):
        """One run row; the tick's lateness is `lag`, or follows from the fault near it."""
        at = at if tick is None else decided_at(tick)
        run_id = self.new_run_id(at + lag)
        row = {"run_id": run_id, "namespace": "default", "principal": "local", "job_id": ID + number,
               "job_version": version, "kind": kind, "tick_ms": None if tick is None else BEGIN + tick,
               "scheduled_ms": BEGIN + at, "recorded_ms": BEGIN + at + lag, "request_key": key,
               "request_hash": "" if key is None else "1:aa", "state": "dispatched", "reason": "none",
               "detail": "", "attempt": 1, "worker_id": f"worker-{run_id % 2 + 1}",
               "worker_incarnation": "life-1", "epoch": self.epoch_at(at + lag),
               "dispatched_ms": BEGIN + at + lag, "cancel_asked": 0}
        self.commit(at + lag, ("run", row), self.watermark(at + lag))
        return run_id, at + lag

    def live(self, run_id, attempt, name, start, millis, ends=True, until=None, tick=None):
        """Ledger lines; the boot clock counts from BOOT."""
        stop = start + millis if until is None else min(start + millis, until)
        who = (run_id, attempt, self.epoch_at(start), "life-1")
        beats = [("start", start)] + [("beat", at) for at in range(start + BEAT, stop, BEAT)]
        if ends and stop == start + millis:
            beats.append(("end", stop))
        for kind, at in beats:
            self.ledger.append((at, f"{kind} {who[0]} {who[1]} {who[2]} {who[3]} "
                                f"{(BEGIN + at - BOOT) * 1000} {name} {tick or '-'} {2 + run_id % 7}"))
        return stop

    def finish(self, run_id, start, end, state="succeeded", reason="none", exit_status=0, **more):
        epoch = self.epoch_at(end + 8)
        attempt = self.tables["run"][(run_id,)]["attempt"]
        said = {"run_id": run_id, "state": "running", "started_ms": BEGIN + start, "attempt": attempt,
                "epoch": self.epoch_at(start + 5)}
        self.commit(start + 5, ("run", said))
        outcome = {"run_id": run_id, "state": state, "reason": reason, "outcome_state": state,
                   "outcome_reason": reason, "exit_status": exit_status, "signal_number": 0, "message": "",
                   "ended_ms": BEGIN + end + 2, "outcome_started_ms": BEGIN + start,
                   "outcome_ended_ms": BEGIN + end + 2, "stdout_bytes": 0, "stderr_bytes": 0, "epoch": epoch}
        self.commit(end + 8, ("run", {**outcome, **more}))

    def print_log(self, run_id, attempt, end):
        """The output of a printing job, and its chunks."""
        data = b"".join(f"{run_id} {attempt} {n} a line\n".encode() + self.dice.randbytes(9)
                        for n in range(20))
        self.printed[(run_id, attempt)] = data
        for offset in range(0, len(data), 200):
            piece = data[offset:offset + 200]
            codec = offset // 200 % 2  # every second one is compressed
            self.commit(end, ("log_chunk", {
                "run_id": run_id, "attempt": attempt, "stream": 1, "offset_bytes": offset,
                "length_bytes": len(piece), "dropped_bytes": 0, "crc32": zlib.crc32(piece),
                "received_ms": BEGIN + end, "content": packed(piece) if codec else piece,
                "codec": codec}))
        return len(data)

    def gap(self, number, version, tick, reason, reference=0):
        at = decided_at(tick) + 12
        self.commit(at, ("gap", {
            "job_id": ID + number, "job_version": version, "from_ms": BEGIN + tick, "to_ms": BEGIN + tick,
            "tick_count": 1, "reason": reason, "reference": reference, "epoch": self.epoch_at(at)}),
            self.watermark(at))

    # --- clients and faults -----------------------------------------------------------------------

    def client(self, op, at, outcome="ok", run=None, key="", job="", content=None, error=""):
        self.next_op += 1
        self.clients.append({"id": self.next_op, "op": op, "key": key, "job": job, "content": content,
                             "asked_ms": BEGIN + at - 15, "answered_ms": BEGIN + at + 20,
                             "outcome": outcome, "run": str(run) if run else "", "error": error})

    def fault(self, kind, target, begin, end):
        self.faults.append({"kind": kind, "target": target, "from_ms": BEGIN + begin, "to_ms": BEGIN + end,
                            "took_effect": True, "proof": "seen"})


def tell(seed):
    """The whole story; the constants above say when what breaks."""
    story = Story(seed)
    story.commit(-900, ("epoch", {"partition_no": 1, "value": 1, "holder": "master-1", "taken_ms": BEGIN}))
    steady = definition("steady", 300, timing=schedule(kind="fixed_rate", interval_ms=1000))
    berlin = definition("berlin", 400, overlap="allow",
                        timing=schedule(kind="cron", cron="*/5 * * * * *", time_zone="Europe/Berlin"))
    edited = definition("edited", 200, timing=schedule(kind="fixed_rate", interval_ms=2000))
    printing = definition("printing", 0, overlap="allow",
                          timing=schedule(kind="fixed_rate", interval_ms=4000))
    printing["work"]["argv"] = ["/usr/bin/python3", "/printing_job.py"]
    long = definition("long", 2500, timing=schedule(kind="fixed_rate", interval_ms=2000))
    for number, made in enumerate((steady, berlin, edited, printing, long), 1):
        story.save_job(number, 0, made)
    story.commit(1, ("worker_life", {"worker_id": "worker-1", "incarnation": "life-1", "host": "w",
                                     "port": 1, "pool": "default", "joined_ms": BEGIN, "left_ms": None,
                                     "why_left": ""}))
    moments = [(at, what) for what, step in (("steady", 1000), ("berlin", 5000), ("edited", 2000),
                                             ("printing", 4000), ("long", 2000), ("submit", 1700),
                                             ("repeat", 7100), ("cancel", 23_000))
               for at in range(step, LENGTH - 20_000, step)]
    for at, what in sorted(moments + [(90_500, "pause"), (97_500, "resume"), (MASTER_BACK, "takeover")]):
        step(story, what, at, edited)
    story.fault("kill_master", "master-1", MASTER_KILLED, MASTER_KILLED + 40)
    story.fault("kill_host", "worker-2.host", HOST_KILLED, HOST_KILLED + 5000)
    story.fault("kill_mariadb", "mariadb", STORE_GONE, STORE_BACK)
    story.commit(LENGTH - 500, story.watermark(LENGTH - 500 - 19_600))
    return story


def step(story, what, at, edited):
    """One thing that happens at that moment."""
    if STORE_GONE <= at < STORE_BACK and what in ("submit", "repeat", "cancel"):
        story.client("submit", at, outcome="unknown", key=f"gone-{at}", content="x", error="timed out")
    elif what == "takeover":
        story.commit(at, ("epoch", {"partition_no": 1, "value": 2, "holder": "master-2",
                                    "taken_ms": BEGIN + at}))
    elif what in ("pause", "resume"):
        story.change_version(3, at, edited, 2 if what == "pause" else 3, int(what == "resume"))
        story.client(what, at, job="edited")
    elif what in ("submit", "cancel"):
        one_off(story, what, at)
    elif what == "repeat":
        repeat(story, at)
    elif what != "edited" or not 90_500 <= at < 97_500:
        plain_tick(story, what, at)


def plain_tick(story, what, at):
    """A tick fires, or is left out because a run of its serial job is unfinished when it is decided."""
    number = {"steady": 1, "berlin": 2, "edited": 3, "printing": 4, "long": 5}[what]
    version = 3 if what == "edited" and at > 97_500 else 1
    millis = {"steady": 300, "berlin": 400, "edited": 200, "printing": 600, "long": 2500}[what]
    blocking = story.busy.get(number)
    if blocking and blocking[1] + 10 > decided_at(at):
        story.gap(number, version, at, "overlap_skipped", blocking[0])
        return
    run_id, begun = story.record(number, version, at, tick=at)
    start = begun + 9
    if number in SERIAL:
        story.busy[number] = (run_id, start + millis)
    if what == "printing":
        length = story.print_log(run_id, 1, start + millis)
        story.finish(run_id, start, start + millis, stdout_bytes=length)
    elif what == "berlin" and at == HOST_KILLED:
        lost_and_again(story, run_id, start, millis)
    else:
        story.finish(run_id, start, story.live(run_id, 1, what, start, millis, tick=BEGIN + at))


def lost_and_again(story, run_id, start, millis):
    """Its host dies under it; another attempt follows after the fence."""
    story.live(run_id, 1, "berlin", start, millis, until=start + 120)
    lost = {"outcome_state": "lost", "outcome_reason": "worker_lost"}
    again = REDISPATCH
    epoch = story.epoch_at(again)
    story.commit(again, ("attempt", {"run_id": run_id, "attempt": 1, "worker_id": "worker-2",
                                     "worker_incarnation": "life-1", "epoch": epoch, "late": 0,
                                     "dispatched_ms": BEGIN + start - 9, **lost}),
                 ("run", {"run_id": run_id, "state": "dispatched", "attempt": 2, "epoch": epoch,
                          "dispatched_ms": BEGIN + again, "worker_id": "worker-1"}))
    story.finish(run_id, again + 9, story.live(run_id, 2, "berlin", again + 9, millis))


def one_off(story, what, at):
    """A submit; with "cancel", it is cancelled while it runs."""
    key = f"key-{what}-{at}"
    number = 1000 + story.next_op
    made = definition(f"one-off-{number}", 5000 if what == "cancel" else 250, at % 3 // 2 * 4, overlap="allow")
    job, version = story.version_rows(number, at, made, 1, 0)
    job[1].update(one_off=1, saved_name=None)
    story.commit(at, job, version)
    run_id, begun = story.record(number, 1, at, kind="one_off", key=key, lag=2)
    story.client("submit", at, run=run_id, key=key, job=made["name"], content=made["name"])
    start = begun + 9
    if what == "submit":
        status = at % 3 // 2 * 4
        end = story.live(run_id, 1, made["name"], start, 250)
        story.finish(run_id, start, end, *(("failed", "exit_status", 4) if status else ()))
        story.last_submit = (key, run_id, made["name"])
        return
    end = story.live(run_id, 1, made["name"], start, 5000, until=start + 900)
    story.commit(at + 800, ("run", {"run_id": run_id, "cancel_asked": 1, "detail": "cancelled by local",
                                    "epoch": story.epoch_at(at + 800)}))
    story.client("cancel", at + 800, run=run_id)
    story.finish(run_id, start, end, "killed", "cancelled_by_user", -1, signal_number=15)


def repeat(story, at):
    """The same key again gives the same run; with other content it is refused."""
    key, run_id, content = story.last_submit
    story.client("submit", at, run=run_id, key=key, content=content)
    story.client("submit", at + 30, outcome="rejected", key=key, content="other", error="CONFLICT: used")


def write(folder, seed=7):
    write_folder(folder, tell(seed), world(seed))


def world(seed):
    return {"seed": seed, "started_ms": BEGIN, "faults_begin_ms": BEGIN + MASTER_KILLED,
            "faults_end_ms": BEGIN + STORE_BACK, "settled_ms": BEGIN + LENGTH - 20_000,
            "ended_ms": BEGIN + LENGTH, "restored": False, "boot_to_wall_ms": BOOT,
            "settings": {"master_session_ms": 4000, "worker_session_ms": 6000, "grant_ms": 5000},
            "hosts": {"master-1": {"address": "10.0.0.1", "clock_offset_ms": 0}}, "jobs": []}
