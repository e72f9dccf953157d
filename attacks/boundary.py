"""Where a float's weight crosses a line: the utilities that the attacks on weights are built from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mechanisms import exponential_naive

REACH = 64  # utilities tried on either side of the real-number answer


def last_utility(
    epsilon: float, float_type: DTypeLike, near: float, visible: Callable[[NDArray[Any]], NDArray[np.bool_]]
) -> int:
    """Return the last integer utility whose naive weight is `visible`, a predicate that fails from some utility on.

    near is the weight at which it fails in real numbers. The neighbours of that utility are decided by the mechanism's
    own arithmetic, because libraries differ in the last bit. Raises ValueError where the type is too coarse for ε.
    """
    guess = math.floor(-2 * math.log(near) / epsilon)
    candidates = np.arange(max(0, guess - REACH), guess + REACH + 1)
    seen = visible(exponential_naive.weights(candidates, epsilon, float_type=float_type))
    if seen.all() or not seen.any():
        kind = np.dtype(float_type).name
        raise ValueError(f"epsilon = {epsilon} has no boundary near utility {guess} in {kind}")
    return int(candidates[np.flatnonzero(seen)[-1]])
