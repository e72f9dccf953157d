"""Bisection of many monotone predicates at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def least_holding(
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]], below: NDArray[np.int64], end: NDArray[np.int64] | int
) -> NDArray[np.int64]:
    """Return for each place the least integer above `below` at which a predicate holds, or `end`; shape (places,).

    holds(integers) asks all places at once, of integers from `below` to below `end`, and never turns false again.
    """
    found = np.broadcast_to(np.asarray(end, dtype=np.int64), below.shape)
    while (searching := found - below > 1).any():
        middle = below + (found - below) // 2
        reached = holds(middle)
        found, below = np.where(searching & reached, middle, found), np.where(searching & ~reached, middle, below)
    return found
