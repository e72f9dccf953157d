"""Which numbers a mechanism takes as its data. Inputs outside only show that the mechanism refuses them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGERS, FLOATS = "integers", "floats"
_EXACT = 1 << 53  # integers up to here are floats as well
_TYPE = re.compile(r"(u?)int(8|16|32|64)")
_RANGE = re.compile(r"([+-]?[\d.]*(?:e[+-]?\d+)?)\.\.([+-]?[\d.]*(?:e[+-]?\d+)?)")


@dataclass(frozen=True, slots=True)
class Domain:
    """Numbers from lower to upper, both included. kind: int or float, where only these are accepted; None: either."""

    lower: int | float = -inf
    upper: int | float = inf
    kind: type[int] | type[float] | None = None

    def __str__(self) -> str:
        return f"{self.lower}..{self.upper}"

    def taken(self, data: Any) -> Any:
        """Return a number, a vector or a mapping's values as numbers of the domain: equal ones, as integers or floats.

        Raises ValueError where a number lies outside the domain.

        >>> Domain(0, 9, int).taken(3.0)
        3
        """
        if isinstance(data, Mapping):
            return {key: self._number(value) for key, value in data.items()}
        return self._vector(data) if isinstance(data, np.ndarray) else self._number(data)

    def _number(self, value: int | float) -> int | float:
        if not self.lower <= value <= self.upper:
            raise ValueError(f"{value} is not in the domain {self}")
        if self.kind not in (None, type(value)):
            if self.kind(value) != value or abs(value) > _EXACT:
                raise ValueError(f"{value} is not among the domain's {INTEGERS if self.kind is int else FLOATS}")
            return self.kind(value)
        return value

    def _vector(self, data: NDArray[Any]) -> NDArray[Any]:
        kind = int if data.dtype.kind in "iu" else float
        if len(data) == 0 or (self.kind in (None, kind) and self._has(data.min().item(), data.max().item())):
            return data
        numbers = [self._number(value) for value in np.unique(data).tolist()]
        return data.astype(np.int64 if isinstance(numbers[0], int) else np.float64)

    def _has(self, least: int | float, most: int | float) -> bool:
        return self.lower <= least and most <= self.upper


def domain(text: str) -> Domain:
    """Return the domain of that name: a type as in "int32" or "uint8", "integers", "floats", or "LOWER..UPPER".

    A range is of integers where its ends are written as such, else of floats; one end may be left out. Raises
    ValueError.

    >>> domain("int8"), domain("0.."), domain("-1.5..1e3")
    (Domain(lower=-128, upper=127, kind=<class 'int'>), Domain(lower=0, upper=inf, kind=<class 'int'>), \
Domain(lower=-1.5, upper=1000.0, kind=<class 'float'>))
    """
    if text in (INTEGERS, FLOATS):
        return Domain(kind=int if text == INTEGERS else float)
    if named := _TYPE.fullmatch(text):
        bits = int(named[2])
        return Domain(0, (1 << bits) - 1, int) if named[1] else Domain(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, int)
    if (ends := _RANGE.fullmatch(text)) and text != "..":
        kind = int if all(re.fullmatch(r"[+-]?\d*", end) for end in ends.groups()) else float
        with suppress(ValueError):
            lower, upper = (
                kind(end) if end else missing for end, missing in zip(ends.groups(), (-inf, inf), strict=True)
            )
            if lower <= upper and (isfinite(lower) or isfinite(upper)):
                return Domain(lower, upper, kind)
    raise ValueError(f"{text!r} is neither a type as in int32, uint8, {INTEGERS}, {FLOATS}, nor a range LOWER..UPPER")
