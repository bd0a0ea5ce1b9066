"""Reads the text of `mariadb-binlog --base64-output=decode-rows -v`: transactions in commit order.

The column names come from the CREATE and ALTER statements in the same text; a binlog that begins later
falls back to the order of the columns that the judge knows. Only what the judge asks about is kept.
"""
import re
from datetime import datetime

KEPT = {
    "epoch": ("partition_no", "value", "holder", "taken_ms"),
    "watermark": ("partition_no", "value_ms", "reaching_ms", "job_id"),
    "job": ("job_id", "ticks_through_ms"),
    "run": ("run_id", "job_id", "job_version", "kind", "tick_ms", "recorded_ms", "state", "reason", "attempt",
            "epoch", "outcome_state", "request_key", "worker_id"),
    "run_open": ("run_id", "attempt", "epoch"),
    "attempt": ("run_id", "attempt", "epoch", "late", "outcome_state", "outcome_reason"),
    "gap": ("job_id", "job_version", "from_ms", "to_ms", "tick_count", "reason", "epoch"),
    "job_version": ("job_id", "version", "valid_from_ms", "valid_to_ms"),
}
KNOWN_ORDER = {
    "epoch": "partition_no value holder taken_ms address open_kept_for ended_kept_for dispatch_apart_for "
             "contents_needed contents_read_by",
    "run_open": "run_id attempt worker_id worker_incarnation epoch dispatched_ms",
    "watermark": "partition_no value_ms reaching_ms job_id",
    "job": "job_id namespace name saved_name version state one_off state_by state_why created_ms changed_ms "
           "ticks_through_ms fired_ticks failures_in_row due_after_end_ms over_since_ms",
    "job_version": "job_id version valid_from_ms valid_to_ms anchor_ms enabled principal definition_hash "
                   "rules definition content_hash",
    "run": "run_id namespace principal job_id job_version kind tick_ms scheduled_ms recorded_ms request_key "
           "request_hash parameters state reason detail attempt worker_id worker_incarnation epoch "
           "dispatched_ms started_ms ended_ms not_before_ms cancel_asked outcome_state",
    "attempt": "run_id attempt worker_id worker_incarnation epoch dispatched_ms late outcome_state "
               "outcome_reason",
    "gap": "job_id job_version from_ms to_ms tick_count reason reference epoch",
}
CHANGE = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `[^`]*`\.`([^`]*)`")
COLUMN = re.compile(r"###   @(\d+)=(.*)")
STAMP = re.compile(r"#(\d{6})\s+(\d+):(\d\d):(\d\d) server id")


class Change:
    """One row as it was before (None for an insert) and after (None for a delete)."""
    __slots__ = ("table", "before", "after")

    def __init__(self, table, before, after):
        self.table, self.before, self.after = table, before, after

    def __repr__(self):
        row = self.after or self.before
        verb = "insert" if self.before is None else "delete" if self.after is None else "update"
        return f"{verb} {self.table} " + " ".join(f"{k}={v}" for k, v in row.items() if v is not None)


class Transaction:
    __slots__ = ("number", "at_ms", "changes")

    def __init__(self, number, at_ms):
        self.number, self.at_ms, self.changes = number, at_ms, []


class Reader:
    """Line by line, because such a text may be too large for memory."""

    def __init__(self):
        self.columns = {table: order.split() for table, order in KNOWN_ORDER.items()}
        self.transactions, self.server_starts = [], []
        self.open, self.at_ms = None, 0
        self.change = self.part = None
        self.statement = None

    def read(self, lines):
        for line in lines:
            self.take(line)
        return self

    def take(self, line):
        if line.startswith("###"):
            self.row_line(line)
        elif line.startswith("#"):
            self.note(line)
        elif self.statement is not None:
            self.statement_line(line)
        elif line.startswith("START TRANSACTION"):
            self.open = Transaction(len(self.transactions) + 1, self.at_ms)
        elif line.startswith("COMMIT") and self.open:
            self.end_transaction()
        elif line.startswith("ROLLBACK"):
            self.open = None
        elif re.match(r"(CREATE|ALTER) TABLE", line, re.I):
            self.statement = line

    def note(self, line):
        stamp = STAMP.match(line)
        if not stamp:
            return
        day = stamp.group(1)
        hours, minutes, seconds = (int(word) for word in stamp.groups()[1:])
        at = datetime(2000 + int(day[:2]), int(day[2:4]), int(day[4:]), hours, minutes, seconds)
        self.at_ms = int(at.timestamp() * 1000)
        if "Start: binlog" in line:
            self.server_starts.append((self.at_ms, len(self.transactions)))
            self.open = None

    def end_transaction(self):
        if self.open.changes:
            self.transactions.append(self.open)
        self.open = None

    # --- rows -----------------------------------------------------------------------------------

    def row_line(self, line):
        found = COLUMN.match(line)
        if found:
            self.column(int(found.group(1)), found.group(2))
            return
        found = CHANGE.match(line)
        if found:
            self.begin_change(found.group(1), found.group(2))
        elif line.startswith("### WHERE"):
            self.part = None if self.change is None else self.before()
        elif line.startswith("### SET"):
            self.part = None if self.change is None else self.after()

    def begin_change(self, _verb, table):
        self.change = self.part = None
        if table in KEPT and self.open is not None:
            self.change = Change(table, None, None)
            self.open.changes.append(self.change)

    def before(self):
        self.change.before = {}
        return self.change.before

    def after(self):
        self.change.after = {}
        return self.change.after

    def column(self, number, text):
        if self.part is None:
            return
        order = self.columns[self.change.table]
        name = order[number - 1] if number <= len(order) else None
        if name in KEPT[self.change.table]:
            self.part[name] = value_of(text)

    # --- statements that name columns -----------------------------------------------------------

    def statement_line(self, line):
        if line.startswith("/*!*/;"):
            self.learn(self.statement)
            self.statement = None
        else:
            self.statement += line

    def learn(self, sql):
        created = re.match(r"CREATE TABLE (?:IF NOT EXISTS )?`?(?:\w+`?\.`?)?(\w+)`? *\((.*)\)", sql,
                           re.I | re.S)
        if created:
            names = [match.group(1) for match in re.finditer(r"^\s*`?(\w+)`? +[A-Z]+", created.group(2), re.M)
                     if match.group(1).upper() not in ("PRIMARY", "UNIQUE", "KEY", "INDEX", "CONSTRAINT")]
            if names:
                self.columns[created.group(1)] = names
            return
        altered = re.match(r"ALTER TABLE `?(?:\w+`?\.`?)?(\w+)`?(.*)", sql, re.I | re.S)
        if altered and altered.group(1) in self.columns:
            for added in re.finditer(r"ADD (?:COLUMN )?(?:IF NOT EXISTS )?`?(\w+)`? +[A-Z]+([^,]*)",
                                     altered.group(2), re.I):
                self.add_column(altered.group(1), added.group(1), added.group(2))

    def add_column(self, table, name, rest):
        order = self.columns[table]
        if name.upper() in ("PRIMARY", "UNIQUE", "KEY", "INDEX", "CONSTRAINT") or name in order:
            return
        after = re.search(r"\bAFTER `?(\w+)`?", rest, re.I)
        order.insert(order.index(after.group(1)) + 1 if after and after.group(1) in order else len(order),
                     name)


def value_of(text):
    if text == "NULL":
        return None
    if text.startswith("'"):
        return text[1:-1]
    number = text.split(" ", 1)[0]
    return int(number) if number.lstrip("-").isdigit() else text


def read_text(path):
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        return Reader().read(file)
