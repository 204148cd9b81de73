"""How much a random test does: SCALE (1) times as much as usual, for all of them."""

import os


def scaled(usual):
    return max(1, int(usual * float(os.environ.get("SCALE", "1"))))
