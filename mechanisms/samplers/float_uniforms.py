"""Selection by a float uniform and running sums, as naive mechanisms do it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.privacy import require_positive

FELL_OFF = Refused("IndexError: the uniform lies beyond the last running sum")


def uniform_bits(float_type: DTypeLike) -> int:
    """Return the bits of a uniform of the float type, k·2^−bits with k below 2^bits: 53, 24, 11, or fewer."""
    return float_types.digits(float_type)


def halved_rate(epsilon: float, sensitivity: float, float_type: DTypeLike) -> Any:
    """Return ε/(2Δ), rounded to the float type. Raises ValueError unless both are positive and finite."""
    require_positive("epsilon", epsilon)
    require_positive("sensitivity", sensitivity)
    kind: Any = float_types.of(float_type).type
    with np.errstate(over="ignore"):
        return kind(epsilon / (2 * sensitivity))


def running_sums(weight: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return (w_1+…+w_i)/T, computed in the weights' own type and widened, which is exact: comparisons are the type's.

    A total of 0 or ∞ makes sums that no uniform is below: 0.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        sums = np.cumsum(weight)
        sums /= sums[-1]
    widened: NDArray[np.float64] = sums.astype(np.float64)  # first, as numpy takes long to compare halves
    widened[np.isnan(widened)] = 0.0
    return widened
