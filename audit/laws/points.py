"""Values of lazy numbers at the ends of many strips of a uniform, computed once for all paths that share them.

Arithmetic with one operation of floats rounds in numpy as in Python. Functions of `math` do not: numpy has its own. So
they are called for one element after the other, by the function that the code under audit calls.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from subnormal.audit.laws.lazy import Lazy

TABLES = 192  # kept at a time; a new one makes the oldest go
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


@dataclass(frozen=True, slots=True)
class Points:
    """Points of several uniforms. strips: of each one; places: which of the strips' ends, None for all of them."""

    strips: dict[int, Strips]
    places: dict[int, Array] | None

    def values(self, lazy: Lazy) -> Array:
        """Return the values of a lazy number of one uniform at the points."""
        (at,) = lazy.signs
        key = (lazy.key, self.strips[at])
        if key not in _tables:
            if len(_tables) >= TABLES:
                _tables.pop(next(iter(_tables)))
            _tables[key] = lazy.f(Points({at: self.strips[at]}, None))
        return _tables[key] if self.places is None else _tables[key][self.places[at]]

    def __getitem__(self, at: int) -> Array:
        ends = self.strips[at].ends()
        return ends if self.places is None else ends[self.places[at]]


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
        kinds = {float: np.float64, np.float64: np.float64, bool: np.bool_, np.bool_: np.bool_}
        return np.array(made, dtype=kinds.get(type(made[0]), object))

    return applied


def ordinal(value: float) -> int:
    """Return the number of a float in the order of all floats, 0 for both zeros.

    >>> ordinal(5e-324), ordinal(-5e-324)
    (1, -1)
    """
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -(int(bits) + (1 << 63))


def float_at(number: int) -> float:
    """Return the float with this number in the order of all floats."""
    (value,) = struct.unpack("<d", struct.pack("<q", abs(number)))
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
