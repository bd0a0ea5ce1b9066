#!/usr/bin/python3
"""Judges the evidence of a chaos run: did Rota keep its promises?

    judge.py EVIDENCE [--notes] [--witnesses N]

Shares no code with Rota. Prints one line of figures that begins with `verdict=ok|violated|unknown`, then
for each violation its smallest witness as a timeline, and for "unknown" what could not be judged.
Exit status: 0 ok, 1 violated, 3 unknown, 2 the evidence cannot be read.
"""
import argparse
import sys

import accounting
import client_answers
import exclusion
import fencing
import leftovers
import output_bytes
import recovery
import stalls
import targets
import truth
import vacuity
import witness
from allowances import Bounds
from evidence import Unreadable, load
from fault_windows import Windows, holds_ticks
from findings import Findings

QUESTIONS = (accounting, targets, exclusion, truth, client_answers, fencing, output_bytes, recovery,
             leftovers, vacuity)
LINE = ("ticks", "missed", "doubled", "late_p99_inside_ms", "late_p99_outside_ms", "max_overlap_ms",
        "submits_ok", "submits_unknown", "submits_lost", "epochs", "stale_writes_refused",
        "stale_commands_refused", "log_bytes_acked", "log_bytes_lost", "orphans", "faults",
        "faults_effective", "stalls_ms")
EXIT = {"ok": 0, "violated": 1, "unknown": 3}


def judge(evidence):
    """All questions, in order; vacuity last, because it reads the figures of the others."""
    findings = Findings()
    bounds = Bounds(evidence.world.get("settings"))
    bounds.windows = Windows(evidence.faults, bounds)
    bounds.tick_windows = Windows([fault for fault in evidence.faults if holds_ticks(fault)], bounds)
    bounds.stalls = stalls.of(evidence)
    findings.figure("stalls_ms", round(bounds.stalls.total()))
    for question in QUESTIONS:
        question.ask(evidence, findings, bounds)
    return findings


def verdict_line(evidence, findings):
    words = [f"verdict={findings.verdict()}", f"seed={evidence.world.get('seed', '-')}"]
    return " ".join(words + [f"{name}={findings.figures.get(name, '-')}" for name in LINE])


def tell_violations(evidence, findings, most):
    """The first few violations of each question, each with its timeline."""
    by_question = {}
    for violation in findings.violations:
        by_question.setdefault(violation.question, []).append(violation)
    for question, violations in by_question.items():
        print(f"violated {question}: {len(violations)}")
        for violation in violations[:most]:
            print(f"  {violation.what}")
            print("\n".join(witness.timeline(evidence, violation)))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("evidence")
    parser.add_argument("--notes", action="store_true", help="print the figures behind the verdict too")
    parser.add_argument("--witnesses", type=int, default=3, help="timelines for each question (3)")
    args = parser.parse_args(arguments)
    try:
        evidence = load(args.evidence)
    except Unreadable as error:
        print(f"judge: {error}", file=sys.stderr)
        return 2
    findings = judge(evidence)
    print(verdict_line(evidence, findings))
    if args.notes:
        print("\n".join(f"note {note}" for note in findings.notes))
    tell_violations(evidence, findings, args.witnesses)
    for doubt in findings.doubts[:20]:
        print(f"unknown {doubt}")
    return EXIT[findings.verdict()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
