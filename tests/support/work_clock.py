"""A clock that counts the work of a check, so that what is decided depends neither on a machine nor on its load."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import pytest

from subnormal.audit.check.function import Function
from subnormal.audit.check.search import _Search
from subnormal.audit.check.state import Check
from subnormal.audit.clock import Clock


def _inside(function: Any, name: str) -> CodeType:
    """Return the code of a function that is defined inside this one."""
    return next(each for each in function.__code__.co_consts if isinstance(each, CodeType) and each.co_name == name)


READING = 1e-6  # seconds: of a reading of the clock by which nothing below stands
RUN = 2e-5  # of one run of a function
BY_READER = {  # other seconds of a reading
    _Search.is_over.__code__: 1e-3,  # of a drawn pair, twice where it has not been seen before
    _inside(Check.search, "scored"): 3e-2,  # of learning from the first runs of a pair
}


@contextmanager
def work_counted() -> Iterator[None]:
    """Let the clock of the process be one that counts work, from 0."""
    clock = work_clock()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("monotonic", "perf_counter"):
            patch.setattr(time, name, clock)
        for laws in ("search_by_laws", "prove_by_laws"):  # whose work is not counted
            patch.setattr(f"subnormal.audit.check.check.{laws}", lambda *_: None)
        yield


def work_clock() -> Callable[[], float]:
    """Return a clock that begins at 0 and moves on, at each reading, by what the caller's work takes on most machines.

    Who reads it says what work: `Function.released` reads it before each of its runs, `search` and `Check.search` at
    each pair.
    """
    now = 0.0

    def read() -> float:
        nonlocal now
        now += _seconds(sys._getframe(1))
        return now

    return read


def _seconds(reader: FrameType) -> float:
    if reader.f_code is Clock.now.__code__ and reader.f_back is not None:
        reader = reader.f_back
    if reader.f_code is Function.released.__code__:
        return int((*reader.f_locals["more"], 1)[0]) * RUN
    return BY_READER.get(reader.f_code, READING)
