"""How other programs sum records, and how far an attack's worlds move such a sum."""

from collections.abc import Callable
from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.attacks.additive.sensitivity_underestimation import Worlds

Records = NDArray[Any]


def pairwise(records: Records, float_type: DTypeLike) -> float:
    """Return numpy's own sum: halves of the records summed on their own, down to blocks of at most 128."""
    return float(np.sum(records.astype(float_type), dtype=float_type))


def correctly_rounded(records: Records, float_type: DTypeLike) -> float:
    """Return the float64 nearest to the exact sum, rounded to the float type."""
    return float(np.asarray(fsum(records.tolist()), dtype=float_type))


def jump(summation: Callable[[Records], float], worlds: Worlds) -> Fraction:
    """Return how many times the claimed sensitivity the two sums lie apart, exactly. 1 is what real numbers allow."""
    moved = Fraction(summation(worlds.data_in)) - Fraction(summation(worlds.data_out))
    return abs(moved) / worlds.claimed
