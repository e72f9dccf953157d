"""Discrete noise on an arbitrarily fine grid: leading digits for many draws at once, further digits where needed.

On the grid of all floats, 2^−1074, noise of scale 1 has more than a thousand digits; what is released is one rounding
of value + noise, or the answer of a comparison with a threshold. So only the leading digits of a draw are drawn first:
they leave an interval of 2^base steps, at most 2^−40 of the scale. A monotone function that is equal at both ends of
the interval is decided. Otherwise a few more digits are drawn, independent ones, until it is. The result is exact: it
has the law of the whole draw.
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

LEADING_BITS = 40  # of leading digits to a scale, at most
WIDE = 1 << 61  # leading digits from which on they are Python's integers

T = TypeVar("T")
LeadingDigits = tuple[NDArray[Any], dict[int, tuple[int, int]]]  # of draws, and for some more digits: (value, how many)


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Discrete noise: z steps have the leading digits y when y·2^base ≤ z < (y + 1)·2^base."""

    leading: discrete_laplace.Laplace | discrete_gaussian.Gaussian
    base: int
    rate: Rate | None  # of Laplace noise; a Gaussian's later digits are uniform

    def leading_digits(self, bits: BitSource, n: int) -> LeadingDigits:
        """Return the leading digits of n draws, shape (n,): int64, or Python's integers where int64 cannot hold one."""
        coarse, rest, beyond = self.leading.digits_of_draws(bits, n)
        split = self.leading.split
        if len(coarse) and max(-int(coarse.min()), int(coarse.max())) + 1 >= WIDE >> split:
            magnitudes = (np.abs(coarse + (coarse < 0)).astype(object) << split) + rest
            return np.where(coarse < 0, ~magnitudes, magnitudes), beyond
        return discrete_laplace.join(coarse, rest, split), beyond

    def settled(self, leading: int, beyond: tuple[int, int], bits: BitSource, function: Callable[[int], T]) -> T:
        """Return function(z), monotone in z, from the digits that are known, leading and `beyond`, and as many more as
        decide it."""
        base = self.base - beyond[1]
        leading = _append(leading, *beyond)
        while True:
            result = function(leading << base)
            if base == 0 or result == function((leading + 1 << base) - 1):
                return result
            width = min(discrete_laplace.DIGITS_AT_ONCE, base)
            base -= width
            leading = _append(leading, self._digits(bits, base, width), width)

    def _digits(self, bits: BitSource, place: int, width: int) -> int:
        if self.rate is None:
            return bits.take(width)
        return int(discrete_laplace.digits(self.rate, place, width).draw(bits, 1)[0])


def _append(leading: int, digits: int, width: int) -> int:
    """Return the leading digits and those that follow: of a negative one, those of its mirror image ~leading."""
    return ~((~leading << width) | digits) if leading < 0 else (leading << width) | digits


@lru_cache(maxsize=64)
def laplace(rate: Rate) -> Noise:
    """Return discrete Laplace noise of a rate a step, however low."""
    base = max(0, floor(1 / nats(rate)[0]).bit_length() - LEADING_BITS)
    return Noise(discrete_laplace.laplace(rate, base), base, rate)


@lru_cache(maxsize=64)
def gaussian(sigma: Fraction) -> Noise:
    """Return discrete Gaussian noise with a parameter of σ steps, however large."""
    base = max(0, floor(sigma).bit_length() - LEADING_BITS)
    return Noise(discrete_gaussian.gaussian(sigma**2, base), base, None)
