#!/usr/bin/env python3
"""make_sbom.py BUILD VERSION EPOCH: prints what the program in the folder BUILD links statically, as CycloneDX
1.4. An archive that lies in a Debian package is named by that package; the others by their source package."""

import datetime
import json
import pathlib
import shlex
import subprocess
import sys


def command(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def archives(build):
    """The archives in the link command, with those that g++ adds."""
    line = command("ninja", "-C", build, "-t", "commands", "tallyd").splitlines()[-1]
    found = {word for word in shlex.split(line) if word.startswith("/") and word.endswith(".a")}
    for name in ("libstdc++.a", "libgcc.a"):
        found.add(command("g++", f"-print-file-name={name}").strip())
    return sorted(str(pathlib.Path(path).resolve()) for path in found)


def debian_package(path):
    """(source package, version) of an archive."""
    if "/package/libraries/" in path:
        name = {"libroaring.a": "croaring", "libisal.a": "libisal"}[pathlib.Path(path).name]
        folder = pathlib.Path(path).parents[1] / "sources"
        version = next(folder.glob(f"{name}_*.orig.tar.*")).name.split("_", 1)[1].split(".orig")[0]
        return name, version
    owner = command("dpkg", "-S", path).split(":")[0]
    fields = command("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", owner)
    return tuple(fields.split(" "))


# Headers only: they leave code in the program, and no archive on the link line.
HEADER_ONLY = ("libasio-dev", "nlohmann-json3-dev")


def header_packages():
    for name in HEADER_ONLY:
        found = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", name],
                               capture_output=True, text=True, check=False)
        if found.returncode == 0:
            yield tuple(found.stdout.split(" "))


def main():
    build, version, epoch = sys.argv[1:]
    parts = sorted({debian_package(path) for path in archives(build)} | set(header_packages()))
    print(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.4", "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
                                          .strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "name": "tallyd", "version": version, "licenses":
                          [{"license": {"id": "MIT"}}]}},
        "components": [{"type": "library", "name": name, "version": release,
                        "purl": f"pkg:deb/debian/{name}@{release}"} for name, release in parts],
    }, indent=2))


main()
