#!/usr/bin/env python3
"""make_sbom.py BUILD VERSION EPOCH: prints what is in the program that was built in the folder BUILD, as CycloneDX
1.4: the archives of which the linker took something, by its map, and what the program was compiled from, by ninja:
headers and the page's files. Each is named by its Debian source package; stops if a file is in none."""

import datetime
import json
import pathlib
import re
import subprocess
import sys


def command(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


# glibc is not in the program: it takes that of the machine. Its headers and start files are an interface.
NO_PART = {"glibc", "linux"}


def archives(build):
    """The archives of which members were linked in."""
    members = re.findall(r"^(/\S+\.a)\(", (build / "link.map").read_text(), re.MULTILINE)
    return {pathlib.Path(path).resolve() for path in members}


def compiled(build):
    """The files outside of our sources that ninja made the program from."""
    inputs = command("ninja", "-C", build, "-t", "inputs", "tallyd").splitlines()
    headers = re.findall(r"^    (.*)$", command("ninja", "-C", build, "-t", "deps"), re.MULTILINE)
    paths = {pathlib.Path(build, path).resolve() for path in inputs + headers}
    # The tools that ninja runs are inputs of rules, and leave nothing in the program.
    return {path for path in paths if path.is_relative_to("/usr/include") or path.is_relative_to("/usr/lib/gcc")
            or path.is_relative_to("/usr/share") and "cmake" not in str(path)}


def debian_parts(paths):
    """{source package: version} of the files of Debian's packages."""
    owners = {line.split(":")[0] for line in command("dpkg", "-S", *map(str, paths)).splitlines()}
    fields = command("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", *sorted(owners))
    return dict(line.split(" ") for line in fields.splitlines())


def fetched_parts(paths):
    """The same of the archives that conf/packaging/package built from source packages."""
    parts = {}
    for path in paths:
        name = {"libroaring.a": "croaring", "libisal.a": "libisal"}[path.name]
        source = next((path.parents[1] / "sources").glob(f"{name}_*.orig.tar.*"))
        parts[name] = source.name.split("_", 1)[1].split(".orig")[0]
    return parts


def main():
    build, version, epoch = pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]
    paths = archives(build) | compiled(build)
    # Made of the sources that its package has.
    paths = {pathlib.Path("/usr/src/liblzf/lzf_d.c") if path.name == "liblzf.a" else path for path in paths}
    fetched = {path for path in paths if "/package/libraries/" in str(path)}
    parts = debian_parts(paths - fetched) | fetched_parts(fetched)
    listed = sorted(item for item in parts.items() if item[0] not in NO_PART)
    print(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.4", "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
                                          .strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "name": "tallyd", "version": version, "licenses":
                          [{"license": {"id": "MIT"}}]}},
        "components": [{"type": "library", "name": name, "version": release,
                        "purl": f"pkg:deb/debian/{name}@{release}"} for name, release in listed],
    }, indent=2))


main()
