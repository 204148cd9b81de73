#!/usr/bin/env python3
"""The workflows of .github are valid to actionlint, and run only programs of the repository that are there."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.packages import OutOfReach, fetch  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.server import ROOT, build_directory  # noqa: E402

ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
OURS = re.compile(r"(?:^|[\s|&])((?:\.ci|conf|server|tests)/[\w/.-]+)", re.MULTILINE)


def lint(report):
    folder = build_directory("workflows")
    try:
        fetch("the Go module proxy", ["go", "install", ACTIONLINT],
              env=dict(os.environ, GO111MODULE="on", GOFLAGS="", GOBIN=str(folder)))
    except OutOfReach as failed:
        report.skip(f"actionlint: {failed}")
        return
    done = subprocess.run([folder / "actionlint", "-no-color", *WORKFLOWS], capture_output=True, text=True, check=False)
    report.equal("actionlint has nothing to say", done.stdout + done.stderr, "")


def main():
    report = Report()
    programs = [(workflow, program) for workflow in WORKFLOWS for program in OURS.findall(workflow.read_text())]
    report.check("the workflows run programs of the repository", len(programs) >= 2, programs)
    for workflow, program in programs:
        report.check(f"{workflow.name}: {program} is a program", os.access(ROOT / program, os.X_OK))
    lint(report)
    report.finish()


main()
