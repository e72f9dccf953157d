"""The features of a part of an outcome: its kind, its value, and its bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from operator import eq
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.outcome_paths import MISSING, Column, PartValues, Path, part
from subnormal.mechanisms.core.mechanism import Outcomes, Refused

Columns: TypeAlias = Callable[[Path, str], Column]

LOW_BITS = 4  # of an integer, or of a float's significand
BEYOND = 1100.0  # larger than any exponent of a float: the grid exponent of 0, and the negative of its exponent


class Kind(IntEnum):
    """The kind of a part of an outcome."""

    NUMBER = 0
    NAN = 1
    PLUS_INFINITY = 2
    MINUS_INFINITY = 3
    REFUSED = 4
    OTHER = 5  # a string, a tuple, None
    MISSING = 6


def kind(part: PartValues) -> Column:
    """Return the `Kind` of each part."""
    if part.is_table:
        return np.full(len(part.items), float(Kind.OTHER))
    if not part.numeric:
        kinds = np.array([_KINDS.get(type(one), _UNKNOWN) for one in part.items], dtype=np.float64)
        kinds[kinds == _FLOAT] = _kinds_of_floats(part.values[kinds == _FLOAT])
        for place in np.flatnonzero(kinds == _UNKNOWN):
            kinds[place] = _kind(part.items[place])
        return kinds
    return _kinds_of_floats(part.values)


def _kinds_of_floats(values: Column) -> Column:
    special = [np.isnan(values), values == np.inf, values == -np.inf]
    return np.select(special, [Kind.NAN, Kind.PLUS_INFINITY, Kind.MINUS_INFINITY], Kind.NUMBER).astype(np.float64)


_FLOAT, _UNKNOWN = -1.0, -2.0
_KINDS: dict[type, float] = {int: Kind.NUMBER, bool: Kind.NUMBER, float: _FLOAT, Refused: Kind.REFUSED}
_KINDS |= {type(MISSING): Kind.MISSING, **dict.fromkeys((type(None), str, bytes, tuple), Kind.OTHER)}


def _kind(one: Any) -> Kind:
    if isinstance(one, int | np.integer) or (isinstance(one, float | np.floating) and math.isfinite(one)):
        return Kind.NUMBER
    if isinstance(one, float | np.floating):
        return Kind.NAN if math.isnan(one) else Kind.PLUS_INFINITY if one > 0 else Kind.MINUS_INFINITY
    return Kind.REFUSED if isinstance(one, Refused) else Kind.MISSING if one is MISSING else Kind.OTHER


def value(part: PartValues) -> Column:
    """Return numbers as the nearest floats, NaN for other parts."""
    return part.values


def length(part: PartValues) -> Column:
    """Return the length of strings and tuples, NaN for other parts."""
    if part.numeric:
        return np.full(len(part.items), np.nan)
    if part.is_table:
        return np.full(len(part.items), float(part.items.shape[1]))
    lengths = [len(one) if isinstance(one, str | bytes | tuple) else np.nan for one in part.items]
    return np.array(lengths, dtype=np.float64)


def others(part: PartValues) -> Column:
    """Return how many parts of each tuple are no numbers, NaN for what is no tuple."""
    if part.is_table:
        return np.asarray(np.isnan(part.items).sum(axis=1), dtype=np.float64)
    if not part.numbers:
        return np.full(len(part.items), np.nan)
    both = zip(part.items, part.numbers, strict=True)
    return np.array(
        [len(one) - len(inside) if isinstance(one, tuple) else np.nan for one, inside in both], dtype=np.float64
    )


def least(part: PartValues) -> Column:
    """Return the smallest number of each tuple, NaN where there is none."""
    return _of_numbers(part, min, np.fmin.reduce)


def largest(part: PartValues) -> Column:
    """Return the largest number of each tuple, NaN where there is none."""
    return _of_numbers(part, max, np.fmax.reduce)


def total(part: PartValues) -> Column:
    """Return the sum of the numbers of each tuple, NaN where there is none."""
    return _of_numbers(part, _sum, np.nansum)


def _sum(numbers: list[float]) -> float:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # on the way, or ∞ − ∞
        return sum(numbers)


def norm(part: PartValues) -> Column:
    """Return the Euclidean norm of the numbers of each tuple, NaN where there is none."""
    return _of_numbers(part, lambda inside: math.hypot(*inside), lambda table, axis: np.sqrt(np.nansum(table**2, axis)))


def repeats(part: PartValues) -> Column:
    """Return how many numbers of each tuple equal the number before, NaN where there is none."""
    return _of_numbers(part, lambda inside: sum(map(eq, inside[1:], inside)), _repeats_of_rows)


def _repeats_of_rows(table: NDArray[np.float64], axis: int) -> NDArray[np.int64]:
    rows, places = np.nonzero(~np.isnan(table))
    numbers = table[rows, places]
    repeated = (numbers[1:] == numbers[:-1]) & (rows[1:] == rows[:-1])
    return np.bincount(rows[1:][repeated], minlength=len(table))


def _of_numbers(part: PartValues, of: Callable[[list[float]], float], of_table: Callable[..., Any]) -> Column:
    """Return what the numbers of each tuple come to. of_table: the same of the rows of an array."""
    if part.is_table:
        return np.asarray(of_table(part.items.astype(np.float64), axis=1))
    if not part.numbers:
        return np.full(len(part.items), np.nan)
    return np.array([of(inside) if inside else np.nan for inside in part.numbers], dtype=np.float64)


def sign(part: PartValues) -> Column:
    """Return 1 for a number whose sign bit is set, −0.0 too, and 0 for any other number."""
    return np.where(np.isnan(part.values), np.nan, np.signbit(part.values))


def exponent(part: PartValues) -> Column:
    """Return e where 2^e ≤ |x| < 2^(e+1), −`BEYOND` for 0, NaN for parts that are not finite numbers."""
    known = np.where(part.values == 0, -BEYOND, np.frexp(part.values)[1] - 1.0)
    return np.where(np.isfinite(part.values), known, np.nan)


def grid(part: PartValues) -> Column:
    """Return the largest g such that x is a multiple of 2^g, `BEYOND` for 0, NaN unless x is finite."""
    bits, scale = part.significand
    lowest = bits & (~bits + np.uint64(1))
    trailing = np.frexp(lowest.astype(np.float64))[1] - 1.0
    return np.where(bits == 0, np.where(np.isnan(scale), np.nan, BEYOND), scale + trailing)


def trailing_zeros(part: PartValues) -> Column:
    """Return the number of zero low bits of an integer, or of a float's full-width significand; `BEYOND` for 0."""
    return np.where(part.significand[0] == 0, grid(part), grid(part) - part.significand[1])


