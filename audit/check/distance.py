"""Distances of numbers, vectors and dictionaries of numbers, and an input about so far away from another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from numbers import Rational
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from subnormal.audit.check.datasets import rebuilt
from subnormal.audit.text import quoted

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Norm = Literal["l1", "l2", "linf"]
Draw: TypeAlias = Callable[["SearchStrategy[Any]"], Any]


def apart(one: Any, other: Any, norm: Norm) -> Fraction | float:
    """Return the distance of two numbers, vectors, matrices or dictionaries, exactly; of "l2" its square.

    An infinity or NaN is 0 apart from itself, and infinitely far from every other entry. Raises TypeError for an entry
    that is no real number, and ValueError for vectors of other lengths.
    """
    steps = [_step_between(exact(first), exact(second)) for first, second in _entries_of_both(one, other)]
    if norm == "linf":
        return max(steps, default=Fraction(0))
    return sum((step**2 if norm == "l2" else step for step in steps), Fraction(0))


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
    """Yield the entries that stand at the same place; of dictionaries, at the same key."""
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = list(_with_keys(one, other).values()), list(_with_keys(other, one).values())
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


def _with_keys(data: Any, keys: Any) -> Any:
    """Return a dictionary with 0 for keys that only another one has, in one order of the keys; other data as they are.

    The order is that of their texts, because keys of several types have none of their own.
    """
    if not isinstance(data, dict):
        return data
    return {key: data.get(key, 0) for key in sorted({**data, **keys}, key=repr)}


def _entries(data: Any) -> list[Any]:
    parts = list(data.values()) if isinstance(data, dict) else _parts(data)
    if parts is None:
        return [data.item() if isinstance(data, np.generic) else data]
    return [entry for part in parts for entry in _entries(part)]


def moved(draw: Draw, data: Any, distance: float, norm: Norm, keys: Any) -> Any:
    """Return an input about the distance away: one entry moves, or all move by the largest step, alike or the last
    ones against the others, or each by a step of its own.

    keys: a dictionary whose keys another one may get, too. Where it has 0 for a key, it has none.
    """
    data = _with_keys(data, keys)
    entries = _entries(data)
    steps = _steps(draw, entries, distance, norm)
    return _filled(data, (_toward(one, step, most=distance) for one, step in zip(entries, steps, strict=True)))


def _filled(data: Any, entries: Iterator[Any]) -> Any:
    """Return an input of the form of another one, with these entries; numpy's whole numbers stay within their type."""
    if isinstance(data, dict):
        made = {key: _filled(value, entries) for key, value in data.items()}
        return {key: value for key, value in made.items() if value}
    if isinstance(data, list | tuple):
        return rebuilt(data, [_filled(part, entries) for part in data])
    if not isinstance(data, np.ndarray | np.generic):
        if _parts(data) is not None:
            raise TypeError(f"{quoted(repr(data))} of type {type(data).__name__} has no input known to be near it")
        return next(entries)
    values = list(islice(entries, data.size))
    if data.dtype.kind in "iu":
        ends = np.iinfo(data.dtype)
        values = [min(max(value, int(ends.min)), int(ends.max)) for value in values]
    with np.errstate(over="ignore"):  # an infinity is no neighbour
        made_array = np.array(values, dtype=data.dtype).reshape(data.shape)
    return made_array if isinstance(data, np.ndarray) else made_array[()]


def _steps(draw: Draw, entries: list[Any], distance: float, norm: Norm) -> list[Any]:
    """Return how far each entry moves: together at most the distance."""
    from hypothesis import strategies as st

    if not entries:
        return []
    whole, size = all(isinstance(one, int) for one in entries), len(entries)
    share = distance * {"linf": 1.0, "l1": 1 / size, "l2": 1 / math.sqrt(size)}[norm]
    moves = st.sampled_from(("one", "alike", "opposite", "own"))
    match draw(moves) if size > 1 and not (whole and share < 1) else "one":
        case "alike":
            return [draw(st.sampled_from((1, -1))) * (math.floor(share) if whole else share)] * size
        case "own":
            return [_step(draw, share, whole) for _ in entries]
        case "opposite":
            step = draw(st.sampled_from((1, -1))) * (math.floor(share) if whole else share)
            first = draw(st.sampled_from((size - 1, size // 2)) | st.integers(1, size))
            return [step if place < first else -step for place in range(size)]
    chosen, step = draw(st.integers(0, size - 1)), _step(draw, distance, whole)
    return [step if place == chosen else type(step)() for place in range(size)]


def _step(draw: Draw, most: float, whole: bool) -> Any:
    from hypothesis import strategies as st

    if whole:
        most = math.floor(most)
        return draw(st.sampled_from((most, -most)) | st.integers(-most, most)) if most else 0
    return draw(st.sampled_from((most, -most)) | st.floats(-most, most))


def _toward(one: Any, step: Any, most: float) -> Any:
    """Return one + step, no further away than `most` where the sum is rounded. A truth value is 0 or 1.

    An infinity or NaN stays: no other entry is at a finite distance.
    """
    if isinstance(one, bool):
        return one + step >= 1
    if isinstance(one, float) and not math.isfinite(one):
        return one
    other = one + step
    while isinstance(other, float) and not _step_between(exact(one), exact(other)) <= Fraction(most):
        other = math.nextafter(other, one)
    return other
