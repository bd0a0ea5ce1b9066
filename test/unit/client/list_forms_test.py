#!/usr/bin/python3
"""Every list of `rota` in every form, against a stand-in for a master.

usage: list_forms_test.py ROTA

Walks the table of all commands (`rota --describe`), so a new list cannot forget a form: each can be filtered by --where,
watched, and printed as table, wide, json, yaml and csv, and a command that prints a list without being one is found. A list
of 100,000 runs streams in bounded memory; a reader that goes away is no error.
exit: 0 all is well, 1 not
"""
import csv
import fcntl
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/support"))
import stand_in_master  # noqa: E402

PATIENCE_S = 120
FORMS = ("table", "wide", "json", "yaml", "csv")
LIST_WORDS = {"list", "gaps", "lives", "history", "preview", "attention"}
# What they print for people is no table: a sentence, and a command that helps.
IN_SENTENCES = {"rota attention"}
# They read a file, run a command, or wait.
NOT_ASKED = {"rota apply", "rota job apply", "rota calendar apply", "rota calendar import", "rota lock", "rota completion",
             "rota submit", "rota run logs", "rota run wait", "rota job run", "rota run rerun"}
MANY, FEW = 100_000, 1000
MOST_GROWTH_KB = 8 << 10


class Failed(Exception):
    pass


def check(is_fine, what):
    if not is_fine:
        raise Failed(what)


