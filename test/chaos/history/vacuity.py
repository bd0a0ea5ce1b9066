"""Whether enough happened for "ok" to mean anything: a history without faults proves nothing."""
from allowances import (LEAST_EPOCHS, LEAST_FAULTS, LEAST_KILLS, LEAST_LIVES, LEAST_SUBMITS, LEAST_TICKS,
                        UNPROVEN_SHARE)
from fault_windows import LINK_WORDS, has, is_kill

QUESTION = "vacuity"


def ask(evidence, findings, bounds):
    effective = [fault for fault in evidence.faults if fault.get("took_effect") is True]
    findings.figure("faults", len(evidence.faults))
    findings.figure("faults_effective", len(effective))
    unproven = [fault for fault in evidence.faults if is_of_a_link(fault) and fault["took_effect"] is None]
    excused = unproven if len(unproven) <= UNPROVEN_SHARE * len(evidence.faults) else []
    for fault in evidence.faults:
        if fault.get("took_effect") is not True and fault not in excused:
            word = "had no effect" if fault.get("took_effect") is False else "may have had no effect"
            findings.doubt(QUESTION, f"{fault.get('kind')} of {fault.get('target')} at "
                           f"{fault.get('from_ms')} {word}: {fault.get('proof')}")
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


def is_of_a_link(fault):
    return "took_effect" in fault and has(fault, LINK_WORDS, only_kind=True)


def enough(findings, what, count, least):
    if count < least:
        findings.doubt(QUESTION, f"only {count} {what}, at least {least} are wanted")
