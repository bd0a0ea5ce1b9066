"""Reads an evidence folder of clients, jobs, store, binlog and faults, and makes it comparable.

Nothing is judged here. A missing or unreadable file is reported by name (`Unreadable`). Times are milliseconds
of the wall clock, except in ledger lines, whose boot clock is mapped through one offset.
"""
import base64
import json
import statistics
from collections import defaultdict
from pathlib import Path

import binlog
from zstd_frame import unpacked

TABLES = ("job", "job_version", "run", "attempt", "gap", "epoch", "watermark", "worker_life",
          "log_chunk")
TEXT_COLUMNS = {
    "namespace", "name", "saved_name", "state", "state_by", "state_why", "principal", "rules", "definition",
    "kind", "request_key", "request_hash", "parameters", "reason", "detail", "worker_id",
    "worker_incarnation", "outcome_state", "outcome_reason", "message", "result", "holder", "host", "pool",
    "why_left", "content", "content_hash", "incarnation"}
FINAL = {"succeeded", "failed", "timed_out", "cancelled", "killed", "kill_failed", "lost", "skipped"}


class Unreadable(Exception):
    """The folder is not evidence: says what is missing or broken, and where."""


class Life:
    """One process of one attempt, by its own ledger; times in ms of the boot clock."""

    def __init__(self, run, attempt, epoch, incarnation, job, tick, pid):
        self.run, self.attempt, self.epoch, self.incarnation = run, attempt, epoch, incarnation
        self.job, self.tick, self.pid = job, tick, pid
        self.start = self.end = None
        self.first = self.last = None
        self.starts = 0
        self.beats = []

    def add(self, kind, at):
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)
        self.beats.append(at)
        if kind == "start":
            self.start = at
            self.starts += 1
        elif kind == "end":
            self.end = at


class Evidence:
    """Everything, loaded. Questions read it and change nothing."""

    def __init__(self):
        self.world, self.clients, self.faults, self.processes = {}, [], [], []
        self.stalls = []  # of the machine, by the harness's meter
        self.residue = {"processes": [], "files": []}
        self.store = {table: [] for table in TABLES}
        self.lives, self.torn_lines = [], 0
        self.transactions, self.server_starts = [], []  # of the binlog, in commit order
        self.logs, self.printed = {}, {}
        self.boot_to_wall = None

    def index(self):
        """The look-ups that several questions share; called once after loading."""
        self.jobs = {row["job_id"]: row for row in self.store["job"]}
        self.versions = defaultdict(list)
        for row in sorted(self.store["job_version"], key=lambda r: (r["job_id"], r["valid_from_ms"])):
            self.versions[row["job_id"]].append(row)
        self.runs = {row["run_id"]: row for row in self.store["run"]}
        self.attempts = defaultdict(list)
        for row in sorted(self.store["attempt"], key=lambda r: (r["run_id"], r["attempt"])):
            self.attempts[row["run_id"]].append(row)
        self.lives_of = defaultdict(list)
        for life in sorted(self.lives, key=lambda one: one.first):
            self.lives_of[life.run].append(life)
        self.boot_to_wall = self.find_boot_offset()
        return self

    def find_boot_offset(self):
        """Wall minus boot clock: as recorded, otherwise the median of the workers' start times."""
        if self.world.get("boot_to_wall_ms") is not None:
            return float(self.world["boot_to_wall_ms"])
        seen = []
        for run in self.store["run"]:
            for life in self.lives_of[run["run_id"]]:
                if life.attempt == run["attempt"] and life.start and run.get("outcome_started_ms"):
                    seen.append(run["outcome_started_ms"] - life.start)
        return statistics.median(seen) if seen else None

    def wall(self, boot_ms):
        return None if self.boot_to_wall is None else boot_ms + self.boot_to_wall

    def watermark(self):
        return max((row["value_ms"] for row in self.store["watermark"]), default=0)

    def recorded_through(self, job_id):
        """By the watermark, by an unfinished slice that has passed the job, and by the job's own row."""
        slices = [row["reaching_ms"] for row in self.store["watermark"]
                  if row.get("reaching_ms") and job_id <= (row.get("job_id") or 0)]
        ahead = (self.jobs.get(job_id) or {}).get("ticks_through_ms") or 0
        return max([self.watermark(), ahead, *slices])

    def version_of(self, run):
        for version in self.versions.get(run["job_id"], ()):
            if version["version"] == run["job_version"]:
                return version
        return None

    def rules_of(self, run):
        version = self.version_of(run)
        return (version.get("definition") or {}).get("rules", {}) if version else {}

    def work_of(self, run):
        version = self.version_of(run)
        return (version.get("definition") or {}).get("work", {}) if version else {}

    def job_name(self, job_id):
        return self.jobs.get(job_id, {}).get("name", str(job_id))


