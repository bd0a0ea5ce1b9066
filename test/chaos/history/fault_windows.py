"""When which faults were on, their targets, and how long their effects may last.

Words in their kind and target identify faults. An unknown word makes a fault "other", which gets the widest
tail, so that the judge never blames the product for a new kind of fault.
"""
import re

from allowances import RESTORE_LOSS_MS, WATERMARK_PAUSE_MS

STORE_WORDS = ("mariadb", "database", "mysql", "store", "db", "replica", "promote", "restore")
ZOOKEEPER_WORDS = ("zookeeper", "zk")
STOP_WORDS = ("stop", "pause", "freeze", "frozen", "suspend")
KILL_WORDS = ("kill", "crash", "die")
CLOCK_WORDS = ("clock", "time", "skew")
RESTORE_WORDS = ("promote", "restore", "rollback", "went")  # database_went_back
COPY_WORDS = ("copy", "backup")
DISK_WORDS = ("disk", "full", "tmpfs")
TERM_WORDS = ("term", "drain")
HOST_WORDS = ("host", "machine", "power")


def words_of(fault):
    return set(re.split(r"[^a-z0-9]+", f"{fault.get('kind', '')} {fault.get('target', '')}".lower()))


def has(fault, words, only_kind=False):
    """Whether a word of the list begins a word of the fault's kind (or target)."""
    text = set(re.split(r"[^a-z0-9]+", str(fault.get("kind", "")).lower())) if only_kind \
        else words_of(fault)
    return any(one.startswith(word) for one in text for word in words)


def is_on_store(fault):
    return has(fault, STORE_WORDS)


def is_on_zookeeper(fault):
    return has(fault, ZOOKEEPER_WORDS)


def is_stop(fault):
    return has(fault, STOP_WORDS, only_kind=True)


def is_kill(fault):
    return has(fault, KILL_WORDS, only_kind=True)


def is_clock(fault):
    return has(fault, CLOCK_WORDS, only_kind=True)


def is_restore(fault):
    return has(fault, RESTORE_WORDS, only_kind=True)


def tail_kind(fault):
    if is_on_store(fault):
        return "store"
    if is_kill(fault) and not has(fault, HOST_WORDS) and not is_on_zookeeper(fault):
        return "process"
    return "other"


def span(fault):
    """From its first to its last moment; a fault without an end still lasts."""
    begin = fault.get("from_ms") or 0
    end = fault.get("to_ms")
    return begin, begin if end is None else max(begin, end)


def holds_ticks(fault):
    """Whether it can make a tick late: on a master, its servers, or a link between them. What is only a
    worker's, or a link to one, can not."""
    target = str(fault.get("target", "")).lower()
    if "->" in target:
        return "worker" not in target
    return not all(part.strip().startswith("worker") for part in target.split("+"))


class Windows:
    """Unions of fault spans with their tails, in time order."""

    def __init__(self, faults, bounds):
        self.faults = [fault for fault in faults if fault.get("took_effect") is not False]
        spans = []
        for fault in self.faults:
            begin, end = span(fault)
            spans.append((begin, end + bounds.tail(tail_kind(fault)), fault))
        self.chains = []
        for begin, end, fault in sorted(spans, key=lambda one: one[:2]):
            if self.chains and begin <= self.chains[-1][1]:
                last = self.chains[-1]
                self.chains[-1] = (last[0], max(last[1], end), last[2] + [fault])
            else:
                self.chains.append((begin, end, [fault]))

    def chain_at(self, moment, slack=0):
        for chain in self.chains:
            if chain[0] - slack <= moment <= chain[1] + slack:
                return chain
        return None

    def end_of(self, moment, slack=0):
        """When the disturbance of that moment must be over: the end of its chain, or the moment itself."""
        chain = self.chain_at(moment, slack)
        return max(moment, chain[1]) if chain else moment

    def touches(self, begin, end, slack=0):
        return any(chain[0] - slack <= end and begin <= chain[1] + slack for chain in self.chains)

    def alone(self):
        """Chains of one fault: only these show what one fault costs."""
        return [(chain[0], chain[1], chain[2][0]) for chain in self.chains if len(chain[2]) == 1]

    def during(self, begin, end):
        """Faults whose own spans touch [begin, end]."""
        return [fault for fault in self.faults
                if span(fault)[0] <= end and begin <= span(fault)[1]]


def lost_stretches(evidence):
    """(from, to) of what a database that went back had forgotten: from its copy until it was back, and the
    ticks held meanwhile."""
    copies = [span(fault)[0] for fault in evidence.faults if has(fault, COPY_WORDS, only_kind=True)]
    for fault in evidence.faults:
        if is_restore(fault) and fault.get("took_effect") is not False:
            begin, end = span(fault)
            earlier = [at for at in copies if at <= begin]
            yield fault.get("lost_from_ms", max(earlier, default=begin - RESTORE_LOSS_MS)), end


def was_lost(evidence, moment):
    """Whether a commit at that moment may have been lost with the database."""
    return moment is not None and any(begin <= moment <= end for begin, end in lost_stretches(evidence))


def is_tick_lost(evidence, tick):
    """The same for ticks: the copy's watermark may be older than the copy."""
    return any(begin - WATERMARK_PAUSE_MS <= tick <= end for begin, end in lost_stretches(evidence))


def clock_error(evidence, begin, end):
    """How far the clocks may be apart in that stretch: fixed offsets, and present jumps."""
    hosts = evidence.world.get("hosts") or {}
    fixed = max((abs(host.get("clock_offset_ms") or 0) for host in hosts.values()
                 if isinstance(host, dict)), default=0)
    jumps = 0
    for fault in evidence.faults:
        first, last = span(fault)
        if is_clock(fault) and first <= end + 1000 and begin <= last + 1000:
            jumps = max(jumps, abs(fault.get("by_ms") or fault.get("offset_ms") or 60_000))
    return fixed + jumps
