"""Numbers on a grid of granularity 2^k: rounding to it, what that costs in sensitivity, and the way back."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.numerics.mpfr import plain, rational

GRID_MIN, GRID_MAX = -1074, 62  # 2^−1074 is the least positive binary64


NORMAL_MIN = -1022  # 2^−1022 is the least normal binary64: from there on, scaling is one multiplication

Rounding = Literal["down", "half-up"]  # never half to even: 1/2 and 3/2 lie 1 apart, and would be rounded 2 apart


def reach(grid: int) -> int:
    """Return how many steps a value and a bound may lie from 0: with noise, 64-bit integers still hold their sum.

    2^61 steps, and fewer on a grid above 1, whose multiples must be 64-bit integers too.
    """
    return (1 << 61) >> max(grid, 0)


def to_steps(value: float | Fraction, grid: int, rounding: Rounding = "half-up") -> int:
    """Return the number of steps of 2^grid that a value is rounded to: down, or to the nearest with halves up.

    Both are a shift and a floor, so values Δ apart land at most ⌈Δ/2^grid⌉ steps apart. Exact, for any size.
    Raises ValueError where the value is not finite.

    >>> to_steps(Fraction(-5, 2), 0), to_steps(Fraction(-5, 2), 0, "down")
    (-2, -3)
    """
    if rounding not in ("down", "half-up"):
        raise ValueError(f"rounding must be 'down' or 'half-up', got {rounding!r}")
    numerator, denominator = plain("value", value).as_integer_ratio()
    numerator, denominator = numerator << max(-grid, 0), denominator << max(grid, 0)
    return (2 * numerator + denominator) // (2 * denominator) if rounding == "half-up" else numerator // denominator


def l1_steps(sensitivity: float | Fraction, grid: int, coordinates: int = 1) -> int:
    """Return the largest L1 distance, in steps, of two vectors rounded to the grid that lie Δ apart.

    Each coordinate may be rounded up to the next step: ⌈Δ/2^grid⌉, and one more for every further coordinate.
    """
    return ceil(_in_steps(sensitivity, grid, coordinates)) + coordinates - 1


def l2_steps_squared(sensitivity: float | Fraction, grid: int, coordinates: int = 1) -> Fraction:
    """Return a bound on the squared L2 distance, in steps, of two vectors rounded to the grid that lie Δ apart.

    ⌈Δ/2^grid⌉² for a number. In d coordinates each rounding adds less than a step, so the distance grows by at most √d.
    """
    exact = _in_steps(sensitivity, grid, coordinates)
    if coordinates == 1:
        return Fraction(ceil(exact) ** 2)
    root = Fraction(isqrt(coordinates * 4**32) + 1, 2**32)
    return (exact + root) ** 2


def _in_steps(sensitivity: float | Fraction, grid: int, coordinates: int) -> Fraction:
    if coordinates < 1:
        raise ValueError(f"coordinates must be at least 1, got {coordinates}")
    return rational("sensitivity", sensitivity) / Fraction(2) ** grid


def from_steps(steps: NDArray[np.int64], grid: int) -> NDArray[Any]:
    """Return steps·2^grid: int64 for a grid ≥ 0, else the nearest float64 (exactly equal up to 2^53 steps)."""
    if grid >= 0:
        shifted: NDArray[np.int64] = steps << np.int64(grid)
        return shifted
    floats = steps.astype(np.float64)
    if grid < NORMAL_MIN:
        return np.ldexp(floats, grid)
    floats *= 2.0**grid
    return floats
