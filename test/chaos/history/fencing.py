"""P7, P9, P34 and the order of writes, from the database's own binlog: the true order of the commits.

Every write of a Term names its epoch (in the row, or in the run id). After the first committed write of a newer
epoch, a write of an older one breaks the fence, whatever the clocks said. No order of commits may show these
either: a final state that changes, a watermark that goes back, a rewritten gap row.
"""
from evidence import FINAL

QUESTION = "fencing"
ID_BITS = 40
NOTHING = (0, 0, 0)  # a watermark: all jobs through, reaching for those with ids up to this one
OWN = ("ticks_through_ms", "valid_to_ms")
STRANGER = "stranger"  # so the fault `second_cluster` calls its master


def ask(evidence, findings, bounds):
    if not evidence.transactions:
        findings.doubt(QUESTION, "there is no binlog, so the order of the commits is not known")
        findings.figure("epochs", len({run["run_id"] >> ID_BITS for run in evidence.store["run"]}))
        return
    order = Order(evidence, findings)
    for transaction in evidence.transactions:
        order.take(transaction)
    findings.figure("epochs", len(order.epochs))
    findings.note(f"transactions={len(evidence.transactions)} of_a_term={order.of_a_term} "
                  f"highest_epoch={order.in_force}")
    compare_with_dump(evidence, order, findings)


def takes_office(change):
    """A leader also notes in its own row what it keeps whole (open_kept_for): that takes nothing."""
    before = change.before or {}
    return any(before.get(name) != change.after.get(name) for name in ("value", "holder", "taken_ms"))


class Order:
    """Walks through the commits; remembers what is in force after each."""

    def __init__(self, evidence, findings):
        self.evidence, self.findings = evidence, findings
        self.in_force, self.taken_by, self.epochs = 0, None, []
        self.watermark = NOTHING
        self.of_a_term = 0
        self.present = set()
        self.deleted = set()
        self.server_starts = list(evidence.server_starts)

    def broken(self, transaction, what, **subject):
        subject.setdefault("at", (transaction.at_ms,))
        self.findings.violated(QUESTION, f"commit {transaction.number}: {what}",
                               transaction=transaction, **subject)

    def take(self, transaction):
        if self.evidence.world.get("restored"):
            while self.server_starts and self.server_starts[0][1] < transaction.number:
                self.server_starts.pop(0)
                self.watermark = NOTHING  # a database that went back shows an earlier one
        for change in transaction.changes:
            if change.table == "epoch" and change.after and takes_office(change):
                self.take_office(transaction, change.after)
        self.check_epochs(transaction)
        for change in transaction.changes:
            if change.table == "run":
                self.check_run(transaction, change)
            elif change.table == "gap" and change.before is not None and change.after is not None and \
                    change.before != change.after:
                self.broken(transaction, f"a gap row was rewritten: {change}", job=change.after["job_id"])
            elif change.table == "job_version":
                self.check_version(transaction, change)
            elif change.table == "watermark" and change.after:
                self.advance(transaction, mark_in(change.after))
        self.check_ticks(transaction)

    def take_office(self, transaction, row):
        value = row["value"]
        if str(row.get("holder") or "").startswith(STRANGER):
            self.broken(transaction, f"epoch {value} was taken by a second cluster, beside a living one")
        if value and value <= self.in_force:
            self.broken(transaction, f"epoch {value} was taken after epoch {self.in_force}")
        if value:
            self.epochs.append(value)
            self.in_force, self.taken_by = max(self.in_force, value), transaction

    def check_epochs(self, transaction):
        wrote = {epoch for change in transaction.changes for epoch in epochs_of(change)}
        if not wrote:
            return
        self.of_a_term += 1
        if len(wrote) > 1:
            self.broken(transaction, f"one transaction writes for epochs {sorted(wrote)}")
        if min(wrote) < self.in_force:
            self.broken(transaction, f"a write of epoch {min(wrote)} after epoch {self.in_force} was taken "
                        f"(commit {self.taken_by.number})", at=(self.taken_by.at_ms, transaction.at_ms),
                        run=first_run(transaction))
        if max(wrote) > self.in_force:
            self.broken(transaction, f"a write of epoch {max(wrote)}, which nobody had taken (in force is "
                        f"{self.in_force})", run=first_run(transaction))

    def check_run(self, transaction, change):
        before, after = change.before, change.after
        if after is None:
            self.deleted.add(before["run_id"])
            self.present.discard(before["run_id"])
            return
        subject = {"run": after["run_id"], "job": after["job_id"]}
        if before is None:
            if after["run_id"] in self.present and not self.evidence.world.get("restored"):
                self.broken(transaction, f"run {after['run_id']} was inserted a second time", **subject)
            self.present.add(after["run_id"])
            return
        old, new = before["state"], after["state"]
        if old in FINAL and (new != old or before["outcome_state"] != after["outcome_state"]):
            self.broken(transaction, f"run {after['run_id']} was {old} and became {new} "
                        f"({after['outcome_state']})", **subject)
        elif new == "skipped" and old != new:  # a run is skipped when it is recorded, or never
            self.broken(transaction, f"run {after['run_id']} went from {old} to {new}", **subject)
        if after["attempt"] < before["attempt"]:
            self.broken(transaction, f"run {after['run_id']} went from attempt {before['attempt']} to "
                        f"{after['attempt']}", **subject)
        for name in ("tick_ms", "job_id", "job_version", "request_key"):
            if before.get(name) != after.get(name):
                self.broken(transaction, f"run {after['run_id']}: {name} was {before.get(name)} and became "
                            f"{after.get(name)}", **subject)

    def check_version(self, transaction, change):
        before, after = change.before, change.after
        if before and after and before["valid_to_ms"] is not None and \
                before["valid_to_ms"] != after["valid_to_ms"]:
            self.broken(transaction, f"the end of job version {after['job_id']}/{after['version']} was moved "
                        f"from {before['valid_to_ms']} to {after['valid_to_ms']}", job=after["job_id"])

    def advance(self, transaction, mark):
        if mark < self.watermark:
            self.broken(transaction, f"the watermark went back from {self.watermark} to {mark}",
                        at=(mark[0], transaction.at_ms))
        self.watermark = max(self.watermark, mark)

    def recorded(self, transaction, job):
        """How far this job's ticks may be recorded: an edit, or its own row, may be ahead of the watermark."""
        through, reaching, last = self.watermark
        own = [change.after.get(name) or 0 for change in transaction.changes for name in OWN
               if change.table in ("job", "job_version") and change.after and change.after["job_id"] == job]
        return max([through, reaching if job <= last else 0, *own])

    def check_ticks(self, transaction):
        """The watermark is in the transaction that writes the ticks up to it."""
        for change in transaction.changes:
            row = change.after
            if change.before is not None or row is None:
                continue
            last = row["tick_ms"] if change.table == "run" else row["to_ms"] if change.table == "gap" else None
            if last is not None and last > self.recorded(transaction, row["job_id"]):
                self.broken(transaction, f"{change.table} with tick {last}, and the watermark stands at "
                            f"{self.watermark}", run=row.get("run_id"), job=row.get("job_id"))


