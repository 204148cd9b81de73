"""What a suite prints: a line for each check, and 'N passed, N failed' at the end."""

import sys


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

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

    def equal(self, what, actual, expected):
        return self.check(what, actual == expected, f"expected {expected!r}\nbut got  {actual!r}")

    def finish(self):
        """Prints the closing line and ends the process."""
        self.note(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
