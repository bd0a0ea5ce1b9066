"""P9, P16 and the processes' own counters: orphans, files left behind, refusals of stale commands."""
import re

from fault_windows import is_restore, span

QUESTION = "leftovers"
STALE_WRITES = re.compile(r'stale_refused"?[=:]\s*"?(\d+)')
STALE_COMMAND = re.compile(r"refused a dispatch of a deposed leader|a leader with a higher epoch is known")
WENT_BACK = re.compile(r"the database went back|the database lacks what this leader stored")
DIED = re.compile(r"CHECK failed|terminate called|Assertion .* failed|AddressSanitizer|Segmentation fault")


def ask(evidence, findings, bounds):
    residue = evidence.residue
    if residue is None:
        findings.doubt(QUESTION, "residue.json is missing: nobody looked for orphans")
        residue = {}
    orphans, files = residue.get("processes") or [], residue.get("files") or []
    for orphan in orphans[:3]:
        findings.violated(QUESTION, f"a process was left behind: {brief(orphan)}", run=run_of(orphan),
                          at=(evidence.world.get("ended_ms"),))
    for file in files[:3]:
        findings.violated(QUESTION, f"a file was left behind: {brief(file)}",
                          at=(evidence.world.get("ended_ms"),))
    findings.figure("orphans", len(orphans))
    writes = commands = 0
    for host, text in evidence.logs.items():
        writes += sum(int(found) for found in STALE_WRITES.findall(text))
        commands += len(STALE_COMMAND.findall(text))
        died = DIED.search(text)
        if died:
            line = text.count("\n", 0, died.start()) + 1
            findings.violated(QUESTION, f"a process on {host} ended itself: {line_at(text, died.start())} "
                              f"(line {line} of its log)")
    check_alarm(evidence, findings)
    findings.figure("stale_writes_refused", writes)
    findings.figure("stale_commands_refused", commands)
    if not evidence.logs:
        findings.doubt(QUESTION, "there are no logs, so refused writes and commands are not counted")


def check_alarm(evidence, findings):
    """P9: a database that went back is noticed and reported, and its ticks are held."""
    for fault in evidence.faults:
        if is_restore(fault) and fault.get("took_effect") is True and \
                not any(WENT_BACK.search(text) for text in evidence.logs.values()):
            findings.violated(QUESTION, f"P9: {fault['kind']}, and no master says so: {fault.get('proof')}",
                              at=(span(fault)[0],))


def brief(thing):
    return thing if isinstance(thing, str) else " ".join(f"{k}={v}" for k, v in thing.items())


def run_of(orphan):
    run = orphan.get("run") if isinstance(orphan, dict) else None
    return int(run) if run and str(run).isdigit() else None


def line_at(text, position):
    begin = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[begin:end if end >= 0 else len(text)][:200]
