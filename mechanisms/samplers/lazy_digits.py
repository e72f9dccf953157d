"""Discrete noise on a grid as fine as one likes: leading digits for many draws at once, others where they decide.

On the grid of all floats, 2^−1074, noise of scale 1 has more than a thousand digits; what is released is one rounding
of value + noise, or the answer that a threshold gives. So a draw is first known to a cell of 2^base steps, at most
2^−40 of the scale, and a function of it that is the same at both ends of the cell, and monotone, is known too. Else a
few more digits are drawn, independent ones, until it is. Exact: what is returned has the law of the whole draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.samplers import discrete_gaussian, discrete_laplace
from subnormal.mechanisms.samplers.float_weights import Rate, nats

CELL_BITS = 40  # of the number of cells to a scale, at the most
WIDE = 1 << 61  # cells from which on they are Python's integers

T = TypeVar("T")
Cells = tuple[NDArray[Any], dict[int, tuple[int, int]]]  # of draws, and for some more digits: (value, how many)


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Discrete noise: z steps lie in cell y when y·2^base ≤ z < (y + 1)·2^base."""

    leading: discrete_laplace.Laplace | discrete_gaussian.Gaussian
    base: int
    rate: Rate | None  # of Laplace noise; the digits of a Gaussian's cell are uniform

    def cells(self, bits: BitSource, n: int) -> Cells:
        """Return the cells of n draws, shape (n,): int64, or Python's integers where one is too large for that."""
        coarse, rest, beyond = self.leading.parts(bits, n)
        split = self.leading.split
        if len(coarse) and max(-int(coarse.min()), int(coarse.max())) + 1 >= WIDE >> split:
            whole = (np.abs(coarse + (coarse < 0)).astype(object) << split) + rest
            return np.where(coarse < 0, ~whole, whole), beyond
        return discrete_laplace.join(coarse, rest, split), beyond

    def settled(self, cell: int, beyond: tuple[int, int], bits: BitSource, function: Callable[[int], T]) -> T:
        """Return function(z), monotone in z, for the z in a cell whose next digits `beyond` are known already."""
        base = self.base - beyond[1]
        cell = _append(cell, *beyond)
        while True:
            found = function(cell << base)
            if base == 0 or found == function((cell + 1 << base) - 1):
                return found
            width = min(discrete_laplace.DIGITS_AT_ONCE, base)
            base -= width
            cell = _append(cell, self._digits(bits, base, width), width)

    def _digits(self, bits: BitSource, place: int, width: int) -> int:
        if self.rate is None:
            return bits.take(width)
        return int(discrete_laplace.digits(self.rate, place, width).draw(bits, 1)[0])


def _append(cell: int, digits: int, width: int) -> int:
    """Return the part of a cell that has these digits: of a negative one, those of its mirror image ~cell."""
    return ~((~cell << width) | digits) if cell < 0 else (cell << width) | digits


@lru_cache(maxsize=64)
def laplace(rate: Rate) -> Noise:
    """Return discrete Laplace noise of a rate a step, however low."""
    base = max(0, floor(1 / nats(rate)[0]).bit_length() - CELL_BITS)
    return Noise(discrete_laplace.laplace(rate, base), base, rate)


@lru_cache(maxsize=64)
def gaussian(sigma: Fraction) -> Noise:
    """Return discrete Gaussian noise with a parameter of σ steps, however large."""
    base = max(0, floor(sigma).bit_length() - CELL_BITS)
    return Noise(discrete_gaussian.gaussian(sigma**2, base), base, None)
