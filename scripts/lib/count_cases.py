"""Counts test cases in a log that ctest wrote (Testing/Temporary/LastTest.log).

count_cases.py LOG    prints "PASSED FAILED". A test program counts with its doctest cases, or with
a line "N passed, M failed"; one that printed neither, or died after its summary, counts as one.
"""
import re
import sys

DOCTEST = re.compile(
    r"^\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", re.M)
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def count_one(text):
    """Passed and failed cases of one ctest entry."""
    passed = failed = 0
    for match in DOCTEST.finditer(text):
        passed, failed = passed + int(match.group(2)), failed + int(match.group(3))
    for match in PLAIN.finditer(text):
        passed, failed = passed + int(match.group(1)), failed + int(match.group(2))
    succeeded = re.search(r"^Test Passed\.$", text, re.M) is not None
    if not succeeded and failed == 0:
        failed = 1
    if succeeded and passed + failed == 0:
        passed = 1
    return passed, failed


def main(arguments):
    try:
        with open(arguments[0], encoding="utf-8", errors="replace") as log:
            text = COLOUR.sub("", log.read())
    except OSError:
        print("0 0")
        return 0
    passed = failed = 0
    pieces = re.split(r"^\d+/\d+ Testing: .+$", text, flags=re.M)[1:]
    for piece in pieces:
        one = count_one(piece)
        passed, failed = passed + one[0], failed + one[1]
    print(passed, failed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
