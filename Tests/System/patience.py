"""How long tests wait for what has to come.

Nothing takes as long on a machine that does nothing else; on a busy one it may. Only what never comes
takes all of it.
"""

import threading
import time

# For a message, an answer, a line of the log.
SECONDS = 120
# For a program to end.
PROGRAM_SECONDS = 300


def in_time(steps, *lives):
    """Calls `steps(end)` with the time at which a token is to end; returns that and what it returned.

    What took so long that the token ended on the way is done again, with one that lives longer.
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
    """Asks again and again until something holds; what it is."""
    end = time.monotonic() + PROGRAM_SECONDS
    pause = threading.Event()
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {PROGRAM_SECONDS} s in vain"
        # Questions without a pause would take the processor time of what is waited for.
        pause.wait(0.02)
    return found
