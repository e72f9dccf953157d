"""Floating-point weights with proved error bounds: directed rounding and basic operations, no library function.

Errors are counted in units of 2^−53, relative. The four basic operations of IEEE 754 are correctly rounded, so each
contributes at most one unit; what is not a basic operation comes from tables that MPFR rounded correctly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.numerics.mpfr import exp_bounds, log_bounds, nearest_exponentials
from subnormal.mechanisms.privacy import Eta, require_positive

Rate = Eta | Fraction  # how weights fall with utility: 2^(−η·u), or e^(−rate·u) for a rate in nats

UNIT = 2.0**-53
INT64_MAX = (1 << 63) - 1
TAIL_BITS = 44  # weights below 2^−44/outcomes of the best are left to the slack: they are decided in integers
TABLE_MAX = 1 << 17  # entries of a table of powers; a smaller η is computed as a real exponential

SLOPE_MIN, SLOPE_MAX = Fraction(1, 1 << 1000), Fraction(1 << 1000)  # nats a unit: normal floats, rounded once

COARSE = 32  # steps a unit of the exponent, in the first table of the exponential
FINE_BITS = 10  # each of them divided into 2^10, in the second; what remains is below 2^−15
ROW = 1 << 10  # utilities whose least is kept
EXPONENT_MAX = 96  # the tables' range in nats; beyond, the weight is 0 and counts as tail
STEPS = float(COARSE << FINE_BITS)  # a nat, 2^15
INTEGER = 1.5 * 2.0**52  # added to a number below 2^51 it leaves an integer, in the last bits of the float
LAST_STEP = (1 << (COARSE * EXPONENT_MAX).bit_length()) - 1  # of the first table, and what is left of INTEGER cut off


@lru_cache(maxsize=64)
def nats(rate: Rate) -> tuple[Fraction, Fraction]:
    """Return bounds on the rate in nats per unit of utility, about 2^−192 apart; equal in base e."""
    if isinstance(rate, Fraction):
        return rate, rate
    low, high = log_bounds(Fraction(1 << rate.y, rate.x), 192)
    return rate.z * low, rate.z * high


@lru_cache(maxsize=64)
def reach(rate: Rate, size_bits: int) -> int:
    """Return a distance beyond which fewer than 2^size_bits outcomes together weigh below 2^−TAIL_BITS of the best."""
    return ceil((TAIL_BITS + size_bits) * log_bounds(Fraction(2))[1] / nats(rate)[0])


@lru_cache(maxsize=16)
def power_table(eta: Eta, size: int) -> NDArray[np.float64]:
    """Return B^0, …, B^(size−1) and a 0, each within `power_error(size)` units. Shape (size + 1,).

    By doubling: B^(2^i + j) = B^(2^i)·B^j with B^(2^i) rounded once from the exact rational or from MPFR's bounds.
    """
    table = np.ones(size + 1)
    filled = 1
    while filled < size:
        end = min(2 * filled, size)
        low, high = exp_bounds(-filled * nats(eta)[1], 192) if filled > 1 else (eta.base, eta.base)
        factor = float((low + high) / 2)
        table[filled:end] = table[: end - filled] * factor
        filled = end
    table[size] = 0.0
    table.flags.writeable = False
    return table


def power_error(size: int) -> int:
    """Return the units of error of a table: at most one factor and one product for each of its doublings."""
    return 2 * size.bit_length() + 2


@lru_cache(maxsize=1)
def _exponential_tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    coarse = nearest_exponentials(Fraction(-i, COARSE) for i in range(COARSE * EXPONENT_MAX))
    fine = nearest_exponentials(Fraction(-j, COARSE << FINE_BITS) for j in range(1 << FINE_BITS))
    return np.array([*coarse, 0.0]), np.array(fine)


def exponential(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^−t for t ≥ 0, within `EXPONENTIAL_ERROR` units, and 0 for t ≥ 96. The argument is overwritten.

    t = k·2^−15 + r with |r| ≤ 2^−16, both exact in floats; e^−t = coarse[k div 1024]·fine[k mod 1024]·P(r), where P is
    Taylor's 1 − r + r²/2. Source: Tang 1989, table-driven exponentials.
    """
    coarse, fine = _exponential_tables()
    rest = np.minimum(exponents, float(EXPONENT_MAX), out=exponents)
    rest *= STEPS
    shifted = rest + INTEGER  # rounds to a multiple of 2^−15: k is in the last bits
    polynomial = shifted - INTEGER
    rest -= polynomial
    np.multiply(rest, 0.5 / STEPS**2, out=polynomial)
    polynomial -= 1 / STEPS
    polynomial *= rest
    polynomial += 1.0
    step, place = shifted.view(np.int64), rest.view(np.int64)
    np.bitwise_and(step, (1 << FINE_BITS) - 1, out=place)
    polynomial *= fine.take(place, mode="clip")
    step >>= FINE_BITS
    step &= LAST_STEP
    polynomial *= coarse.take(step, out=rest, mode="clip")
    return polynomial


