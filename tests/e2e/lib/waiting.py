"""A test waits for what it needs, and not for some time."""

import time

PATIENCE_SECONDS = 180


def wait_for(condition, seconds=PATIENCE_SECONDS):
    """Whether the condition holds at last. How long that may take says nothing of the server, but of the machine."""
    deadline = time.monotonic() + seconds
    while not (reached := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(reached)
