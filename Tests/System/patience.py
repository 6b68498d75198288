"""The time limits of tests for expected events.

Nothing takes as long on a machine that does nothing else; on a busy one it may. Only what never comes
takes all of it.
"""

import threading
import time

# The time limit for a message, an answer or a line of the log.
SECONDS = 120
# The time limit for the end of a program.
PROGRAM_SECONDS = 300


def in_time(steps, *lives):
    """Calls `steps(end)` with the time at which a token is to end; returns that and what it returned.

    If the steps take longer than the token is valid, they are done again with a longer valid token.
    """
    lives = lives or (3, 15, 75)
    for life in lives:
        end = int(time.time()) + life
        try:
            return end, steps(end)
        except Exception:
            if time.time() < end - 1 or life == lives[-1]:
                raise


def wait_until(condition):
    """Calls a function until it returns a true value, and returns the value."""
    end = time.monotonic() + PROGRAM_SECONDS
    pause = threading.Event()
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {PROGRAM_SECONDS} s in vain"
        # Calls without a pause would take processor time from the tested programs.
        pause.wait(0.02)
    return found
