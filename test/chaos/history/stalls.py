"""When the machine itself stood still: no process on it, and so no promise of Rota, can be faster than that.

There are two witnesses, and neither is part of Rota: a meter that the harness runs beside everything
(stalls.jsonl: a pause of 0.1 s or a synced write of a few bytes that took far longer), and the jobs' ledgers. A
ledger's lines are due every 20 ms and synced, by a program that prints nothing, so only the machine delays it.
"""
from allowances import LEAST_STALL_MS, STALL_SHARE
from fault_windows import is_stop, span

BEAT_MS = 20


class Stalls:
    """Their union, in time order."""

    def __init__(self, spans):
        self.spans = []
        for begin, end in sorted(spans):
            if self.spans and begin <= self.spans[-1][1]:
                self.spans[-1][1] = max(self.spans[-1][1], end)
            else:
                self.spans.append([begin, end])

    def within(self, begin, end):
        """How many milliseconds of that stretch were stalls."""
        return sum(max(0, min(end, last) - max(begin, first)) for first, last in self.spans)

    def total(self):
        return sum(last - first for first, last in self.spans)

    def explains(self, begin, end):
        """Whether stalls were most of the delay of something due at `begin` and done at `end`."""
        return self.within(begin, end) >= STALL_SHARE * (end - begin)


def of(evidence):
    spans = [(row["from_ms"], row["to_ms"]) for row in evidence.stalls if
             row["to_ms"] - row["from_ms"] >= LEAST_STALL_MS]
    return Stalls(spans + list(of_ledgers(evidence)))


def of_ledgers(evidence):
    """Gaps between a life's lines, except those in which a signal had stopped it."""
    if evidence.boot_to_wall is None:
        return
    stops = [span(fault) for fault in evidence.faults if is_stop(fault)]
    for life in evidence.lives:
        beats = sorted(life.beats)
        for before, after in zip(beats, beats[1:]):
            begin, end = evidence.wall(before) + BEAT_MS, evidence.wall(after)
            if end - begin >= LEAST_STALL_MS and \
                    not any(first <= end and begin <= last for first, last in stops):
                yield begin, end
