"""Sums of floats, as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def sequential(records: NDArray[Any], float_type: DTypeLike) -> float:
    """Return the sum of the records, one after the other, each partial sum rounded to the float type."""
    return float(np.cumsum(records.astype(float_type), dtype=float_type)[-1]) if len(records) else 0.0
