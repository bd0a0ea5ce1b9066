#!/usr/bin/python3
"""Tests of the judge: evidence that is spoiled in one place must not get the verdict ok.

    mutants.py [--evidence FOLDER] [--seed N] [--list]

Without a folder it makes evidence of a history that kept every promise. Each mutant changes one thing, and a
responsible question must find it. Last line: `history mutants caught=N of N`; exit status 1 when a mutant
survived or the unspoiled evidence is not judged ok. With a folder whose own verdict is not ok, a mutant counts
as caught when it adds a finding of its question.
"""
import argparse
import pickle
import random
import sys
import tempfile

import mutants_of_rows
import mutants_of_traces
import synthetic
from evidence import load
from judge import judge

MUTANTS = mutants_of_rows.MUTANTS + mutants_of_traces.MUTANTS


def findings_of(evidence):
    """What each question found: the violations and the doubts, by question."""
    findings = judge(evidence)
    found = {}
    for violation in findings.violations:
        found.setdefault(violation.question, set()).add(violation.what)
    doubts = set(findings.doubts)
    return findings.verdict(), found, doubts


def is_caught(mutant, before, after):
    """Whether one of the responsible questions reports something that it did not report before."""
    if mutant.makes_unknown:
        return bool(after[2] - before[2])
    return any(after[1].get(question, set()) - before[1].get(question, set())
               for question in mutant.questions)


def run(evidence, seed, tell=print):
    """(caught, applied, names of the survivors, names of those that found nothing to spoil)."""
    frozen = pickle.dumps(evidence)
    before = findings_of(evidence)
    survivors, idle, caught = [], [], 0
    for mutant in MUTANTS:
        spoiled = pickle.loads(frozen)
        if not mutant.apply(spoiled, random.Random(f"{seed}-{mutant.name}")):
            idle.append(mutant.name)
            continue
        after = findings_of(spoiled.index())
        if is_caught(mutant, before, after):
            caught += 1
        else:
            survivors.append(mutant.name)
            tell(f"survived {mutant.name}: {mutant.what}; found instead: "
                 f"{ {q: sorted(w - before[1].get(q, set()))[:1] for q, w in after[1].items()} }")
    return caught, caught + len(survivors), survivors, idle, before[0]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--evidence", help="a folder to spoil; default: a made one")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args(arguments)
    if args.list:
        for mutant in MUTANTS:
            print(f"{mutant.name:28} {'/'.join(mutant.questions):22} {mutant.what}")
        return 0
    if args.evidence:
        evidence = load(args.evidence)
    else:
        with tempfile.TemporaryDirectory() as folder:
            synthetic.write(folder, args.seed)
            evidence = load(folder)
    caught, applied, survivors, idle, verdict = run(evidence, args.seed)
    print(f"unspoiled verdict={verdict} nothing_to_spoil={','.join(idle) or '-'}")
    print(f"history mutants caught={caught} of {applied}")
    return 0 if not survivors and (args.evidence or verdict == "ok") else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
