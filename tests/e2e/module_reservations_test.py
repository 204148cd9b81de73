#!/usr/bin/env python3
"""What reservations_test.py checks, on a redis-server with tally.so: eight clients, kill -9 of clients and server."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.module_server import module_server  # noqa: E402
from lib.report import Report  # noqa: E402
from reservations_test import check  # noqa: E402


def main():
    report = Report()
    check(report, module_server(appendonly="yes", appendfsync="always"))
    report.finish()


if __name__ == "__main__":
    main()
