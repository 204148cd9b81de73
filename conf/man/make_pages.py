#!/usr/bin/env python3
"""Makes the man pages: make_pages.py FOLDER. tallyd(8) is conf/man/tallyd.md, tallyd.conf(5) comes from
conf/tallyd.conf, and the pages of section 7 from the reference pages of the commands. Needs go-md2man."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = {"limits": "limit", "hits": "hits", "active": "active", "quota": "quota"}
SEE_ALSO = "\n# SEE ALSO\n\n**tallyd**(8), **tallyd.conf**(5), **tally-limits**(7), **tally-hits**(7), " \
           "**tally-active**(7), **tally-quota**(7)\n"


def title(name, section, manual):
    line = f'{name} {section} "" "tallyd" "{manual}"'
    return f"{line}\n{'=' * len(line)}\n\n"


def cells(row):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def definitions(rows):
    """A table as a list of definitions: a table of man pages has no line breaks in its cells."""
    header = cells(rows[0])
    text = []
    for row in rows[2:]:
        values = cells(row)
        # A first column that only counts is no term.
        term, first = (values[1], 2) if values[0].isdigit() and len(values) > 2 else (values[0], 1)
        facts = [value if i == 1 or not header[i] or len(header) == 2 or term == values[1] and i == 2
                 else f"{header[i]}: {value}" for i, value in enumerate(values) if i >= first and value]
        text.append(f"**{term.replace('`', '')}**\n: {'. '.join(facts) or '-'}\n")
    return "\n".join(text)


def without_tables(markdown):
    """Tables become definitions; links keep their text."""
    out, table, fenced = [], [], False
    for line in markdown.splitlines() + [""]:
        fenced ^= line.startswith("```")
        if line.startswith("|") and not fenced:
            table.append(line)
            continue
        if table:
            out += [definitions(table), ""]
            table = []
        out.append(line if fenced else re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line))
    return "\n".join(out)


def reference_page(name, source):
    markdown = (ROOT / f"server/commands/{source}.md").read_text()
    heading, body = markdown.split("\n", 1)
    summary = heading.lstrip("# ").split(": ", 1)[-1]
    body = re.sub(r"^### ", "## ", re.sub(r"^## (.*)$", lambda m: "# " + m[1].upper(), body, flags=re.M), flags=re.M)
    return (title(f"tally-{name}", 7, "tallyd commands") + f"# NAME\n\ntally-{name} - {summary}\n\n# DESCRIPTION\n"
            + without_tables(body) + SEE_ALSO)


def configuration_page():
    """A directive without a text of its own shares that of the ones before it, as in the file."""
    text = [title("tallyd.conf", 5, "tallyd configuration"), "# NAME\n\ntallyd.conf - configuration of tallyd\n"]
    prose, terms, words = [], [], ""
    text.append("# DESCRIPTION\n")

    def finish_entry():
        if terms:
            text.append(f"{', '.join(terms)}\n: {words}\n".replace("<", "\\<"))
        terms.clear()

    for line in (ROOT / "conf/tallyd.conf").read_text().splitlines():
        section = re.fullmatch(r"#{4,} (.*) #{4,}", line)
        directive = re.fullmatch(r"#([a-z][a-z0-9-]*) ?(.*)", line)
        if directive:
            if prose:
                finish_entry()
                words = " ".join(prose)
            terms.append(f"**{directive[1]}** {directive[2]}".strip())
            prose = []
            continue
        finish_entry()
        if section:
            text.append(f"# {section[1].upper()}\n")
        elif line.startswith("# "):
            prose.append(line[2:].strip())
        elif prose and not line:
            text.append(" ".join(prose) + "\n")
            prose = []
    finish_entry()
    return "\n".join(text) + SEE_ALSO


def write(folder, name, markdown):
    """The page, as go-md2man makes it."""
    roff = subprocess.run(["go-md2man"], input=markdown, capture_output=True, text=True, check=True).stdout
    (folder / name).write_text(roff)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, "tallyd.8", (ROOT / "conf/man/tallyd.md").read_text())
    write(folder, "tallyd.conf.5", configuration_page())
    for name, source in REFERENCE.items():
        write(folder, f"tally-{name}.7", reference_page(name, source))


main()