def mark_in(row):
    through, reaching = row["value_ms"], row.get("reaching_ms") or 0
    return (through, reaching, row.get("job_id") or 0) if reaching > through else (through, through, 0)


def epochs_of(change):
    """The Term that wrote it: run, attempt and gap rows and dispatches have the epoch of their Term."""
    row = change.after
    if row is None or change.table not in ("run", "run_open", "attempt", "gap"):
        return
    if change.table == "run_open" and (not row.get("attempt") or row == change.before):
        return
    if row.get("epoch"):
        yield row["epoch"]
    if change.table == "run" and change.before is None:
        yield row["run_id"] >> ID_BITS


def first_run(transaction):
    return next(((change.after or change.before)["run_id"] for change in transaction.changes
                 if change.table == "run"), None)


def compare_with_dump(evidence, order, findings):
    """Both must describe the same history; otherwise neither can be trusted."""
    if evidence.world.get("restored"):
        return
    dumped = set(evidence.runs)
    lost, strange = order.present - dumped, dumped - order.present - order.deleted
    if lost:
        findings.violated(QUESTION, f"{len(lost)} runs were committed and are not in the store, the first "
                          f"is {min(lost)}", run=min(lost))
    if strange:
        findings.doubt(QUESTION, f"{len(strange)} runs of the store are not in the binlog, which seems to "
                       "begin late or to miss files")
    stored = max((row["value"] for row in evidence.store["epoch"]), default=0)
    if stored != order.in_force:
        findings.violated(QUESTION, f"the store's epoch is {stored}, epoch {order.in_force} was taken last")
