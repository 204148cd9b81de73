"""Packages of the languages' registries, at the versions of lock files, kept under build/ between runs."""

import filecmp
import shutil
import subprocess
import sys


class OutOfReach(Exception):
    """A registry gave nothing."""


def fetch(command, **options):
    """Runs what needs a registry."""
    if subprocess.run(command, check=False, **options).returncode != 0:
        raise OutOfReach(" ".join(map(str, command)))


def install(lock_files, directory, *commands):
    """Runs the commands in `directory`, unless it was installed from the same lock files before."""
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
        fetch(command, cwd=staging)
    staging.rename(directory)


def install_npm(source, directory):
    """The packages of source/package-lock.json; what they would run on installation is left out."""
    install([source / "package.json", source / "package-lock.json"], directory,
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"])


def install_pip(lock_file, directory):
    """A virtual environment with what the file lists."""
    install([lock_file], directory, [sys.executable, "-m", "venv", "."],
            ["bin/python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock_file.name])
