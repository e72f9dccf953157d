"""Selection by a float uniform and running sums, as naive mechanisms do it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.core.mechanism import Refused

FELL_OFF = Refused("IndexError: the uniform lies beyond the last running sum")


def uniform_bits(float_type: DTypeLike) -> int:
    """Return the bits of a uniform of the float type, k·2^−bits with k below 2^bits: 53, 24 or 11."""
    return np.finfo(np.dtype(float_type).type).nmant + 1


def running_sums(weight: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return (w_1+…+w_i)/T in the weights' own type. A total of 0 or ∞ makes sums that no uniform is below: 0."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        sums = np.cumsum(weight)
        sums /= sums[-1]
    return np.where(np.isnan(sums), sums.dtype.type(0), sums)
