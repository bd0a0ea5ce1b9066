#!/usr/bin/python3
"""metrics_check: a good page passes; each page that is wrong in one place is refused for that."""
import sys

import metrics_check

GOOD = """# HELP a_total Things.
# TYPE a_total counter
a_total{how="well \\"done\\""} 3
a_total{how="other"} 4
# HELP b_seconds Time.
# TYPE b_seconds gauge
b_seconds 0.5
# HELP c_seconds Times.
# TYPE c_seconds histogram
c_seconds_bucket{le="0.1"} 2
c_seconds_bucket{le="1"} 3
c_seconds_bucket{le="+Inf"} 4
c_seconds_sum 7.65
c_seconds_count 4
"""
# what is replaced, by what, and a word of the complaint
WRONG = [
    ("b_seconds 0.5\n", "b_seconds\n", "no series"),
    ("b_seconds 0.5\n", "b_seconds half\n", "no number"),
    ("b_seconds 0.5\n", "b_seconds 0.5\nb_seconds 0.6\n", "twice"),
    ("b_seconds 0.5\n", "d_seconds 0.5\n", "HELP and TYPE"),
    ("# HELP b_seconds Time.\n", "", "HELP and TYPE"),
    ("# TYPE b_seconds gauge\n", "# TYPE b_seconds gauge\n# TYPE b_seconds gauge\n", "TYPE"),
    ("b_seconds", "b_milliseconds", "base units"),
    ("gauge", "gouge", "unknown type"),
    ("a_total", "a", "_total"),
    ("b_seconds", "b_total", "_total"),
    ('{how="other"} 4', '{how="other"} -4', "below zero"),
    ('how="other"', "how=other", "no series"),
    ('how="well \\"done\\""', 'how="well "done""', "no series"),
    ('le="1"} 3', 'le="1"} 1', "do not grow"),
    ('c_seconds_bucket{le="+Inf"} 4\n', "", "+Inf"),
    ("c_seconds_count 4", "c_seconds_count 5", "count"),
    ("c_seconds_count 4\n", "c_seconds_count 4", "no end"),
]


def main():
    failures = []
    problems, count = metrics_check.problems_in(GOOD)
    if problems or count != 3:
        failures.append(f"the good page: {count} families, {problems}")
    for old, new, word in WRONG:
        problems, _ = metrics_check.problems_in(GOOD.replace(old, new))
        if not any(word in problem for problem in problems):
            failures.append(f"{old!r} -> {new!r}: no complaint of {word!r} in {problems}")
    for failure in failures:
        print("FAILED", failure)
    print(f"{1 + len(WRONG) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
