#!/usr/bin/python3
"""Stalls are counted once, exactly to their edges, and moments are not stalls.

    stalls_test.py [unittest options]      last line: "N passed, M failed"
"""
import json
import os
import signal
import sys
import tempfile
import time
import unittest

from cluster import now_ms, wait_until
from stalls import LONG_MS, Stalls

BEGIN = 1_000_000  # long ago: nothing that this machine does now falls there


class Noted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.stalls = Stalls(folder.name)
        self.addCleanup(self.stalls.close)

    def note(self, *spans):
        with open(self.stalls.file, "a") as file:
            for begin, end in spans:
                file.write(json.dumps({"from_ms": BEGIN + begin, "to_ms": BEGIN + end, "what": "pause"}) + "\n")

    def within(self, begin, end):
        return self.stalls.within(BEGIN + begin, BEGIN + end)

    def was_long(self, end):
        return self.stalls.was_long(BEGIN, BEGIN + end)

    def test_what_overlaps_counts_once_whatever_its_order(self):
        self.note((300, 400), (100, 200), (150, 250), (320, 330))
        self.assertEqual(self.within(0, 1000), 250)

    def test_only_what_lies_in_the_stretch_counts(self):
        self.note((0, 200), (400, 600), (900, 1200))
        self.assertEqual(self.within(100, 500), 200)
        self.assertEqual(self.within(200, 400), 0)
        self.assertEqual(self.within(0, 2000), 700)

    def test_a_line_that_is_being_written_waits_for_its_end(self):
        self.note((100, 200))
        with open(self.stalls.file, "a") as file:
            file.write('{"from_ms": 10')
        self.assertEqual(self.within(0, 1000), 100)

    def test_one_long_stall_is_long_in_any_stretch(self):
        self.note((10_000, 10_000 + LONG_MS))
        self.assertTrue(self.was_long(1_000_000))
        self.assertFalse(self.was_long(10_000 + LONG_MS - 1))

    def test_short_stalls_are_long_when_they_fill_a_fifth(self):
        self.note(*((at, at + 100) for at in range(0, 2000, 400)))
        self.assertTrue(self.was_long(2500))
        self.assertFalse(self.was_long(2501))

    def test_nothing_noted_is_not_long(self):
        self.assertFalse(self.was_long(0))

    def test_the_meter_notes_that_it_was_held_up(self):
        wait_until(self.stalls.file.exists, 20, "the meter is at work")
        begin, pid = now_ms(), self.stalls.child.pid
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(pid, signal.SIGCONT)
        wait_until(lambda: self.stalls.within(begin) >= 350, 20, "the stall is noted")


def main():
    outcome = unittest.main(exit=False, verbosity=1).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