# Two correctly rounded table entries (each within 1 unit, because bounds at 128 bits may round either way), two
# products, and the polynomial: near 1 its last sum rounds once, what is rounded before it is below 2^−16, and what
# Taylor's series has beyond it is below 2^−48/6, which is 6 units.
EXPONENTIAL_ERROR = 2 + 2 + 2 + 6


def exponent_error(largest: float) -> int:
    """Return the units of error of e^−t that a float t = rate·(u − u_min) ≤ largest brings with it.

    The difference, the rate and their product are each rounded once, so t is off by at most 3 units relative, 3·t
    absolute, and so is the logarithm of the weight.
    """
    return 3 * ceil(largest) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """How to weigh distances from the best utility in floats: by a table of powers, or by a real exponential."""

    rate: Rate
    table: NDArray[np.float64] | None  # B^0, B^1, …, and 0 for everything beyond
    slope: float  # nats per unit of utility
    extent: np.int64 | np.float64  # the largest distance that matters: all beyond it weigh too little together
    headroom: np.int64 | np.float64  # the largest utility to which it can be added
    error: int  # of each weight, in units of 2^−53


@lru_cache(maxsize=256)
def scale_of(rate: Eta | float, sensitivity: float, kind: str, size_bits: int) -> Scale:
    """Return how to weigh fewer than 2^size_bits utilities of dtype kind "i" or "f". Public values only, so cached.

    Raises ValueError for a rate outside 2^−1000 to 2^1000 nats a unit of utility.
    """
    if isinstance(rate, Eta):
        size = reach(rate, size_bits) + 1
        if size <= TABLE_MAX:
            return Scale(rate, power_table(rate, size), 0.0, *_room(size - 1), power_error(size))
    exact_rate = rate if isinstance(rate, Eta) else budget_rate(rate, sensitivity)
    if not SLOPE_MIN <= nats(exact_rate)[0] <= SLOPE_MAX:
        raise ValueError(f"rate = {rate} at sensitivity = {sensitivity} lies outside 2^-1000 to 2^1000 nats a unit")
    slope, largest = float(nats(exact_rate)[0]), 0.7 * (TAIL_BITS + size_bits) + 1  # 0.7 > ln 2
    error = EXPONENTIAL_ERROR + exponent_error(largest)
    if kind == "f":
        return Scale(exact_rate, None, slope, np.float64(largest / slope), np.float64(inf), error)
    return Scale(exact_rate, None, slope, *_room(min(ceil(largest / Fraction(slope)), INT64_MAX)), error)


def _room(extent: int) -> tuple[np.int64, np.int64]:
    return np.int64(extent), np.int64(INT64_MAX - 1 - extent)


def budget_rate(epsilon: float, sensitivity: float) -> Fraction:
    """Return the rate at which weights fall in base e, in nats per unit of utility: the rational ε/(2Δ)."""
    require_positive("epsilon", epsilon)
    require_positive("sensitivity", sensitivity)
    return Fraction(epsilon) / (2 * Fraction(sensitivity))


class Weighing(NamedTuple):
    """A vector of utilities, and how to weigh it.

    best: the least of them, as the number of numpy's that it is: Python's integers take longer at 0 than at 1.
    minima: the least of each whole row of `ROW` utilities; None of one that was not cut into rows.
    """

    utilities: Utilities
    best: Any  # np.int64 or np.float64
    minima: NDArray[Any] | None
    scale: Scale

    @classmethod
    def of(cls, utilities: Utilities, scale: Scale, in_rows: bool) -> Weighing:
        """Return a vector with its best utility, found in one pass."""
        if not in_rows or len(utilities) < ROW:
            return cls(utilities, np.minimum.reduce(utilities), None, scale)
        rest = len(utilities) % ROW
        minima = np.minimum.reduce(utilities[: len(utilities) - rest].reshape(-1, ROW), axis=1)
        ends = np.append(minima, utilities[len(utilities) - rest :]) if rest else minima
        return cls(utilities, np.minimum.reduce(ends), minima, scale)

    def limit(self) -> Any:
        """Return the largest utility that matters."""
        return min(self.best, self.scale.headroom) + self.scale.extent

    def weigh(self, utilities: Utilities) -> NDArray[np.float64]:
        """Return the weights of some of the utilities, relative to the best, each within its error or 0."""
        table = self.scale.table
        if table is not None:
            if self.best < 0:  # a difference might overflow
                utilities = np.minimum(utilities, self.limit() + 1)
            distances: NDArray[np.int64] = utilities - self.best
            return table.take(distances, mode="clip")
        with np.errstate(over="ignore"):  # a distance of ∞ weighs 0
            exponents = _distances(utilities, self.best)
            exponents *= self.scale.slope
        return exponential(exponents)


def _distances(utilities: Utilities, best: Any) -> NDArray[np.float64]:
    """Return u − best as floats, rounded once: of integers it is exact modulo 2^64, and never negative."""
    differences: NDArray[np.float64]
    if utilities.dtype.kind == "f":
        differences = utilities - best
        return differences
    differences = (utilities.view(np.uint64) - best.view(np.uint64)).astype(np.float64)
    return differences
