#!/usr/bin/python3
"""Reads a page of metrics as strictly as Prometheus and its conventions want it.

usage: metrics_check.py < PAGE; exit 1 when something is wrong.

Checked: the grammar of every line; HELP and TYPE before the series and once; no series twice; counters end in
_total and are not negative; other names do not; base units; buckets grow, end with +Inf and agree with _count."""
import math
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SERIES = re.compile(rf'({NAME})(?:\{{((?:{NAME}="(?:[^"\\\n]|\\[\\n"])*",?)*)\}})? (\S+)$')
LABEL = re.compile(rf'({NAME})="((?:[^"\\\n]|\\[\\n"])*)"')
NOT_BASE = ("_ms", "_milliseconds", "_minutes", "_kb", "_mb", "_kib", "_mib", "_percent")


def value_of(text):
    return float({"+Inf": "inf", "-Inf": "-inf", "NaN": "nan"}.get(text, text))


def family_of(name, types):
    for end in ("_bucket", "_sum", "_count"):
        if name.endswith(end) and types.get(name[:-len(end)]) == "histogram":
            return name[:-len(end)]
    return name


def check_buckets(family, series, problems):
    buckets = [(value_of(dict(labels)["le"]), value) for (name, labels), value in series.items()
               if name == family + "_bucket"]
    counts = [value for _, value in buckets]
    if [b for b, _ in buckets] != sorted(b for b, _ in buckets) or counts != sorted(counts):
        problems.append(f"{family}: its buckets do not grow")
    if not buckets or not math.isinf(buckets[-1][0]):
        problems.append(f"{family}: no +Inf bucket at the end")
    elif series.get((family + "_count", ())) != counts[-1]:
        problems.append(f"{family}: its count is not that of its last bucket")


def problems_in(text):
    """(what is wrong, number of families)"""
    problems, helps, types, series, current = [], {}, {}, {}, None
    if not text.endswith("\n"):
        problems.append("the last line has no end")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# HELP ") or line.startswith("# TYPE "):
            kind, name, rest = line[2:].split(" ", 2) if line.count(" ") >= 3 else (None, line, "")
            into = helps if kind == "HELP" else types
            if kind is None or not rest or name in into or any(family_of(n, types) == name for n, _ in series):
                problems.append(f"line {number}: {line}")
            into[name] = rest
            current = name
            continue
        if not line or line.startswith("#"):
            continue
        found = SERIES.match(line)
        if not found:
            problems.append(f"line {number} is no series: {line}")
            continue
        name, labels = found.group(1), tuple(sorted(LABEL.findall(found.group(2) or "")))
        family = family_of(name, types)
        if family != current or family not in types or family not in helps:
            problems.append(f"line {number}: {name} stands away from its HELP and TYPE")
        if (name, labels) in series:
            problems.append(f"line {number}: twice: {line}")
        try:
            series[(name, labels)] = value_of(found.group(3))
        except ValueError:
            problems.append(f"line {number}: no number: {line}")
    for name, kind in types.items():
        if kind not in ("counter", "gauge", "histogram", "summary"):
            problems.append(f"{name}: unknown type {kind}")
        if (kind == "counter") != name.endswith("_total"):
            problems.append(f"{name}: _total belongs to counters, and to all of them")
        if name.removesuffix("_total").endswith(NOT_BASE):
            problems.append(f"{name}: not in base units")
        if kind == "histogram":
            check_buckets(name, series, problems)
    for (name, _), value in series.items():
        if types.get(name) == "counter" and not value >= 0:
            problems.append(f"{name}: a counter below zero")
    return problems, len(types)


def main():
    problems, count = problems_in(sys.stdin.read())
    print("\n".join(problems) or f"{count} families, all well")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
