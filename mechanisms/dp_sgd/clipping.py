"""Gradients clipped and rounded to an integer grid, with a sensitivity that is proved.

Each coordinate is rounded toward zero, which raises no norm: ⌊|x|⌋ ≤ |x| for each coordinate, so a gradient of norm at
most C is rounded to one of norm at most C, and nothing is paid for the grid. The floats of the clipping prove nothing:
the norm of what they make is compared with C in integers, and the coordinates of a gradient above it are moved toward
zero, by 1, 2, 4, … steps, until it is not. So the bound holds whatever the floats did.
"""

from __future__ import annotations

from math import floor, isqrt

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients


def clipped(gradients: Gradients, parameters: DpSgdParameters) -> NDArray[np.int64]:
    """Return the gradients clipped to the L2 norm C and rounded, in steps of the grid, int64 of the same shape.

    No gradient is refused, which would leak: one with a coordinate that is not finite counts as zeros.
    """
    most = floor(parameters.clip_steps**2)  # of the sum of the squares of a gradient's coordinates, at most 2^48
    finite = np.where(np.isfinite(gradients).all(axis=1, keepdims=True), gradients, 0.0)
    scaled = _scaled(finite, float(parameters.clip_steps), 2.0**-parameters.grid)
    steps = np.trunc(np.clip(scaled, -isqrt(most), isqrt(most))).astype(np.int64)
    nearer = 1
    while (over := _norms_squared(steps) > most).any():
        steps[over] = np.sign(steps[over]) * np.maximum(np.abs(steps[over]) - nearer, 0)
        nearer *= 2
    return steps


def _scaled(gradients: Gradients, bound: float, unit: float) -> Gradients:
    """Return the gradients times `unit`, exactly, or where that has a norm above the bound, scaled to it."""
    if len(gradients) == 0:
        return gradients
    largest = np.abs(gradients).max(axis=1, keepdims=True)
    directions = gradients / np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt((directions * directions).sum(axis=1, keepdims=True))  # from 1 to √d: no square overflows
    with np.errstate(over="ignore"):
        fits = lengths * largest * unit <= bound
        return np.where(fits, gradients * unit, directions * (bound / np.maximum(lengths, 1.0)))


def _norms_squared(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the squares of each row, shape (rows,); 2^62 for any above, where 64 bits might wrap around."""
    nearly = np.square(steps.astype(np.float64)).sum(axis=1)
    return np.where(nearly < 2.0**62, np.square(steps).sum(axis=1), np.int64(1 << 62))
