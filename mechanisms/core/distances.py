"""How far apart two vectors of numbers lie, compared exactly whatever their types."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.numerics.mpfr import float_up, rational

FLOAT64 = 1 << 53  # integers up to here are floats as well


def nowhere_beyond(allowed: Fraction, data_in: ArrayLike, data_out: ArrayLike) -> bool:
    """Return whether no two numbers at the same place of two vectors of one shape differ by more than is allowed.

    Integers and floats of any width, mixed too, are taken as exact rationals. Raises ValueError where
    one is not a finite number.
    """
    vectors = np.asarray(data_in), np.asarray(data_out)
    if all(_are_integers(vector) for vector in vectors):
        one, other = (vector.astype(np.int64, copy=False) for vector in vectors)
        high, low = np.maximum(one, other), np.minimum(one, other)  # modulo 2^64 their difference is exact
        return int((high.view(np.uint64) - low.view(np.uint64)).max(initial=0)) <= allowed
    if all(_are_floats(vector) for vector in vectors):
        return _floats_within(allowed, *(vector.astype(np.float64, copy=False) for vector in vectors))
    return _each_within(allowed, vectors[0].tolist(), vectors[1].tolist())


def _are_integers(vector: NDArray[Any]) -> bool:
    """Return whether int64 holds them."""
    return vector.dtype.kind in "iu" and int(vector.max(initial=0)) <= np.iinfo(np.int64).max


def _are_floats(vector: NDArray[Any]) -> bool:
    """Return whether float64 holds them."""
    if vector.dtype.kind == "f":
        return vector.dtype.itemsize <= 8
    if vector.dtype.kind not in "iu":
        return False
    return int(vector.min(initial=0)) >= -FLOAT64 and int(vector.max(initial=0)) <= FLOAT64


def _floats_within(allowed: Fraction, one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Rounding never reverses an order: only where the rounded distance is one of the floats next to the allowed one
    has it to be known exactly."""
    for vector in (one, other):
        if not np.isfinite(vector).all():
            raise ValueError(f"data must be finite numbers, got {vector[~np.isfinite(vector)][0]}")
    above, below = np.maximum(one, other), np.minimum(one, other)
    with np.errstate(over="ignore"):
        apart = above - below
    most = float_up(allowed)
    if (apart > most).any():
        return False
    is_float = np.isfinite(most) and Fraction(most) == allowed
    near = apart >= (most if is_float else np.nextafter(most, 0))
    above, below, apart = above[near], below[near], apart[near]
    if not is_float:
        return _each_within(allowed, above.tolist(), below.tolist())
    back = apart - above  # Knuth's TwoSum: apart + error is the distance, exactly
    error = (above - (apart - back)) - (below + back)
    return bool((error <= 0).all())


def _each_within(allowed: Fraction, one: Sequence[Any], other: Sequence[Any]) -> bool:
    pairs = set(zip(one, other, strict=True))
    return all(abs(rational("data", first) - rational("data", second)) <= allowed for first, second in pairs)
