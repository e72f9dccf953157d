"""The place where a function changes its ways: neighbours of which one is refused and the other is not, for instance.

A function may refuse all inputs beyond some size, because its weights underflow there. Runs of single pairs do not lead
to that place. A bisection does: on the way between two inputs whose outcomes are of different kinds, from neighbour to
neighbour, some two neighbours have outcomes of different kinds, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, TypeAlias

from subnormal.audit.check.datasets import has_fields, rebuilt
from subnormal.mechanisms.core.mechanism import Refused

Way: TypeAlias = tuple[int, Callable[[int], Any]]  # steps from one input to another, and the input after so many steps
WayOf: TypeAlias = Callable[[Any, Any], Way | None]


def kind(outcome: Hashable) -> Hashable:
    """Return in what way an outcome is no number: refused, infinite, not a number, or None; or that parts of it are so.

    >>> kind(1.5), kind((2, math.nan)), kind(Refused("ValueError: empty"))
    (None, frozenset({'nan'}), 'refused')
    """
    if isinstance(outcome, Refused):
        return "refused"
    if outcome is None or (isinstance(outcome, float) and not math.isfinite(outcome)):
        return str(outcome)
    if isinstance(outcome, tuple):
        return frozenset(map(kind, outcome)) - {None} or None
    return None


def extent(data: Any) -> float:
    """Return how large an input is: about the logarithm of a number, or the sum of its parts and their number.

    >>> extent(0), extent([7, -7]) == 2 * (1 + extent(7))
    (0.0, True)
    """
    if isinstance(data, int | float) and math.isfinite(data):
        return math.log2(1 + abs(data))
    return sum(1 + extent(part) for part in data) if isinstance(data, list | tuple) else 0.0


def crossed(way: Way, kind_at: Callable[[Any], Hashable]) -> tuple[Any, Any]:
    """Return neighbours on the way whose outcomes are of different kinds, as those at its ends are.

    >>> crossed((100, lambda step: step), lambda number: number > 17)
    (17, 18)
    """
    last, at = way
    first, start = 0, kind_at(at(0))
    while last - first > 1:
        middle = (first + last) // 2
        if kind_at(at(middle)) == start:
            first = middle
        else:
            last = middle
    return at(first), at(last)


def without_records(pair: tuple[Any, Any], keeps: Callable[[tuple[Any, Any]], bool]) -> tuple[Any, Any]:
    """Return the two inputs without each record in turn that can be left out of both, so that `keeps` holds.

    >>> without_records(([7, 3, 9], [7, 4, 9]), lambda pair: pair[0] != pair[1])
    ([3], [4])
    """
    one, other = pair
    if isinstance(one, list | tuple) and type(one) is type(other) and not has_fields(one):
        for place in reversed(range(min(len(one), len(other)))):
            shorter = _without(one, place), _without(other, place)
            one, other = shorter if keeps(shorter) else (one, other)
    return one, other


def _without(records: Any, place: int) -> Any:
    return rebuilt(records, [*records[:place], *records[place + 1 :]])


def of_records(one: Any, other: Any) -> Way | None:
    """Return the way that changes one record after the other; None where the sizes differ, or there are no records."""
    if not _are_alike(one, other) or isinstance(one, int | float):
        return None
    return len(one), lambda step: rebuilt(one, [*other[:step], *one[step:]])


def of_sizes(one: Any, other: Any) -> Way | None:
    """Return the way that removes all records of one dataset from its end, and then adds those of the other."""
    if not isinstance(one, list | tuple) or type(one) is not type(other) or has_fields(one):
        return None

    def at(step: int) -> Any:
        return rebuilt(one, one[: len(one) - step]) if step <= len(one) else rebuilt(other, other[: step - len(one)])

    return len(one) + len(other), at


def of_numbers(distance: float) -> WayOf:
    """Return the way of numbers, or of vectors entry by entry, in steps of the distance, or of nearly that for floats:
    so that both ends of a step are no further apart after rounding. None where the distance is below that."""

    def way(one: Any, other: Any) -> Way | None:
        if not _are_alike(one, other):
            return None
        single = isinstance(one, int | float)
        starts, ends = ([one], [other]) if single else (list(one), list(other))
        moving = (starts, ends)
        if not all(_is_finite(number) for part in moving for number in part):
            return None
        whole = all(isinstance(number, int) for part in moving for number in part)
        rounding = 0.0 if whole else 2 * math.ulp(max(abs(number) for part in moving for number in part))
        size = Fraction(math.floor(distance) if whole else distance) - Fraction(rounding)
        if size <= 0:
            return None
        counts = [
            math.ceil(abs(Fraction(end) - Fraction(start)) / size) for start, end in zip(starts, ends, strict=True)
        ]

        def at(step: int) -> Any:
            reached = []
            for start, end, count in zip(starts, ends, counts, strict=True):
                done = min(step, count)
                step -= done
                exact = Fraction(start) + done * (size if end > start else -size)
                reached.append(end if done == count else int(exact) if whole else float(exact))
            return reached[0] if single else rebuilt(one, reached)

        return sum(counts), at

    return way


def _is_finite(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)


def _are_alike(one: Any, other: Any) -> bool:
    """Return whether two inputs are numbers, or lists or tuples of one size."""
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other)
    return all(isinstance(number, int | float) and not isinstance(number, bool) for number in (one, other))
