#!/usr/bin/env python3
"""stage_pages.py FOLDER PAGE…: copies the pages into FOLDER with all that they link to, and what these pages link to,
each under its path in the repository: so the links of the copies hold."""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def linked(page):
    """The files that the page links to; of a folder, each file in it."""
    for target in LINK.findall(FENCED.sub("", page.read_text())):
        path = (page.parent / target).resolve()
        if not path.exists():
            sys.exit(f"{page}: there is no {target}")
        if path.is_dir():
            yield from (file for file in sorted(path.rglob("*")) if file.is_file() and "__pycache__" not in file.parts)
        else:
            yield path


def main():
    folder, pages = pathlib.Path(sys.argv[1]), [ROOT / page for page in sys.argv[2:]]
    staged = set()
    while pages:
        path = pages.pop()
        if path in staged:
            continue
        staged.add(path)
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        if path.suffix == ".md":
            pages += linked(path)


main()
