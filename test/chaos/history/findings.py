"""The findings of the questions: violations with their subjects, doubts, and figures for the verdict."""


class Violation:
    """One broken promise. `at` are moments (wall ms); the rest names the subject of the witness."""

    def __init__(self, question, what, at=(), run=None, job=None, key=None, transaction=None):
        self.question, self.what = question, what
        self.at = [moment for moment in at if moment is not None]
        self.run, self.job, self.key = run, job, key
        self.transaction = transaction  # lines of the binlog that show it

    def __repr__(self):
        return f"{self.question}: {self.what}"


class Findings:
    """Filled by every question in turn."""

    def __init__(self):
        self.violations, self.doubts = [], []
        self.figures = {}
        self.notes = []

    def violated(self, question, what, **subject):
        self.violations.append(Violation(question, what, **subject))

    def doubt(self, question, what):
        """Something could not be judged, so that "ok" would claim too much."""
        self.doubts.append(f"{question}: {what}")

    def note(self, text):
        """A figure or remark for the reader; does not change the verdict."""
        self.notes.append(text)

    def figure(self, name, value):
        self.figures[name] = value

    def verdict(self):
        if self.violations:
            return "violated"
        return "unknown" if self.doubts else "ok"


def percentile(values, share):
    """The nearest-rank percentile; 0 of nothing."""
    if not values:
        return 0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * share // 100) - 1))]
