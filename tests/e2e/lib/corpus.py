"""Real text: the quotations of Debian's fortunes and fortunes-de, in English and German.

A quotation is what one would paste into a chat; its lines are what one would write there. A chat has
its favourites, quoted again and again, and lines such as attributions recur in many quotations.
"""

import pathlib
import random

DIRECTORY = pathlib.Path("/usr/share/games/fortunes")
LONGEST_TEXT = 1000
WHOLE_QUOTATION_EVERY = 4
QUOTED_TIMES = 8
MEAN_LINES = 4


def texts(count, seed):
    """`count` texts of 1 to 1,000 bytes: mostly lines, sometimes a whole quotation with its line feeds.

    A long quotation is cut to 1,000 bytes, which can leave half a UTF-8 sequence at its end.
    """
    chooser = random.Random(seed)
    favourites = chooser.sample(_quotations(), count // (QUOTED_TIMES * MEAN_LINES) + 1)
    chosen = []
    while len(chosen) < count:
        quotation = chooser.choice(favourites)
        if chooser.randrange(WHOLE_QUOTATION_EVERY) == 0:
            chosen.append(quotation[:LONGEST_TEXT])
        else:
            chosen += [line[:LONGEST_TEXT] for line in map(bytes.strip, quotation.splitlines()) if line]
    return chosen[:count]


def _quotations():
    files = sorted(path for path in DIRECTORY.rglob("*")
                   if path.is_file() and path.suffix not in (".dat", ".u8"))
    found = []
    for path in files:
        found += filter(None, map(bytes.strip, path.read_bytes().split(b"\n%\n")))
    if len(found) < 10000:
        raise SystemExit(f"{DIRECTORY} lacks the quotations: install fortunes and fortunes-de")
    return found
