"""The rival: inverse transform sampling in float64 as numpy does it best, with none of the care.

Every step works in place, and many draws share one table of running sums. Utilities start at 0, so that not even the
shift by the best is paid for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.validation import Utilities

LN2 = float(np.log(2))


def running_sums(utilities: Utilities, slope: float) -> NDArray[np.float64]:
    """Return the running sums of e^(−slope·u). Shape (outcomes,)."""
    weights = utilities.astype(np.float64)
    weights *= -slope
    np.exp(weights, out=weights)
    return weights.cumsum(out=weights)


def draw(utilities: Utilities, slope: float, generator: np.random.Generator) -> int:
    """Return one index."""
    sums = running_sums(utilities, slope)
    return int(sums.searchsorted(generator.random() * sums[-1], side="right"))


def draw_many(utilities: Utilities, slope: float, generator: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Return n indices, int64 of shape (n,)."""
    sums = running_sums(utilities, slope)
    places = generator.random(n)
    places *= sums[-1]
    return sums.searchsorted(places, side="right")
