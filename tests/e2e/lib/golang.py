"""Builds the Go services of the suites: with Debian's packages, which need no proxy, and with
lib/go."""

import os
import pathlib
import subprocess

from lib.server import build_directory

LIBRARY = pathlib.Path(__file__).resolve().parent / "go"


def environment():
    return dict(os.environ, GO111MODULE="off", GOPATH=f"/usr/share/gocode:{LIBRARY}", GOFLAGS="")


def build_service(suite, *sources):
    """The program of the sources, which stand in one directory."""
    program = build_directory(suite) / "service"
    subprocess.run(["go", "build", "-o", program, *sources], env=environment(), check=True)
    return str(program)
