"""A mutant, and how it finds something to spoil."""
import copy

ID_BITS = 40


class Mutant:
    """One way to spoil evidence. `apply` returns False when this history has nothing of the kind."""

    def __init__(self, name, questions, what, apply, makes_unknown=False):
        self.name, self.questions, self.what = name, questions, what
        self.apply, self.makes_unknown = apply, makes_unknown


class Collection:
    """Collects mutants by decorator."""

    def __init__(self):
        self.mutants = []

    def __call__(self, *questions, makes_unknown=False):
        def take(function):
            self.mutants.append(Mutant(function.__name__, questions, function.__doc__, function,
                                       makes_unknown))
            return function
        return take


def pick(dice, things):
    things = list(things)
    return dice.choice(things) if things else None


def is_quiet(evidence, moment, margin=30_000):
    """Whether there is no fault near that moment, so that no allowance covers the spoiled place."""
    return all(not (fault.get("from_ms") or 0) - margin < moment < (fault.get("to_ms") or
               fault.get("from_ms") or 0) + margin for fault in evidence.faults)


def runs(evidence, **wanted):
    return [run for run in evidence.store["run"]
            if all(run.get(name) == value for name, value in wanted.items())]


def ticks(evidence):
    """Scheduled runs up to the watermark that one attempt with one plain life carried out."""
    return [run for run in runs(evidence, kind="tick", state="succeeded", attempt=1)
            if len(evidence.lives_of[run["run_id"]]) == 1 and run["tick_ms"] < evidence.watermark() - 5000]


def quiet_ticks(evidence, margin=12_000):
    return [run for run in ticks(evidence) if is_quiet(evidence, run["tick_ms"], margin)]


def one_offs(evidence):
    """Submits that were answered once, with ok, and ran once."""
    answered = {}
    for op in evidence.clients:
        if op.get("op") == "submit" and op.get("key"):
            answered.setdefault(op["key"], []).append(op)
    return [(ops[0], evidence.runs[ops[0]["run"]]) for ops in answered.values()
            if len(ops) == 1 and ops[0]["outcome"] == "ok" and ops[0]["run"] in evidence.runs]


def overlap_of(evidence, run):
    return evidence.rules_of(run).get("overlap")


def forget_run(evidence, run):
    """Everywhere except in the clients' answers: store, binlog, ledger."""
    evidence.store["run"].remove(run)
    evidence.lives = [life for life in evidence.lives if life.run != run["run_id"]]
    for transaction in evidence.transactions:
        transaction.changes = [change for change in transaction.changes if change.table != "run" or
                               (change.after or change.before)["run_id"] != run["run_id"]]


def copy_of_run(evidence, run, **changed):
    """Another run, in the store and in the binlog."""
    new_id = run["run_id"] + (1 << 30)
    twin = {**run, "run_id": new_id, **changed}
    evidence.store["run"].append(twin)
    for transaction in evidence.transactions:
        for change in list(transaction.changes):
            if change.table == "run" and change.after and change.after["run_id"] == run["run_id"]:
                other = copy.deepcopy(change)
                for row in (other.before, other.after):
                    if row:
                        row["run_id"] = new_id
                        row.update({name: value for name, value in changed.items() if name in row})
                transaction.changes.append(other)
    return twin


def copy_of_life(evidence, life, shift_ms, **changed):
    """The same lines again, later or earlier."""
    twin = copy.deepcopy(life)
    shift_life(twin, shift_ms)
    for name, value in changed.items():
        setattr(twin, name, value)
    evidence.lives.append(twin)
    return twin


def shift_life(life, ms):
    life.beats = [at + ms for at in life.beats]
    for name in ("start", "end", "first", "last"):
        if getattr(life, name) is not None:
            setattr(life, name, getattr(life, name) + ms)


def cut_life(life, share=0.5):
    """Breaks off without an end, part of the way."""
    life.beats = life.beats[:max(1, int(len(life.beats) * share))]
    life.last, life.end = life.beats[-1], None


def transactions_after_takeover(evidence):
    """The transactions that write a Term's rows while a second epoch or a later one is in force."""
    seen, found = 0, []
    for transaction in evidence.transactions:
        seen += any(change.table == "epoch" and change.after and change.after["value"]
                    for change in transaction.changes)
        if seen >= 2 and any(change.table == "run" and change.after for change in transaction.changes):
            found.append(transaction)
    return found
