#!/usr/bin/env python3
"""check_links.py FOLDER: every relative link of every page in the folder leads to something in the folder, and its
README.md has some. Prints those that do not."""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1]).resolve()
links = [(page, target) for page in sorted(folder.rglob("*.md"))
         for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page.read_text())]
broken = [(page, target) for page, target in links
          if not ((page.parent / target).exists() and (page.parent / target).resolve().is_relative_to(folder))]
for page, target in broken:
    print(f"{page.relative_to(folder)}: {target} is not in the package")
count = sum(page == folder / "README.md" for page, _ in links)
print(f"{len(links)} links, {count} of them in README.md")
sys.exit(bool(broken) or count < 10)
