"""Asks when_answers, and tells how far its answers agree with those of another program."""
import json
import subprocess


def ask(program, questions):
    """The answer of each question: a list of moments in ms, or a text that says what is wrong."""
    text = "\n".join(json.dumps(question) for question in questions) + "\n"
    done = subprocess.run([program], input=text, text=True, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Comparison:
    """Counts moments that were compared; a difference is either wanted, by a reason that is listed, or fails."""

    def __init__(self, wanted=()):
        self.compared = 0
        self.wanted = {reason: 0 for reason in wanted}
        self.differences = []

    def add(self, question, ours, theirs, reason=None):
        self.compared += max(len(theirs), 1)
        if ours == theirs:
            return
        if reason is not None:
            self.wanted[reason] += 1
            return
        self.differences.append((question, ours, theirs))

    def finish(self, least):
        print(f"moments compared: {self.compared}; differences: {len(self.differences)}")
        for reason, count in self.wanted.items():
            print(f"wanted difference, {count} times: {reason}")
        for question, ours, theirs in self.differences[:5]:
            first = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), None)
            print(f"{json.dumps(question)}\n  first difference at {first}\n  ours   {ours[:8]}\n  theirs {theirs[:8]}")
        if self.compared < least:
            print(f"too few: at least {least} were to be compared")
        return 1 if self.differences or self.compared < least else 0
