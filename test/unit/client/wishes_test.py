#!/usr/bin/python3
"""docs/wishes.md against the program: all rows are there, and each command of `rota` in it exists with its options.

usage: wishes_test.py ROTA
exit: 0 all is well, 1 not
"""
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/wishes.md"
ROWS = 120
ANSWERS = {"yes", "partly", "other", "no"}


def fail(what):
    print(f"FAILED: {what}")
    sys.exit(1)


def rows_of(text):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0].isdigit():
            yield [*cells]


def check_command(command, table):
    """The longest beginning that is a command; each option behind it is one of its own or of its parents."""
    words = shlex.split(command)
    path = ["rota"]
    options = set()
    left = words[1:]
    while True:
        known = table[" ".join(path)]
        options |= {name for option in known["options"] for name in option["names"]}
        at = next((i for i, word in enumerate(left) if " ".join([*path, word]) in table), None)
        if at is None or any(word == "--" for word in left[:at]):
            break
        path.append(left.pop(at))
    if known["has_children"] and path[-1] != "freeze":
        fail(f"`{command}`: `{' '.join(path)}` is no whole command")
    for word in left:
        if word == "--":
            break
        if word.startswith("-") and word.split("=")[0] not in options:
            fail(f"`{command}`: {' '.join(path)} has no option {word}")


def main(rota):
    described = subprocess.run([rota, "--describe"], capture_output=True, check=True).stdout
    table = {command["command"]: command for command in json.loads(described)}
    text = PAGE.read_text()
    rows = list(rows_of(text))
    if [int(row[0]) for row in rows] != list(range(1, ROWS + 1)):
        fail(f"the rows are not 1 to {ROWS}: {[row[0] for row in rows]}")
    counts = dict.fromkeys(sorted(ANSWERS), 0)
    for row in rows:
        if len(row) != 5 or row[2] not in ANSWERS:
            fail(f"row {row[0]} has no answer: {row}")
        if row[2] == "yes" and not row[4]:
            fail(f"row {row[0]} is met, but nothing shows it")
        counts[row[2]] += 1
    commands = re.findall(r"`(rota [^`]+)`", text)
    for command in commands:
        check_command(command, table)
    print("wishes rows=%d %s commands=%d" % (len(rows), " ".join(f"{k}={v}" for k, v in counts.items()), len(commands)))


if __name__ == "__main__":
    main(sys.argv[1])
