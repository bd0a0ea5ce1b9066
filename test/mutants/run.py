#!/usr/bin/python3
"""Breaks the product on purpose, once for each file NAME.mutant beside this one, and looks whether a
test notices. See scripts/test mutants.

usage: run.py [--list] [--seeds N] [NAME...]

  --list      names the mutants with what each breaks and who must catch it, after a look whether the
              text that each replaces still stands in its file
  --seeds N   how many seeds a mutant of the simulator gets (150)
  NAME        only these; also the beginning of names, or a test program: all that it must notice

Each mutant is applied alone to a copy of the tree (build/mutants), the program that must catch it is
built and run, and the copy is put back. That program must pass without the mutant first. Prints
for each mutant "mutant NAME killed by TARGET in N s: the first failing line", or "survived" (where two
programs must notice it, each has a line); then "mutants killed=K survived=S", then "K passed, S failed".
exit: 0 all killed, 1 not, 2 wrong arguments
"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRATCH = ROOT / "build" / "mutants"
TREE = SCRATCH / "tree"
BUILD = SCRATCH / "build"
LONGEST_RUN_S = 150
LONGEST_BUILD_S = 3600
NOT_COPIED = ("build/", ".git/", ".local/")


class Problem(Exception):
    """A mutant, or the copy, is not as it should be."""


# ---- the mutants -----------------------------------------------------------------------------------

class Mutant:
    """NAME.mutant: `breaks:`, `target:` (a test program with its arguments; several lines when each
    of them must notice), and edits: `file:` with --- from, --- to, --- end. The old text must stand
    in the file exactly once."""

    def __init__(self, path):
        self.name = path.stem
        self.breaks = ""
        self.targets = []  # [program, argument...]
        self.edits = []  # (file, old, new)
        self.read(path.read_text(encoding="utf-8"))

    def read(self, text):
        edit = re.compile(r"^file: (\S+)\n--- from\n(.*?)^--- to\n(.*?)^--- end\n", re.S | re.M)
        for match in edit.finditer(text):
            self.edits.append(match.groups())
        for line in edit.sub("", text).splitlines():
            key, _, value = line.partition(": ")
            if key == "breaks":
                self.breaks = value
            elif key == "target":
                self.targets.append(value.split(" "))
            elif line.strip():
                raise Problem(f"{self.name}.mutant: '{line}' is neither breaks:, target: nor an edit")
        if not (self.breaks and self.targets and self.edits):
            raise Problem(f"{self.name}.mutant: needs breaks:, target: and an edit")

    def mutated(self, read_original):
        """{file: text} with the edits; complains when an old text is not there exactly once."""
        texts = {}
        for name, old, new in self.edits:
            text = texts.get(name) or read_original(name)
            found = text.count(old)
            if found != 1:
                raise Problem(f"mutant {self.name} does not fit: its text stands {found} times in "
                              f"{name}; bring {self.name}.mutant up to date")
            texts[name] = text.replace(old, new)
        return texts


def mutants_named(names):
    everyone = [Mutant(path) for path in sorted(HERE.glob("*.mutant"))]
    if not names:
        return everyone
    def is_meant(mutant, name):
        return mutant.name.startswith(name) or any(name == target[0] for target in mutant.targets)
    for name in names:
        if not any(is_meant(m, name) for m in everyone):
            raise Problem(f"no mutant, and no program that must notice one, is called {name} (--list)")
    return [m for m in everyone if any(is_meant(m, name) for name in names)]


# ---- the copy --------------------------------------------------------------------------------------

def tracked_files():
    answer = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if answer.returncode == 0:
        names = answer.stdout.splitlines()
    else:  # a copy without its history
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
    return {n for n in names if not n.startswith(NOT_COPIED) and (ROOT / n).is_file()}


def write_if_other(path, content):
    """Keeps the time of a file that is the same already, so that it is not built again."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copy_tree():
    wanted = tracked_files()
    for name in wanted:
        write_if_other(TREE / name, (ROOT / name).read_bytes())
        (TREE / name).chmod((ROOT / name).stat().st_mode & 0o777)
    for path in TREE.rglob("*"):
        if path.is_file() and str(path.relative_to(TREE)) not in wanted:
            path.unlink()


def original(name):
    path = ROOT / name
    if not path.is_file():
        raise Problem(f"there is no file {name}")
    return path.read_text(encoding="utf-8")


def run_tool(command, log, limit_s):
    """True when it ended well; its output goes to the log."""
    with open(log, "wb") as out:
        try:
            done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False,
                                  timeout=limit_s, env={**os.environ, "CCACHE_BASEDIR": str(TREE)})
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def configure():
    log = SCRATCH / "configure.log"
    command = ["cmake", "-S", str(TREE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Mutant",
               "-DROTA_UNITY=TESTS"]
    if not run_tool(command, log, LONGEST_BUILD_S):
        raise Problem(f"the copy cannot be configured: {log}")


def build(target):
    """Empty, or the first error."""
    log = SCRATCH / "build.log"
    command = ["cmake", "--build", str(BUILD), "-j", str(os.cpu_count() or 1), "--target", target]
    if run_tool(command, log, LONGEST_BUILD_S):
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in lines if "error" in line), f"see {log}")


