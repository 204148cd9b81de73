"""What a suite prints: a line for each check, and 'N passed, N failed' at the end."""

import sys

SKIPPED = 77  # As tests/run knows it.


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = []

    def note(self, text):
        print(text, flush=True)

    def check(self, what, right, detail=""):
        """Counts one check. `detail` is printed when it fails."""
        if right:
            self.passed += 1
            self.note(f"ok      {what}")
        else:
            self.failed += 1
            self.note(f"FAILED  {what}")
            if detail:
                self.note("        " + str(detail)[:4000].replace("\n", "\n        "))
        return right

    def skip(self, what):
        """Something could not be tried here: the suite does not count as passed."""
        self.skipped.append(what)
        self.note(f"SKIPPED {what}")

    def equal(self, what, actual, expected):
        return self.check(what, actual == expected, f"expected {expected!r}\nbut got  {actual!r}")

    def finish(self):
        """Prints the closing line and ends the process."""
        self.note(f"{self.passed} passed, {self.failed} failed")
        if self.skipped and not self.failed:
            self.note("; ".join(self.skipped))
            sys.exit(SKIPPED)
        sys.exit(1 if self.failed or not self.passed else 0)
