"""Floats that a function returns for one input and never, or hardly ever, for the other one.

A float that it can never return proves an infinite loss. That it is possible for the one input is shown by random
numbers that lead to it, through the code as it is. That it is impossible for the other one follows from all paths: a
monotone function of one uniform takes the float by bisection or not at all, and g(x) of a number x of several uniforms
takes no float that g does not take of any float in the range of x. A sum of two floats is a multiple of the last digit
of both. Paths that were not followed may lead to it: a loop that draws anew for one uniform in 2^53 leaves a rest, and
the loss is then the logarithm of a ratio.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from subnormal.audit.laws.cells import is_row, numbers_of
from subnormal.audit.laws.followed import End, follow, numbers_along
from subnormal.audit.laws.kinds import FLOATS
from subnormal.audit.laws.lazy import Lazy, is_lazy
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.laws.points import first_float
from subnormal.audit.laws.questions import corners
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.privacy import require_positive

TRIES = 64  # floats of each path that are tried
REST = 2.0**-128  # of the paths, that need not be followed
RARER = 1 << 20  # times, that an outcome is rarer on the other input, at least


@dataclass(frozen=True, slots=True)
class OneWorldOnly:
    """An outcome that the function returns for one input, and of all paths of the other input, for none.

    outcome: a float; place: where it stands in what the function returns, () where it is that. world: 0 where `data_in`
    leads to it, and 1 where `data_out` does. numbers: the integers that the generator returns for it, k of a uniform
    k·2^−53. paths: of the other input, none of which leads to the outcome. least: the probability of the numbers. most:
    bounds the outcome's probability on the other input, which is 0 where all of its paths were followed. loss: that
    these two prove.
    """

    outcome: float
    world: int
    numbers: tuple[int, ...]
    paths: int
    least: float
    most: float
    place: tuple[int, ...] = ()

    @property
    def loss(self) -> float:
        """The least privacy loss of the outcome: infinite where it is impossible on the other input."""
        return math.inf if self.most == 0 else math.log(self.least / self.most)


def one_world_only(
    function: Callable[[Any], Any], data_in: Any, data_out: Any, *, seconds: float = 5.0
) -> OneWorldOnly | None:
    """Return a float that the function returns for one of two inputs alone; None where none was found.

    None says nothing of the function: outcomes may be no floats, or not enough paths were followed.

    >>> import random
    >>> found = one_world_only(lambda x: x + random.random(), 0.0, 1.0)
    >>> found is not None and (found.world, found.loss)
    (0, inf)

    Raises NotFollowedError as `law` does, and ValueError where the seconds are not positive.
    """
    require_positive("seconds", seconds)
    followed = [follow(function, data, seconds / 2, REST, floats=True) for data in (data_in, data_out)]
    places = dict.fromkeys(place for ends, *_ in followed for end in ends for place, _ in numbers_of(end.outcome))
    for place in places:
        parts = [[End(end.path, _part(end.outcome, place)) for end in ends] for ends, *_ in followed]
        for world, ends in enumerate(parts):
            _, paths, lost = followed[1 - world]
            for end in ends:
                found = _one_of(end, parts[1 - world], lost)
                if found is not None:
                    least = Fraction(1, math.prod(end.path.sizes))
                    return OneWorldOnly(found[0], world, found[1], paths, float(least), float(lost), place)
    return None


def _one_of(end: End, others: list[End], lost: Fraction) -> tuple[float, tuple[int, ...]] | None:
    """Return a float of one path that no path of the other input returns, and the numbers that lead to it."""
    if end.path.near or any(other.path.near for other in others):
        raise NotFollowedError("not followed: the floats of numbers from a ziggurat")
    if Fraction(1, math.prod(end.path.sizes)) < lost * RARER:
        return None
    for attempt in range(TRIES if is_lazy(end.outcome) else 0):
        numbers = numbers_along(end.path, attempt)
        if numbers is None:
            return None
        outcome = end.outcome.f(dict(enumerate(numbers)))
        is_number = isinstance(outcome, float) and outcome == outcome  # of what is none, no bounds can be told
        if is_number and not any(_may_return(other, outcome) for other in others):
            return outcome, tuple(numbers)
    return None


def _part(outcome: Any, place: tuple[int, ...]) -> Any:
    """Return the part of an outcome at a place; None where there is none."""
    for at in place:
        if not is_row(outcome) or at >= len(outcome):
            return None
        outcome = outcome[at]
    return outcome


def _may_return(end: End, outcome: float) -> bool:
    lazy: Any = end.outcome
    if not is_lazy(lazy):
        return not isinstance(lazy, float | int | str | Refused) or identity(lazy) == identity(outcome)
    low, high = lazy.ends()
    if not low <= outcome <= high:
        return False
    return _takes_one(lazy, outcome) if len(lazy.signs) == 1 else _takes_many(lazy, outcome)


def _takes_one(lazy: Lazy, outcome: float) -> bool:
    """Return whether a function of one uniform takes a value on its box."""
    low, high = corners(lazy.path, lazy.signs)
    ((at, left),) = low.items()
    right = high[at]
    while abs(right - left) > 1:
        middle = (left + right) // 2
        if lazy.f({at: middle}) < outcome:
            left = middle
        else:
            right = middle
    return outcome in (lazy.f({at: left}), lazy.f({at: right}))


def _takes_many(lazy: Lazy, outcome: float) -> bool:
    """Return whether g takes a value of any float in the range of x, where the number is g(x) for as long as can be."""
    x, g = lazy.base()
    low, high = x.ends()
    if not isinstance(low, float) or g(low) == outcome or g(high) == outcome:
        return True
    rises = g(low) < g(high)
    first = first_float(low, high, lambda value: g(value) >= outcome if rises else g(value) <= outcome)
    if g(first) != outcome:
        return False
    return g(math.nextafter(first, math.inf)) == outcome or _is_multiple(x, first)


def _is_multiple(x: Lazy, value: float) -> bool:
    """Return whether a sum or difference may be a value, which must be a multiple of the last digit of both numbers.

    The last digit of a float of at least some size is a multiple of that of this size, and no rounding changes that.
    """
    operation, left, _, right, _ = x.parts or (None, x, 1, x, 1)
    if operation not in (operator.add, operator.sub) or not {left.kind, right.kind} <= {*FLOATS}:
        return True
    (low, high), (least, most) = (tuple(map(Fraction, one.corner_values())) for one in (left, right))
    if operation is operator.add:
        least, most = -most, -least  # value = left − (−right)
    exact, rounded = Fraction(value), Fraction(math.ulp(value))
    of_left = max(low, exact + least - rounded), min(high, exact + most + rounded)
    of_right = max(least, low - exact - rounded), min(most, high - exact + rounded)
    digits = []
    for first, last in (of_left, of_right):
        size = first if first > 0 else -last
        if size <= 0:
            return True  # the number may be as small as a float is
        digits.append(math.ulp(math.nextafter(float(size), 0.0)))
    return exact % Fraction(min(digits)) == 0