# ---- running ---------------------------------------------------------------------------------------

class Verdict:
    """How one run of a test program ended."""

    def __init__(self, passed, line, cases):
        self.passed = passed
        self.line = line
        self.cases = cases


def short(line):
    return line.replace(str(TREE) + "/", "").strip()[:200]


def first_failing_line(text, ending):
    patterns = (r"^seed \d+: .*$", r"^.*: (?:FATAL )?ERROR: .*$", r"^.*CHECK.* failed.*$",
                r"^.*NEVER MET.*$")
    for pattern in patterns:
        found = re.search(pattern, text, re.M)
        if found:
            return short(found.group(0))
    rest = [line for line in text.splitlines() if line.strip()]
    return short(f"{ending}: {rest[-1] if rest else 'it said nothing'}")


def run(target, seeds):
    command = [str(BUILD / "test-bin" / target[0]), *target[1:]]
    if target[0] == "sim":
        command += ["--seeds", str(seeds)]
    else:
        command += ["--abort-after=1", "--no-colors=true"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          cwd=TREE) as process:
        try:
            out, _ = process.communicate(timeout=LONGEST_RUN_S)
            ending = f"exit status {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            ending = f"no end within {LONGEST_RUN_S} s"
    text = out.decode("utf-8", errors="replace")
    (SCRATCH / "run.log").write_text(text, encoding="utf-8")
    cases = re.search(r"test cases:\s+(\d+)", text)
    passed = process.returncode == 0
    return Verdict(passed, "" if passed else first_failing_line(text, ending),
                   int(cases.group(1)) if cases else None)


class Bench:
    """Tries mutants one after the other; each program once without any."""

    def __init__(self, seeds):
        self.seeds = seeds
        self.sound = {}  # target with arguments -> "" or what is wrong without a mutant

    def soundness(self, target):
        key = " ".join(target)
        if key not in self.sound:
            started = time.monotonic()
            wrong = build(target[0])
            verdict = None if wrong else run(target, self.seeds)
            if verdict and not verdict.passed:
                wrong = verdict.line
            if verdict and verdict.cases == 0:
                wrong = "no test case is called like that"
            self.sound[key] = wrong
            say(f"    {key} without a mutant: {wrong or 'passes'} ({time.monotonic() - started:.0f} s)")
        return self.sound[key]

    def attempt(self, mutant):
        """True when all that must notice did."""
        texts = mutant.mutated(original)
        unsound = [target[0] for target in mutant.targets if self.soundness(target)]
        if unsound:
            return tell(mutant, f"not tried: {unsound[0]} fails without it", False)
        try:
            for name, text in texts.items():
                write_if_other(TREE / name, text.encode())
            return all([self.notices(mutant, target) for target in mutant.targets])
        finally:
            for name in texts:
                write_if_other(TREE / name, (ROOT / name).read_bytes())

    def notices(self, mutant, target):
        started = time.monotonic()
        if error := build(target[0]):
            return tell(mutant, f"does not build: {short(error)}", False)
        verdict = run(target, self.seeds)
        if verdict.passed:
            return tell(mutant, f"survived {target[0]} (it breaks {mutant.breaks})", False)
        took = time.monotonic() - started
        return tell(mutant, f"killed by {target[0]} in {took:.0f} s: {verdict.line}", True)


def say(line):
    print(line, flush=True)


def tell(mutant, what, killed):
    say(f"mutant {mutant.name} {what}")
    return killed


# ---- main ------------------------------------------------------------------------------------------

def read_arguments(arguments):
    seeds, names, only_list = 150, [], False
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--list":
            only_list = True
        elif word == "--seeds" and rest and rest[0].isdigit():
            seeds = int(rest.pop(0))
        elif word.startswith("-"):
            raise SystemExit(2)
        else:
            names.append(word)
    return seeds, names, only_list


def check_that_all_fit(mutants):
    """All that do not are named at once."""
    problems = []
    for mutant in mutants:
        try:
            mutant.mutated(original)
        except Problem as problem:
            problems.append(str(problem))
    if problems:
        raise Problem("\n       ".join(problems))


def main(arguments):
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    seeds, names, only_list = read_arguments(arguments)
    try:
        mutants = sorted(mutants_named(names), key=lambda m: (m.targets, m.name))
        check_that_all_fit(mutants)
        if only_list:
            for mutant in mutants:
                programs = ", ".join(target[0] for target in mutant.targets)
                print(f"{mutant.name:38} {programs:20} {mutant.breaks}")
            return 0
        SCRATCH.mkdir(parents=True, exist_ok=True)
        copy_tree()
        configure()
        bench = Bench(seeds)
        killed = sum(bench.attempt(mutant) for mutant in mutants)
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    survived = len(mutants) - killed
    say(f"mutants killed={killed} survived={survived}")
    say(f"{killed} passed, {survived} failed")
    return 1 if survived or not killed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
