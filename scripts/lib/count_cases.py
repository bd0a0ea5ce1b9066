"""Counts test cases in a log that ctest wrote (Testing/Temporary/LastTest.log).

count_cases.py LOG            prints "PASSED FAILED". A test program counts with its doctest cases, or with
a line "N passed, M failed"; one that printed neither, or died after its summary, counts as one.
count_cases.py --failed LOG   prints each program that failed: NAME, PASSED, FAILED and the first line that
tells a failure, with tabs between them.
"""
import re
import sys

DOCTEST = re.compile(
    r"^\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", re.M)
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
# How doctest, the drills, the shell tests and Python report a failure; without one, the last line is used.
TOLD = re.compile(r"^.*(?:ERROR: |FAILED|: FATAL ERROR|Traceback|AssertionError|violat).*$", re.M)
LONGEST_LINE = 200
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def succeeded(text):
    return re.search(r"^Test Passed\.$", text, re.M) is not None


def count_one(text):
    """Passed and failed cases of one ctest entry."""
    passed = failed = 0
    for match in DOCTEST.finditer(text):
        passed, failed = passed + int(match.group(2)), failed + int(match.group(3))
    for match in PLAIN.finditer(text):
        passed, failed = passed + int(match.group(1)), failed + int(match.group(2))
    if not succeeded(text) and failed == 0:
        failed = 1
    if succeeded(text) and passed + failed == 0:
        passed = 1
    return passed, failed


def output_of(text):
    """The program's own output."""
    match = re.search(r"^Output:\n-+\n(.*?)(?:^<end of output>|\Z)", text, re.M | re.S)
    return match.group(1) if match else text


def first_failure(text):
    output = output_of(text)
    told = TOLD.search(output)
    lines = [line for line in output.splitlines() if line.strip()]
    line = told.group(0) if told else lines[-1] if lines else "no output"
    return " ".join(line.split())[:LONGEST_LINE]


def programs_in(path):
    """(name, text) of each test program in the log; none when there is no log."""
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            text = COLOUR.sub("", log.read())
    except OSError:
        return []
    pieces = re.split(r"^\d+/\d+ Testing: (.+)$", text, flags=re.M)[1:]
    return list(zip(pieces[::2], pieces[1::2]))


def main(arguments):
    if arguments[0] == "--failed":
        for name, text in programs_in(arguments[1]):
            if not succeeded(text):
                print(name, *count_one(text), first_failure(text), sep="\t")
        return 0
    counts = [count_one(text) for _, text in programs_in(arguments[0])]
    print(sum(passed for passed, _ in counts), sum(failed for _, failed in counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