class Rota:
    def __init__(self, program, address, home):
        self.program, self.address = program, address
        self.env = {"PATH": os.environ["PATH"], "HOME": home}
        self.calls = 0

    def words(self, *words):
        return [self.program, "--masters", self.address, "--deadline", "60s", *words]

    def run(self, *words):
        self.calls += 1
        return subprocess.run(self.words(*words), env=self.env, capture_output=True, timeout=PATIENCE_S)

    def ok(self, *words):
        done = self.run(*words)
        check(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode()


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def by_cells(line):
    """The line as one character for each place on a screen."""
    return "".join(c if width(c) < 2 else c + "\0" for c in line)


def check_aligned(what, text):
    """Each column begins in the same place of every line."""
    lines = [by_cells(line) for line in text.splitlines()]
    check(len(lines) > 1, f"{what}: no rows: {text}")
    starts = [found.start() for found in re.finditer(r"(?<=  )\S", "  " + lines[0])]
    for line in lines[1:]:
        for start in (at - 2 for at in starts[1:]):
            before = line[start - 2:start]
            check(before.strip() == "", f"{what}: a cell reaches into the next column:\n{text}")
    check("\x1b" not in text, f"{what}: colours or controls in a pipe")


def flat(value, name=""):
    """The columns that csv has for a row of json."""
    if not isinstance(value, dict):
        return {name}
    return set().union(*(flat(inner, f"{name}.{key}" if name else key) for key, inner in value.items())) if value else set()


def words_of(command):
    """The command with a word for each place that must be filled."""
    words = command["command"].split()[1:]
    for place in command["positionals"]:
        if place["is_required"]:
            words.append("1" if place["names"][0] in ("run", "count") else "x")
    if command["command"] == "rota calendar preview":
        words.append("x")
    return words


def check_forms(rota, command):
    words, name = words_of(command), command["command"]
    shown = {form: rota.ok("-o", form, *words) for form in FORMS}
    rows = json.loads(shown["json"])
    check(isinstance(rows, list) and rows, f"{name}: -o json is no list with rows: {shown['json'][:200]}")
    check(all(isinstance(row, dict) for row in rows), f"{name}: a row is no object")
    check(yaml.safe_load(shown["yaml"]) == rows, f"{name}: yaml differs from json")
    table = list(csv.reader(io.StringIO(shown["csv"])))
    check(len(table) == len(rows) + 1, f"{name}: csv has {len(table) - 1} rows, json {len(rows)}")
    columns = set().union(*map(flat, rows))
    check(table[0] == sorted(columns, key=str.encode), f"{name}: columns of csv: {table[0]}, not {sorted(columns)}")
    if name not in IN_SENTENCES:
        check_aligned(f"{name} table", shown["table"])
        headers = [re.split(r"\s{2,}", shown[form].splitlines()[0]) for form in ("table", "wide")]
        check(set(headers[0]) <= set(headers[1]), f"{name}: wide lacks columns of table: {headers}")
    check_aligned(f"{name} wide", shown["wide"])
    return rows


def check_where(rota, command, rows):
    words, name = words_of(command), command["command"]
    key, value = next((k, v) for k, v in rows[0].items() if isinstance(v, str) and v and "*" not in v)
    some = json.loads(rota.ok("-o", "json", *words, "--where", f"{key}={value}"))
    check(some and all(row[key] == value for row in some), f"{name} --where {key}={value}: {some}")
    none = json.loads(rota.ok("-o", "json", *words, "--where", f"{key}!=*"))
    check(none == [], f"{name}: --where {key}!=* leaves {none}")
    for form in FORMS:
        rota.ok("-o", form, *words, "--where", f"{key}!=*")
    told = rota.run(*words, "--where", "no_such_key=1")
    check(told.returncode == 2 and b"no row has" in told.stderr, f"{name}: an unknown key: {told}")
    check(rota.run(*words, "--where", "nonsense").returncode == 2, f"{name}: a wrong condition")


def check_watch(rota, command, rows):
    """One document, since nothing changes; Ctrl-C is a clean end."""
    name = command["command"]
    for form in FORMS:
        watched = subprocess.Popen(rota.words("-o", form, *words_of(command), "--watch", "--interval", "100ms"),
                                   env=rota.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = watched.stdout.readline()
        if form == "json":
            check(json.loads(first) == rows, f"{name} --watch: {first}")
        check(rota.stand_in.await_questions(3, PATIENCE_S), f"{name} --watch -o {form} does not look again")
        watched.send_signal(signal.SIGINT)
        rest, told = watched.communicate(timeout=PATIENCE_S)
        notes = told and form in ("json", "yaml", "csv")  # people are told more than programs
        check(watched.returncode == 0 and not notes, f"{name} --watch -o {form}: exit {watched.returncode}, {told}")
        check(form != "json" or rest == b"", f"{name} --watch: nothing changed, but it printed {rest}")


def check_terminal(rota):
    """On a small terminal a list is drawn over the look before, cut to its size; Ctrl-C is a clean end."""
    rows, columns = 4, 40
    child, terminal = pty.fork()
    if child == 0:
        os.execve(rota.program, rota.words("worker", "list", "--watch", "--interval", "100ms"), {**rota.env, "TERM": "xterm"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    shown = b""
    while shown.count(b"\x1b[H") < 8 or not shown.endswith(b"\x1b[J"):
        shown += os.read(terminal, 65536)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(child, 0)
    check(status == 0, f"Ctrl-C at a terminal: {status}")
    check(shown.count(b"\x1b[2J") == 1, "the screen is cleared once, and then drawn over")
    look = shown.decode().split("\x1b[H")[-1].removesuffix("\x1b[J")
    lines = look.replace("\r\n", "\n").splitlines()
    check(len(lines) <= rows - 1 and "more lines" in lines[-1], f"more lines than the screen has: {lines}")
    check(all(width(line.removesuffix("\x1b[K")) <= columns for line in lines), f"a line is too long: {lines}")


def check_unmarked(rota, command):
    """A command that prints rows must be a list."""
    words = ["-o", "json", *words_of(command)]
    if any("--yes" in option["names"] for option in command["options"]):
        words.append("--yes")
    done = rota.run(*words)
    if done.returncode != 0 or not done.stdout.startswith((b"[", b"{")):
        return 0
    check(isinstance(json.loads(done.stdout), dict), f"{command['command']} prints a list, but is not marked as one")
    return 1


# The largest memory of a process counts that of the one that started it, so a small one does.
MEASURE = ("import resource, subprocess, sys; status = subprocess.run(sys.argv[1:]).returncode; "
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(status)")


def memory_of(words, env, count):
    """What `count` says of the output, and the largest resident memory in KiB."""
    with tempfile.TemporaryFile("w+") as out:
        done = subprocess.run(["/usr/bin/python3", "-S", "-c", MEASURE, *words], env=env, stdout=out, stderr=subprocess.PIPE)
        check(done.returncode == 0, f"{words}: {done.returncode} {done.stderr}")
        out.seek(0)
        return count(out), int(done.stderr)


def ids_in(lines):
    """Of the runs, in any form: the ids of the stand-in are as no other text."""
    first = str(stand_in_master.FIRST_RUN)[:8]
    return {word for line in lines for word in re.findall(rf"\b{first}\d{{8}}\b", line)}


def check_streams(rota, few, many):
    figures = []
    for form in ("table", "wide", "json", "yaml", "csv"):
        peak = {}
        for stand_in in (few, many):
            ids, peak[stand_in] = memory_of(
                [rota.program, "--masters", stand_in.address, "-o", form, "run", "list", "--all"], rota.env, ids_in)
            check(len(ids) == stand_in.runs, f"-o {form}: {len(ids)} of {stand_in.runs} runs")
        grown = peak[many] - peak[few]
        check(grown < MOST_GROWTH_KB, f"-o {form}: {peak[few]} KiB for {few.runs} runs, {peak[many]} for {many.runs}")
        figures.append(f"{form}={peak[many] >> 10}MiB(+{grown}KiB)")
    return " ".join(figures)


def check_closed_output(rota, many):
    for form in FORMS:
        process = subprocess.Popen([rota.program, "--masters", many.address, "-o", form, "run", "list", "--all"],
                                   env=rota.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        told = process.stderr.read()
        check(process.wait(PATIENCE_S) == 0 and told == b"", f"-o {form} | head: exit {process.returncode}, {told}")
    check(many.asked < len(FORMS) * many.runs // 1000, f"it read on without a reader: {many.asked} pages")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(rota.words("run", "list"), env=rota.env, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE_S)
    check(done.returncode == 1 and b"could not be written" in done.stderr, f"a full disk: {done}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        stand_in_master.generate(folder)
        stand_in, few, many = (stand_in_master.StandIn(runs) for runs in (stand_in_master.ROWS, FEW, MANY))
        rota = Rota(program, stand_in.address, folder)
        rota.stand_in = stand_in
        rota.ok("context", "set", "some-context", "--masters", "127.0.0.1:1")
        described = subprocess.run([program, "--describe"], env=rota.env, capture_output=True, check=True)
        commands = json.loads(described.stdout)
        leaves = [command for command in commands if not command["has_children"]]
        lists = [command for command in leaves if command["is_list"]]
        for command in leaves:
            last = command["command"].split()[-1]
            check(command["is_list"] or last not in LIST_WORDS, f"{command['command']} is no listing() in the command line")
        for command in lists:
            rows = check_forms(rota, command)
            check_where(rota, command, rows)
            if command["command"] != "rota context list" and command["command"] != "rota context show":
                check_watch(rota, command, rows)
        others = [c for c in leaves if not c["is_list"] and c["command"] not in NOT_ASKED]
        objects = sum(check_unmarked(rota, command) for command in others)
        check(objects > 10, f"only {objects} other commands answered: the stand-in is out of date")
        check_terminal(rota)
        check_closed_output(rota, many)
        memory = check_streams(rota, few, many)
        print(f"lists={len(lists)} forms={len(FORMS)} others={len(others)} calls={rota.calls} runs={MANY} {memory}")
        for each in (stand_in, few, many):
            each.close()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Failed as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)
