"""Values of lazy numbers at the ends of many strips of a uniform, computed once for all paths that share them.

Arithmetic with one operation of floats rounds in numpy as in Python. Functions of `math` do not: numpy has its own. So
they are called for one element after the other, by the function that the code under audit calls.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from subnormal.audit.laws.lazy import Lazy

TABLES = 192  # kept at a time; a new one makes the oldest go
BITS = 44  # of a weight: 2^17 of them are added in 62 bits
ROUNDED = 2.0**-49  # the roundings of a product of three factors are below 2^−50 of it
UNIFORM = 1 << 53  # the floats that random() returns, times 2^53

Array = NDArray[Any]
_tables: dict[object, Array] = {}


@dataclass(frozen=True, slots=True)
class Strips:
    """A box [low, high) of a uniform, cut into `count` strips, whose widths differ by 1 at most."""

    low: int
    high: int
    count: int

    @property
    def widths(self) -> tuple[int, int]:
        """The least and the largest width of a strip."""
        width, left = divmod(self.high - self.low, self.count)
        return width, width + (left > 0)

    def ends(self) -> Array:
        """Return the first number of each strip and then the last one of each, shape (2 · count,)."""
        width, left = divmod(self.high - self.low, self.count)
        places = np.arange(self.count + 1, dtype=np.int64)
        cuts = self.low + width * places + left * places // self.count
        return np.concatenate([cuts[:-1], cuts[1:] - 1])

    def total(self, weights: Array, first: Array, end: Array, *, least: bool) -> Array:
        """Return a bound on the sum of weight · probability over the strips [first, end), for each of many ranges."""
        scaled = (np.floor if least else np.ceil)(weights * 2.0**BITS).astype(np.int64)
        sums = np.concatenate([[0], np.cumsum(scaled)])
        inside = np.where(end > first, sums[np.maximum(end, first)] - sums[first], 0).astype(np.float64)
        width = self.widths[not least] / (self.high - self.low) / 2.0**BITS
        return inside * width * (1 - ROUNDED if least else 1 + ROUNDED)


@dataclass(frozen=True, slots=True)
class Points:
    """Points of several numbers, each a uniform or one that is made of several. strips: of each one, by its uniforms;
    places: which of the strips' ends, None for all of them."""

    strips: Mapping[tuple[int, ...], Any]
    places: Mapping[tuple[int, ...], Array] | None

    def values(self, lazy: Lazy) -> Array:
        """Return the values at the points of a lazy number that is a function of one of them."""
        node = tuple(lazy.signs)
        strips = self.strips[node]
        key = (lazy.key, strips)
        if key not in _tables:
            of_one = len(node) == 1
            made = lazy.f(Points({node: strips}, None)) if of_one else lazy.base()[1](strips.ends())
            keep(_tables, TABLES, key, made)
        return _tables[key] if self.places is None else _tables[key][self.places[node]]

    def __getitem__(self, at: int) -> Array:
        ends: Array = self.strips[at,].ends()
        return ends if self.places is None else ends[self.places[at,]]


def keep(known: dict[Any, Any], most: int, key: Hashable, made: Any) -> None:
    """Remember what was made for a key, and forget the oldest where there are too many."""
    if len(known) >= most:
        known.pop(next(iter(known)))
    known[key] = made


def as_float(number: Any) -> Any:
    """Return the float that random() returns for an integer below 2^53, also for each of an array."""
    return number * 2.0**-53


def as_integer(number: Any) -> Any:
    """Return an integer; those of an array as Python's, which do not overflow."""
    return number.astype(object) if isinstance(number, np.ndarray) else number


def elementwise(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of one number that takes arrays too."""

    def applied(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return function(value)
        made = list(map(function, value.tolist()))
        kinds: dict[Any, Any] = {float: np.float64, np.float64: np.float64, bool: np.bool_, np.bool_: np.bool_}
        return np.array(made, dtype=kinds.get(type(made[0]) if made else None, object))

    return applied


def reversed_sub(value: Any, other: Any) -> Any:
    """Return other − value."""
    return other - value


def reversed_div(value: Any, other: Any) -> Any:
    """Return other / value."""
    return other / value


def ordinal(value: float) -> int:
    """Return the number of a float in the order of all floats, −0.0 below 0.0.

    >>> ordinal(5e-324), ordinal(0.0), ordinal(-0.0), ordinal(-5e-324)
    (1, 0, -1, -2)
    """
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -(int(bits) + (1 << 63)) - 1


def float_at(number: int) -> float:
    """Return the float with this number in the order of all floats."""
    (value,) = struct.unpack("<d", struct.pack("<q", max(number, -number - 1)))
    return float(value) if number >= 0 else -float(value)


def first_float(low: float, high: float, test: Callable[[float], Any]) -> float:
    """Return the first float above `low`, and `high` at most, where a test differs from what it says of `low`.

    The test changes once between them.

    >>> first_float(0.0, 9.0, lambda value: round(value) >= 3)
    2.5000000000000004
    """
    left, right, first = ordinal(low), ordinal(high), bool(test(low))
    while right - left > 1:
        middle = (left + right) // 2
        if bool(test(float_at(middle))) == first:
            left = middle
        else:
            right = middle
    return float_at(right)