def bit(place: int) -> Callable[[PartValues], Column]:
    """Return the feature of one bit, counted from the lowest, of an integer or of a float's full-width significand."""

    def feature(part: PartValues) -> Column:
        bits, scale = part.significand
        return np.where(np.isnan(scale), np.nan, (bits >> np.uint64(place)) & np.uint64(1))

    return feature


FEATURES: dict[str, Callable[[PartValues], Column]] = {
    "kind": kind,
    "value": value,
    "length": length,
    "others": others,
    "least": least,
    "largest": largest,
    "sum": total,
    "norm": norm,
    "repeats": repeats,
    "sign": sign,
    "exponent": exponent,
    "grid": grid,
    "trailing-zeros": trailing_zeros,
    **{f"bit-{place}": bit(place) for place in range(LOW_BITS)},
}


def columns_of(outcomes: Outcomes, parts: dict[Path, PartValues] | None = None) -> Columns:
    """Return the columns of outcomes: (path, feature) -> shape (outcomes,), NaN where the feature does not apply.

    Each part and each column is computed once, at its first use. parts: where the parts are kept.
    """
    parts = {} if parts is None else parts
    columns: dict[tuple[Path, str], Column] = {}

    def column(path: Path, feature: str) -> Column:
        if (path, feature) not in columns:
            columns[path, feature] = FEATURES[feature](part(outcomes, path, parts))
        return columns[path, feature]

    return column
