"""Quantiles of normal and exponential random numbers, of which numpy draws by ziggurats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SIZE = 1 << 62  # numbers of the uniform behind a quantile


def normal_quantile(number: Any) -> Any:
    """Return the quantile of the standard normal at (k + 1/2) / 2^62, also for each of an array."""
    from scipy.special import ndtri  # takes 100 ms

    k = np.asarray(number, dtype=np.int64)
    lower = ndtri((np.minimum(k, SIZE - 1 - k) + 0.5) / SIZE)
    found = np.where(k < SIZE // 2, lower, -lower)
    return found if found.ndim else float(found)


def exponential_quantile(number: Any) -> Any:
    """Return the quantile of the standard exponential at (k + 1/2) / 2^62, also for each of an array."""
    if isinstance(number, int):  # in a twentieth of the time
        return -math.log1p(-(number + 0.5) / SIZE) if number < SIZE // 2 else -math.log((SIZE - number - 0.5) / SIZE)
    k = np.asarray(number, dtype=np.int64)
    lower, upper = np.minimum(k, SIZE // 2), SIZE - 1 - k
    found = np.where(k < SIZE // 2, -np.log1p(-(lower + 0.5) / SIZE), -np.log((upper + 0.5) / SIZE))
    return found if found.ndim else float(found)
