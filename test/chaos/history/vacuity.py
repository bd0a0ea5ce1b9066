"""Whether enough happened for "ok" to mean anything: a history without faults proves nothing."""
from allowances import (EFFECTIVE_SHARE, LEAST_EPOCHS, LEAST_FAULTS, LEAST_KILLS, LEAST_LIVES, LEAST_SUBMITS,
                        LEAST_TICKS)
from fault_windows import has, is_kill

QUESTION = "vacuity"


def ask(evidence, findings, bounds):
    effective = [fault for fault in evidence.faults if fault.get("took_effect") is True]
    findings.figure("faults", len(evidence.faults))
    findings.figure("faults_effective", len(effective))
    check_effects(evidence.faults, effective, findings)
    enough(findings, "faults that took effect", len(effective), LEAST_FAULTS)
    enough(findings, "kills", sum(is_kill(fault) and not has(fault, ("connection",)) for fault in effective), LEAST_KILLS)
    enough(findings, "ticks", findings.figures.get("ticks", 0), LEAST_TICKS)
    enough(findings, "acknowledged submits", findings.figures.get("submits_ok", 0), LEAST_SUBMITS)
    enough(findings, "epochs", findings.figures.get("epochs", 0), LEAST_EPOCHS)
    enough(findings, "lives in the ledgers", len(evidence.lives), LEAST_LIVES)
    if not evidence.printed:
        findings.doubt(QUESTION, "no job printed what could be compared with its log")
    for name in ("faults_begin_ms", "faults_end_ms", "ended_ms"):
        if evidence.world.get(name) is None:
            findings.doubt(QUESTION, f"world.json does not say {name}")


def check_effects(faults, effective, findings):
    """A minority without proof is only named: the others of its kind took effect."""
    unproven = [fault for fault in faults if fault.get("took_effect") is not True]
    for fault in unproven:
        word = "had no effect" if fault.get("took_effect") is False else "may have had no effect"
        findings.note(f"unproven: {fault.get('kind')} of {fault.get('target')} at {fault.get('from_ms')} "
                      f"{word}: {fault.get('proof')}")
    proven = {fault.get("kind") for fault in effective}
    for kind in sorted({str(fault.get("kind")) for fault in unproven if fault.get("kind") not in proven}):
        findings.doubt(QUESTION, f"no {kind} is known to have had an effect")
    if len(effective) < EFFECTIVE_SHARE * len(faults):
        findings.doubt(QUESTION, f"{len(unproven)} of {len(faults)} faults are not known to have had an effect")


def enough(findings, what, count, least):
    if count < least:
        findings.doubt(QUESTION, f"only {count} {what}, at least {least} are wanted")
