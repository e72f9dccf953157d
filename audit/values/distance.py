"""Distances of numbers, vectors and dictionaries of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal

import numpy as np

from subnormal.audit.text import quoted

Norm = Literal["l1", "l2", "linf"]


def apart(one: Any, other: Any, norm: Norm) -> Fraction | float:
    """Return the distance of two numbers, vectors, matrices or dictionaries, exactly; of "l2" its square.

    An infinity or NaN is 0 apart from itself, and infinitely far from every other entry. Raises TypeError for an entry
    that is no real number, and ValueError for vectors of other lengths.

    >>> apart([1.0, 0.5], [0.5, 0.5], "l2"), apart({"a": 2}, {}, "l1"), apart([1e308, math.inf], [-1e308, 0.0], "l2")
    (Fraction(1, 4), Fraction(2, 1), inf)
    """
    steps = [_step_between(exact(first), exact(second)) for first, second in _entries_of_both(one, other)]
    if math.inf in steps:  # no float holds the sum of the others, perhaps
        return math.inf
    if norm == "linf":
        return max(steps, default=Fraction(0))
    return sum((step**2 if norm == "l2" else step for step in steps), Fraction(0))


def are_within(one: Any, other: Any, distance: float, norm: Norm) -> bool:
    """Return whether two inputs have one form and lie at most so far apart; dictionaries may have other keys."""
    shapes = [() if isinstance(data, dict) else np.shape(data) for data in (one, other)]
    return shapes[0] == shapes[1] and apart(one, other, norm) <= Fraction(distance) ** (2 if norm == "l2" else 1)


def exact(number: Any) -> Fraction | float:
    """Return a real number as a fraction; infinities and NaN as floats. Raises TypeError for what is no real number."""
    if isinstance(number, np.generic):
        number = number.item()  # of a long double, itself
    if isinstance(number, Rational):
        return Fraction(number)
    if not isinstance(number, float | np.floating | Decimal):
        raise TypeError(f"{quoted(number)} of type {type(number).__name__} is no real number")
    return Fraction(*number.as_integer_ratio()) if math.isfinite(number) else float(number)


def _step_between(one: Fraction | float, other: Fraction | float) -> Fraction | float:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return abs(one - other)
    return Fraction(0) if one == other or (one != one and other != other) else math.inf


def rounded(distance: Fraction | float) -> float:
    """Return a distance as a float: ∞ where it is beyond the largest one."""
    try:
        return float(distance)
    except OverflowError:
        return math.inf


def root(square: Fraction | float, bound: Fraction | float) -> Fraction | float:
    """Return the square root of a distance of "l2", rounded.

    Near the bound it is a fraction, whose difference from the bound has 15 digits: a float may round to the bound.
    """
    if not square or not isinstance(square, Fraction):
        return float(square)
    near = Fraction(math.isqrt(square.numerator * square.denominator << 128), square.denominator << 64)
    if isinstance(bound, Fraction) and math.isclose(rounded(near), rounded(bound)):
        return bound + (square - bound**2) / (near + bound)
    return rounded(near)


def _entries_of_both(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the entries that stand at the same place; of dictionaries, at the same key: 0 where one has no such key."""
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = ([data.get(key, 0) for key in {**one, **other}] for data in (one, other))
    parts, others = _parts(one), _parts(other)
    if parts is None and others is None:
        yield one, other
        return
    if parts is None or others is None:
        raise ValueError("a number and a vector have no distance")
    for part, counterpart in zip(parts, others, strict=True):
        yield from _entries_of_both(part, counterpart)


def _parts(data: Any) -> list[Any] | None:
    """Return the parts of a vector or of the rows of a matrix; None for what has none, or has names for them."""
    if isinstance(data, list | tuple | range):
        return list(data)
    listed = None if hasattr(data, "items") or not hasattr(data, "tolist") else data.tolist()
    return listed if isinstance(listed, list) else None