def load(folder):
    """The evidence in that folder, or Unreadable."""
    folder = Path(folder)
    if not folder.is_dir():
        raise Unreadable(f"{folder}: no such folder")
    out = Evidence()
    out.world = read_json(folder / "world.json")
    out.clients = [client_op(op) for op in read_lines(folder / "clients.jsonl")]
    out.faults = read_lines(folder / "faults.jsonl")
    out.processes = read_lines(folder / "processes.jsonl", optional=True)
    out.stalls = read_lines(folder / "stalls.jsonl", optional=True)
    residue = folder / "residue.json"
    out.residue = read_json(residue) if residue.exists() else None
    for table in TABLES:
        out.store[table] = [row_of(row, table) for row in read_lines(folder / "store" / f"{table}.jsonl")]
    contents = read_lines(folder / "store" / "definition.jsonl", optional=True)
    read_contents(out.store["job_version"], {row["hash"]: row for row in contents})
    for path in sorted((folder / "ledger").glob("*.log")):
        read_ledger(path, out)
    path = folder / "binlog.txt"
    if path.exists():
        reader = binlog.read_text(path)
        out.transactions, out.server_starts = reader.transactions, reader.server_starts
    for path in sorted((folder / "logs").glob("*.log")):
        out.logs[path.stem] = path.read_text(errors="replace")
    for path in sorted((folder / "printed").glob("*.log")):
        run, _, attempt = path.stem.partition("-")
        if run.isdigit() and attempt.isdigit():
            out.printed[(int(run), int(attempt))] = path.read_bytes()
    return out.index()


def read_json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from error


def read_lines(path, optional=False):
    if optional and not path.exists():
        return []
    rows = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    rows.append(json.loads(line))
    except OSError as error:
        raise Unreadable(f"{path}: {error}") from error
    except ValueError as error:
        raise Unreadable(f"{path}:{number}: {error}") from error
    return rows


def client_op(op):
    run = op.get("run")
    op["run"] = int(run) if run not in (None, "", 0, "0") and str(run).isdigit() else None
    return op


def read_contents(versions, contents):
    """Versions that say nothing themselves point at a row of `definition`."""
    for row in versions:
        if row.get("content_hash") is None:
            continue
        content = contents.get(row["content_hash"])
        if content is None:
            raise Unreadable(f"job_version {row.get('job_id')}: its row of definition is missing")
        row["rules"], row["definition"] = json.loads(content["rules"]), json.loads(content["body"])


def row_of(row, table):
    """Numbers as numbers, the stored JSON as objects, chunk contents as bytes."""
    for name, value in row.items():
        if name not in TEXT_COLUMNS and isinstance(value, str) and value.lstrip("-").isdigit():
            row[name] = int(value)
    if table == "job_version":
        for name in ("definition", "rules"):
            if isinstance(row.get(name), str) and row.get("content_hash") is None:
                try:
                    row[name] = json.loads(row[name])
                except ValueError as error:
                    raise Unreadable(f"job_version {row.get('job_id')}: {name}: {error}") from error
    if table == "log_chunk" and isinstance(row.get("content"), str):
        row["content"] = base64.b64decode(row["content"])
        if row.get("codec"):
            row["content"] = unpacked(row["content"], row["length_bytes"])
    return row


def read_ledger(path, out):
    """Torn lines (a host died, or a disk filled, while one was written) are counted, not guessed at."""
    lines = path.read_bytes().split(b"\n")
    if lines and lines[-1]:
        out.torn_lines += 1
    lives = {}
    for raw in lines[:-1]:
        words = raw.decode("utf-8", "replace").split()
        if not words:
            continue
        if len(words) != 9 or words[0] not in ("start", "beat", "end") or not words[5].isdigit():
            out.torn_lines += 1
            continue
        kind, run, attempt, epoch, incarnation, at, job, tick, pid = words
        key = (run, attempt, incarnation, pid, job)
        if key not in lives:
            lives[key] = Life(number_or_none(run), number_or_none(attempt), number_or_none(epoch),
                              incarnation, job, number_or_none(tick), number_or_none(pid))
        lives[key].add(kind, int(at) / 1000)
    out.lives += [life for life in lives.values() if life.run is not None]


def number_or_none(word):
    return int(word) if word.isdigit() else None
