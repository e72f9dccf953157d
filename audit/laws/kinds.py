"""The types of random numbers: Python's and numpy's, of which operations make others.

What numpy changes: its integers wrap beyond 64 bits, an operation of one of its integers and a float takes both for
floats, and where Python raises it has infinities.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

Kind = type[Any]  # one of KINDS
INTEGERS, FLOATS = (int, np.int64), (float, np.float64)
KINDS = (*INTEGERS, *FLOATS)
NUMPY = {int: np.int64, bool: np.bool_, float: np.float64}
MOST = (1 << 63) - 1  # of numpy's integers
computed = frozenset((*KINDS, bool, np.bool_))  # with which numbers are computed; other integers wrap elsewhere


@functools.lru_cache(maxsize=1 << 10)
def kind_of(operation: Callable[..., Any], *kinds: Kind) -> type:
    """Return the type of what an operation makes of numbers of these types.

    >>> kind_of(operator.truediv, np.int64, int)
    <class 'numpy.float64'>
    """
    return type(operation(*(kind(1) for kind in kinds)))


def power_of(power: Callable[[Any, Any], Any], kind: Kind) -> Callable[[Any, Any], Any]:
    """Return the power of a type, from Python's or from numpy's function: of numpy's floats it is infinite where
    Python's raises."""
    if kind is not np.float64:
        return operator.pow

    @np.errstate(all="ignore")
    def of_numpy(base: float, exponent: float) -> float:
        return float(power(np.float64(base), np.float64(exponent)))

    return of_numpy


def type_of(value: Any) -> type:
    """Return the type that the code sees of a number, lazy or not."""
    return value.__class__  # type: ignore[no-any-return]
