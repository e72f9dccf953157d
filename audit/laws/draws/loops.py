"""Functions that draw often and return one of few integers, such as a geometric number by a loop: one lazy number.

With a path for each integer, n calls have as many paths as n of them have values together. Where a call has no effect
but its value, its paths are followed alone, once, until almost nothing is left. Then each path is an interval of a new
uniform, in the order of their values.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from subnormal.audit.laws.kinds import INTEGERS
from subnormal.audit.laws.lazy import Lazy, is_lazy
from subnormal.audit.laws.path import Box, Other, Path, StoppedError
from subnormal.mechanisms.core.outcome_identity import identity

SIZE = (1 << 62) - 1  # numbers of the uniform: no other one has as many
FEW = 16  # paths, and no more, whose probabilities are exact: they are followed as they are
PATHS = 1 << 10  # of a call, at most
REST = 2.0**-44  # of the probability, that is not followed
SECONDS = 10.0  # for the paths of a call, whatever it does between its draws


@dataclass(frozen=True, slots=True)
class Loop:
    """The paths of a call, in the order of their values. ends: of their intervals of the uniform. boxes: of the
    uniforms that lead along each, with their sizes. apart: how far the probability of some paths may lie from that of
    their intervals."""

    values: Sequence[Any]
    ends: Sequence[int]
    boxes: Sequence[Sequence[tuple[Box, int]]]
    apart: Fraction

    def drawn(self, path: Path, key: Hashable) -> Any:
        """Return the value of a call on a path. key: equal for equal calls."""
        at = path.draw(SIZE)
        path.near[at] = self.apart
        values: Any = np.array([int(value) for value in self.values], dtype=object)  # of any size

        def f(numbers: Any) -> Any:
            number = numbers[at]
            if isinstance(number, np.ndarray):
                return values[np.searchsorted(np.array(self.ends), number, side="right")]
            return int(self.values[bisect.bisect_right(self.ends, number)])

        return Lazy(path, {at: 1}, f, key, type(self.values[0]))

    def repeated(self, source: Any, call: Callable[[], Any]) -> Any:
        """Return the value of a call for the next plain number of a source. Refuse another one than the path has."""
        number, size = next(source.numbers, (0, 0))
        if size != SIZE:  # the call was followed otherwise
            source.numbers = itertools.chain([(number, size)], source.numbers)
            return call()
        later, source.numbers = source.numbers, iter(self._uniforms(number))
        value, expected = call(), self.values[bisect.bisect_right(self.ends, number)]
        if identity(value) != identity(expected) or next(source.numbers, None) is not None:
            source.path.refuse(f"the same random numbers led to {value!r} and to {expected!r}")
        source.numbers = later
        return value

    def _uniforms(self, number: int) -> list[tuple[int, int]]:
        """Return uniforms, with their sizes, which lead to the value of a number."""
        boxes = self.boxes[bisect.bisect_right(self.ends, number)]
        return [(low + number % (high - low), size) for (low, high), size in boxes]


def loop(source: Any, call: Callable[[], Any]) -> Loop | None:
    """Return the paths of a call, each followed alone; None where these are few, or too many, or one leads to
    another value than an integer of the same type."""
    outer, found = source.path, list[tuple[Any, list[tuple[Box, int]], Fraction]]()
    left, ties, until = 1.0, itertools.count(), time.monotonic() + SECONDS
    ahead = [(-1.0, next(ties), Other({}, 1.0, 0.0))]
    try:
        while ahead and left > REST:
            *_, one = heapq.heappop(ahead)
            source.path = path = Path(
                [], one.answers, until, draws=source.draws_in_loops, expected=one.halvings, least=REST / PATHS
            )
            value = _integer(call)
            path.ended = True
            source.draws_in_loops -= len(path.sizes)
            if not path.waits:
                is_other = value is None or any(type(value) is not type(known) for known, *_ in found[:1])
                is_more = path.constraints or path.near or path.memory
                if is_other or is_more or len(found) == PATHS:
                    return None
                found.append((value, list(zip(path.boxes, path.sizes, strict=True)), path.mass()))
            left -= path.weight()
            for one in path.pending:
                heapq.heappush(ahead, (-one.weight, next(ties), one))
    finally:
        source.path = outer
    if not ahead and len(found) <= FEW:
        return None
    found.sort(key=lambda one: int(one[0]))
    widths = [int(mass * SIZE) for *_, mass in found]
    missing = SIZE - sum(widths)
    widths[-1] += missing
    ends, values, boxes = list(itertools.accumulate(widths)), [one[0] for one in found], [one[1] for one in found]
    return Loop(values, ends[:-1], boxes, Fraction(missing, SIZE))


def _integer(call: Callable[[], Any]) -> Any:
    """Return the integer that a call returns; None for anything else."""
    try:
        value = call()
    except (StoppedError, Exception):
        return None
    return value if not is_lazy(value) and type(value) in INTEGERS else None
