"""When the machine itself stood still: bounds of time in a drill do not count such stalls."""
import json
import pathlib
import subprocess

from cluster import ROOT, now_ms

METER = str(ROOT / "test/chaos/meter.py")
LONG_MS = 500  # of one stall: enough to lose a session or a voucher, or to miss a bound


class Stalls:
    """A process beside the drills that asks the machine for little all the time, and records what takes far longer."""

    def __init__(self, folder):
        self.file = pathlib.Path(folder, "stalls.jsonl")
        self.child = subprocess.Popen(["/usr/bin/python3", METER, str(self.file)], stdin=subprocess.PIPE)

    def spans(self, begin, end):
        """The stalls in this stretch of wall time in ms, without their overlaps."""
        text = self.file.read_text() if self.file.exists() else ""
        lines = text[:text.rfind("\n") + 1].splitlines()  # the last one may be under way
        out = []
        for row in sorted((json.loads(line) for line in lines), key=lambda row: row["from_ms"]):
            begin = max(begin, row["from_ms"])
            last = min(end, row["to_ms"])
            if last > begin:
                out.append(last - begin)
                begin = last
        return out

    def within(self, begin, end=None):
        return sum(self.spans(begin, end or now_ms()))

    def was_long(self, begin, end=None):
        """Whether the machine stood still for long since then: waits may have been given up meanwhile."""
        end = end or now_ms()
        found = self.spans(begin, end)
        return bool(found) and (max(found) >= LONG_MS or sum(found) >= (end - begin) / 5)

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
