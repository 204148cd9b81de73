"""Packages of the languages' registries, at the versions of lock files, kept under build/ between runs."""

import fcntl
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FETCH_SECONDS = 400  # A registry that does not answer must not take a suite's whole time.
# Few retries, soon: npm waits 70 seconds by itself where nobody listens.
NPM_CI = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retry-mintimeout=1000",
          "--fetch-retry-maxtimeout=5000", "--fetch-timeout=60000"]


class OutOfReach(Exception):
    """A registry, which it names, gave nothing."""


def fetch(registry, command, **options):
    """Runs what needs the registry; returns what it wrote to a pipe. Why that failed, the command says."""
    try:
        return subprocess.run(command, check=True, timeout=FETCH_SECONDS, **options).stdout
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failed:
        print(failed, flush=True)
        raise OutOfReach(f"{registry} is out of reach") from None


def install(registry, lock_files, directory, *commands):
    """Runs the commands in `directory`, unless it was installed from the same lock files before. Suites that run at
    the same time may ask for the same directory."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(directory.with_name(directory.name + ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install_once(registry, lock_files, directory, commands)


def install_once(registry, lock_files, directory, commands):
    if all((directory / file.name).exists()
           and filecmp.cmp(file, directory / file.name, shallow=False) for file in lock_files):
        return
    shutil.rmtree(directory, ignore_errors=True)
    staging = directory.with_name(directory.name + ".new")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    for file in lock_files:
        shutil.copy(file, staging)
    for command in commands:
        fetch(registry, command, cwd=staging)
    staging.rename(directory)


def install_npm(source, directory):
    """The packages of source/package-lock.json; what they would run on installation is left out."""
    install("the npm registry", [source / "package.json", source / "package-lock.json"], directory, NPM_CI)


def install_node(source, directory):
    """Node.js itself, at the version of source/package-lock.json; returns the directory of its program."""
    install_npm(source, directory)
    found = next(directory.glob("node_modules/node-linux-*/bin/node"), None)
    if found is None:  # There is a package for each machine, so that npm takes them for optional.
        shutil.rmtree(directory)
        raise OutOfReach("the npm registry is out of reach")
    return found.parent


def install_pip(lock_file, directory):
    """A virtual environment with what the file lists."""
    install("PyPI", [lock_file], directory, [sys.executable, "-m", "venv", "."],
            ["bin/python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock_file.name])


def install_maven(pom, directory):
    """What the file depends on, in directory/jars."""
    install("Maven Central", [pom], directory,
            ["mvn", "--quiet", "--batch-mode", "dependency:copy-dependencies", "-DoutputDirectory=jars"])


def build_go(module, *arguments):
    """`go build` with these arguments in the folder of a module, at the versions of its go.sum."""
    go = go_for(module)
    options = {"cwd": module, "env": dict(os.environ, GOFLAGS="-mod=readonly", GO111MODULE="on", GOTOOLCHAIN="local")}
    # What needs no registry is no reason to skip.
    subprocess.run([go, "mod", "edit", "-json"], check=True, stdout=subprocess.DEVNULL, **options)
    fetch("the Go module proxy", [go, "mod", "download"], **options)
    subprocess.run([go, "build", *map(str, arguments)], check=True, **options)


def go_for(module):
    """The installed `go`, or one of the version that the module asks for, which the proxy has as a module too."""
    wanted = re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE)[1]
    installed = subprocess.run(["go", "env", "GOVERSION", "GOOS", "GOARCH"], check=True, capture_output=True, text=True)
    version, system, machine = installed.stdout.split()
    if numbers(version) >= numbers(wanted):
        return "go"
    toolchain = f"golang.org/toolchain@v0.0.1-go{wanted}.{system}-{machine}"
    with tempfile.TemporaryDirectory() as empty:
        said = fetch("the Go module proxy", ["go", "mod", "download", "-json", toolchain], cwd=empty,
                     env=dict(os.environ, GOFLAGS=""), stdout=subprocess.PIPE)
    directory = pathlib.Path(json.loads(said)["Dir"])
    # A module's files are no programs.
    for program in [*directory.glob("bin/*"), *directory.glob("pkg/tool/*/*")]:
        program.chmod(0o755)
    return str(directory / "bin/go")


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]
