"""A clock that counts the work of a check, so that what is decided depends neither on a machine nor on its load."""

import sys
from collections.abc import Callable
from types import FrameType

READING = 1e-6  # seconds: of a reading of the clock by which nothing below stands
RUN = 5e-6  # of one run of a function
DRAWN = 1e-3  # of a drawn pair, twice where it has not been seen before
SCORED = 3e-2  # of learning from the first runs of a pair


def work_clock() -> Callable[[], float]:
    """Return a clock that begins at 0 and moves on, at each reading, by what the caller's work takes on most machines.

    Who reads it says what work: `Function.outcomes` reads it before and after its runs, `search` and `Check.search` at
    each pair.
    """
    now = 0.0

    def read() -> float:
        nonlocal now
        now += _seconds(sys._getframe(1))
        return now

    return read


def _seconds(reader: FrameType) -> float:
    match reader.f_code.co_qualname:
        case "Function.outcomes":
            return int(reader.f_locals["runs"]) * RUN / 2
        case "search.<locals>.is_over":
            return DRAWN
        case "Check.search.<locals>.scored":
            return SCORED
    return READING
