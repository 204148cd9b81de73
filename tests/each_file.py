#!/usr/bin/env python3
"""Each file of core/, server/ and tests/unit/ by itself, with clang.

    tests/each_file.py syntax [SECONDS]  that it includes what it uses: builds compile whole folders at once;
                                         headers that have no .cc of their own too
    tests/each_file.py lint [SECONDS]    clang-tidy, with the checks of .clang-tidy; no tests

What passed is remembered by what the file and all that it includes of the project say, so that only what has changed is
looked at again. What was changed last is first; after SECONDS no more is begun, and without them there is no limit.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/each-file"
# Beside the compiler cache, which outlives a checkout.
PASSED = pathlib.Path(os.environ.get("CCACHE_DIR", pathlib.Path.home() / ".cache/ccache")) / "each-file"
COMPILER = "clang++-19"
TIDY = "clang-tidy-19"
TESTS = "tests/unit/"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
OF_GENERATED = {"server/module"}  # compiled against another program's header, by a target of its own
FLAG = re.compile(r"-(?:D|I|isystem|std)")


def commands():
    """The flags by file, from a build that has neither precompiled headers nor unity files."""
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DTALLY_EACH_FILE=ON", "-DTALLY_UNITY=OFF",
                    "-DCMAKE_BUILD_TYPE=Debug"], check=True, stdout=subprocess.DEVNULL)
    flags = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        name = os.path.relpath(entry["file"], ROOT)
        if name.startswith(("core/", "server/", TESTS)) and str(pathlib.Path(name).parent) not in OF_GENERATED:
            flags.setdefault(name, kept(shlex.split(entry["command"])))
    return flags


def kept(words):
    """Those flags of a compiler's command that say what is compiled."""
    found = []
    for word, following in zip(words, [*words[1:], ""]):
        if word == "-isystem":
            found += [word, following]
        elif FLAG.match(word):
            found.append(word)
    return found


def with_headers(flags):
    """And the headers that no .cc of the same name includes first, with the flags of a file in their folder."""
    files = dict(flags)
    folders = {os.path.dirname(name): words for name, words in flags.items()}
    for header in sorted([*ROOT.glob("core/**/*.h"), *ROOT.glob("server/**/*.h")]):
        name = str(header.relative_to(ROOT))
        folder = os.path.dirname(name)
        if name[:-1] + "cc" not in flags and folder in folders:
            files[name] = [*folders[folder], "-x", "c++", "-Wno-pragma-once-outside-header"]
    return files


@functools.cache
def text(name):
    path = ROOT / name
    return path.read_text() if path.exists() else ""


@functools.cache
def included(name):
    """The project's files that the file includes, itself among them."""
    found, left = set(), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += [place for target in INCLUDE.findall(text(one)) for place in places_of(target, one) if text(place)]
    return found


def places_of(target, includer):
    """Where the compiler looks for what a file includes, of the project's folders."""
    return target, TESTS + target, os.path.normpath(os.path.join(os.path.dirname(includer), target))


def key(words, name):
    digest = hashlib.sha256(" ".join(words).encode())
    for one in sorted(included(name)):
        digest.update(f"\0{one}\0{text(one)}".encode())
    return digest.hexdigest()


def version(program):
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout


def places():
    """The place of each file among all, by when it was changed last; none where there is no git."""
    found = {}
    for words in (["diff", "--name-only", "HEAD"], ["log", "--format=", "--name-only"]):
        said = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        for name in said.stdout.split():
            found.setdefault(name, len(found))
    return found


def run(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    return done.returncode == 0, done.stdout + (done.stderr if done.returncode else "")


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode not in ("syntax", "lint"):
        raise SystemExit(__doc__)
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    files = commands()
    files = with_headers(files) if mode == "syntax" else {name: files[name] for name in files if TESTS not in name}
    program = [COMPILER, "-fsyntax-only", "-Wall", "-Wextra"] if mode == "syntax" else [TIDY, "--quiet"]
    common = [version(program[0]), *program, (ROOT / ".clang-tidy").read_text() if mode == "lint" else ""]
    PASSED.mkdir(parents=True, exist_ok=True)
    keys = {name: key([*common, *words], name) for name, words in files.items()}
    place = places()
    left = sorted((name for name in files if not (PASSED / keys[name]).exists()),
                  key=lambda name: min(place.get(one, len(place)) for one in (name, re.sub("cc$", "h", name))))
    failed, skipped, begin = 0, 0, time.monotonic()

    def look(name):
        if seconds and time.monotonic() - begin > seconds:
            return name, None, ""
        command = [*program, name, "--", *files[name]] if mode == "lint" else [*program, *files[name], name]
        return name, *run(command)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, right, said in pool.map(look, left):
            if right:
                (PASSED / keys[name]).touch()
            elif right is None:
                skipped += 1
            else:
                failed += 1
                print(f"FAILED  {name}\n{said}", flush=True)
    print(f"{len(files)} files, {len(left)} of them changed: {failed} failed, {skipped} left for the next run")
    sys.exit(1 if failed else 0)


main()
