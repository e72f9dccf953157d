"""Utilities at which a float weight becomes zero, subnormal, or too small to be added to 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.privacy import require_positive

REACHES = (64, 1 << 10, 1 << 14, 1 << 18)  # utilities tried on either side of the real-number answer


def last_utility(
    epsilon: float, float_type: DTypeLike, exponent: int, visible: Callable[[NDArray[Any]], NDArray[np.bool_]]
) -> int:
    """Return the last integer utility whose naive weight is `visible`, a predicate that fails from some utility on.

    2^exponent is the weight at which it fails in real numbers. Near that utility the mechanism's own arithmetic
    decides, because libraries differ in the last bit, and coarse floats differ in more bits.
    Raises ValueError where the float type is too coarse for ε.
    """
    require_positive("epsilon", epsilon)
    guess = math.floor(-2 * exponent * math.log(2) / epsilon)
    for reach in REACHES:
        candidates = np.arange(max(0, guess - reach), guess + reach + 1)
        weights = exponential_naive.weights(candidates, epsilon, float_type=float_type)
        is_number = ~np.isnan(weights.astype(np.float64))  # float8_e4m3fn has no infinity: a larger utility is NaN
        candidates, seen = candidates[is_number], visible(weights[is_number])
        if seen.any() and not seen.all():
            return int(candidates[np.flatnonzero(seen)[-1]])
    kind = float_types.of(float_type).name
    raise ValueError(f"epsilon = {epsilon} has no boundary near utility {guess} in {kind}")


def last_positive(epsilon: float, float_type: DTypeLike) -> int:
    """Return the last integer utility whose weight e^(−εu/2) is positive, near 2·1075·ln(2)/ε in binary64.

    Half of the least positive float (2^−1074 in binary64, 2^−149, 2^−24) rounds to 0.
    """
    least = float_types.least_positive_exponent(float_type)
    return last_utility(epsilon, float_type, least - 1, lambda weights: weights > 0)


def last_normal(epsilon: float, float_type: DTypeLike) -> int:
    """Return the last integer utility whose weight e^(−εu/2) is a normal float, near 2·1022·ln(2)/ε in binary64."""
    least = float_types.least_exponent(float_type)
    return last_utility(epsilon, float_type, least, lambda weights: weights.astype(np.float64) >= 2.0**least)


def last_added(epsilon: float, float_type: DTypeLike) -> int:
    """Return the last integer utility u with 1 + e^(−εu/2) > 1, near 2p·ln(2)/ε with p bits.

    From the next one on, the weight is at most half a unit in the last place of 1, 2^−p, and an addition absorbs it.
    """
    half_unit = -float_types.digits(float_type)
    return last_utility(epsilon, float_type, half_unit, lambda weights: weights + weights.dtype.type(1) > 1)
