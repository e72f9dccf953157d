"""Sums of floats, as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.additive.family import Data, Query
from subnormal.mechanisms.numerics import float_types


def sequential(records: NDArray[Any], float_type: DTypeLike) -> float:
    """Return the sum of the records, one after the other, each partial sum rounded to the float type."""
    kind = float_types.of(float_type)
    return float(np.cumsum(records.astype(kind), dtype=kind)[-1]) if len(records) else 0.0


def released(data: Data, query: Query, float_type: DTypeLike) -> NDArray[Any]:
    """Return what is released without noise, in the float type: the number, the coordinates, or the sequential sum.

    Shape () or (coordinates,).
    """
    with np.errstate(over="ignore"):  # beyond the type's largest number: ∞, as the cast has it
        values = sequential(np.atleast_1d(data), float_type) if query == "sum" else data
        return np.asarray(values, dtype=float_types.of(float_type))
