#!/usr/bin/python3
"""Judges the file that ledger_job writes: was anything ever alive twice?

    ledger_check.py FILE [--job] [--allow-ms N] [--json]

A life is one (run, attempt, incarnation, pid): from its `start` to its last line. Two lives of one run
(with --job: of one job) overlap when their spans do. A life without an `end` was killed; it was alive
at least until its last beat, so the overlap found is a lower bound, at most one beat (20 ms) short.

Prints lives, ended, cut (no end), runs, the number of overlapping pairs and the largest overlap in ms.
Exit status 0: no overlap above --allow-ms (default 0); 1: there was; 2: the file cannot be judged.
"""
import argparse
import json
import sys


def read_lives(path):
    """Spans by life; a torn last line (the host died) is counted, other broken lines are an error."""
    lives, torn = {}, 0
    with open(path, "rb") as file:
        content = file.read()
    lines = content.split(b"\n")
    if lines and lines[-1]:
        torn = 1
    for number, raw in enumerate(lines[:-1], 1):
        words = raw.decode("utf-8", "replace").split()
        if len(words) != 9 or words[0] not in ("start", "beat", "end"):
            raise ValueError(f"{path}:{number}: not a ledger line: {raw[:100]!r}")
        kind, run, attempt, epoch, incarnation, at, job, tick, pid = words
        life = lives.setdefault((run, attempt, incarnation, pid, job), {
            "run": run, "attempt": attempt, "incarnation": incarnation, "pid": pid, "job": job,
            "epoch": epoch, "tick": tick, "from": int(at), "to": int(at), "ended": False})
        # One pid may come again for the same attempt only as another life; ledger lines of one life
        # are in order, so a second start within it is a repeat that must not be hidden.
        if kind == "start" and life["to"] != int(at):
            life["restarted"] = True
        life["to"] = max(life["to"], int(at))
        life["ended"] = life["ended"] or kind == "end"
    return list(lives.values()), torn


def overlaps(lives, what):
    """Pairs of lives of one `what` whose spans overlap, with the overlap in microseconds."""
    found = []
    groups = {}
    for life in lives:
        if life[what] != "-":
            groups.setdefault(life[what], []).append(life)
    for group in groups.values():
        group.sort(key=lambda life: life["from"])
        open_lives = []
        for life in group:
            open_lives = [other for other in open_lives if other["to"] > life["from"]]
            for other in open_lives:
                found.append((min(other["to"], life["to"]) - life["from"], other, life))
            open_lives.append(life)
    return sorted(found, key=lambda item: item[0], reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--job", action="store_true",
                        help="no two lives of one job (overlap other than allow)")
    parser.add_argument("--allow-ms", type=float, default=0.0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        lives, torn = read_lives(args.file)
    except (OSError, ValueError) as error:
        print(f"ledger_check: {error}", file=sys.stderr)
        return 2
    found = overlaps(lives, "job" if args.job else "run")
    largest_ms = found[0][0] / 1000 if found else 0.0
    repeated = [life for life in lives if life.get("restarted")]
    summary = {
        "lives": len(lives), "ended": sum(life["ended"] for life in lives),
        "cut": sum(not life["ended"] for life in lives), "runs": len({life["run"] for life in lives}),
        "torn_lines": torn, "restarted_in_place": len(repeated),
        "overlaps": len(found), "max_overlap_ms": round(largest_ms, 3)}
    ok = largest_ms <= args.allow_ms and not repeated
    if args.json:
        print(json.dumps({"ok": ok, **summary}))
    else:
        print(" ".join(f"{key}={value}" for key, value in summary.items()), "ok" if ok else "OVERLAP")
        for us, one, two in found[:5]:
            print(f"  {us / 1000:.1f} ms: run {one['run']} attempt {one['attempt']} epoch {one['epoch']} "
                  f"pid {one['pid']} with run {two['run']} attempt {two['attempt']} "
                  f"epoch {two['epoch']} pid {two['pid']}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
