"""Bounds on the loss of naive selection in floats over a box of pairs of utilities, from its own operations.

Every operation of the code is monotone in each operand, as IEEE 754 rounds: sums, quotients, products by 2^bits and
ceilings. So the ends of a box go through the same operations; of a single pair the bounds are the law itself. Only
numpy's exp is not known to be monotone: it is evaluated at every utility that the limits allow, and a range has the
least and the largest of these values. It is assumed to have one value for each float, wherever that stands in an array.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.pair_boxes import Ceiling
from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up, log_bounds
from subnormal.mechanisms.privacy import Claim

UNIT = 2.0**-53
FEW = 2.0**-6  # relative error of all additions, up to which sums of floats are compared with sums of real numbers

Floats = NDArray[Any]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class WeightTable:
    """The weight of each utility from 0 on, the least up to it, and the largest from it on."""

    weight: Floats
    least: Floats
    largest: Floats

    @classmethod
    def of(cls, weight: Floats) -> WeightTable:
        """Return the table of these weights."""
        return cls(weight, np.minimum.accumulate(weight), np.maximum.accumulate(weight[::-1])[::-1])

    def between(self, low: Numbers, high: Numbers) -> tuple[Floats, Floats]:
        """Return bounds on the weights of utilities from low to high, equal where these are."""
        single, weight = low == high, self.weight[low]
        return np.where(single, weight, self.least[high]), np.where(single, weight, self.largest[low])


def counts_between(least: Floats, largest: Floats, uniform_bits: int) -> tuple[Numbers, Numbers]:
    """Return bounds on how many uniforms lead to each index, and, as the last entry, to none.

    least, largest: bounds on the weights, in their own type, shape (outcomes,).
    """
    below_low, below_high = _uniforms_below(least, largest, uniform_bits)
    begin_low, begin_high = (np.append(0, side[:-1]) for side in (below_low, below_high))
    low, high = np.maximum(0, below_low - begin_high), np.maximum(0, below_high - begin_low)
    share_low, share_high, error = _shares(least, largest, uniform_bits)
    low = np.maximum(low, np.floor(share_low * 2.0**uniform_bits - error).astype(np.int64))
    high = np.minimum(high, np.ceil(share_high * 2.0**uniform_bits + error).astype(np.int64))
    every = 1 << uniform_bits
    return np.append(low, every - below_high[-1]), np.append(high, every - below_low[-1])


def _uniforms_below(least: Floats, largest: Floats, uniform_bits: int) -> tuple[Numbers, Numbers]:
    """Return bounds on how many uniforms are below each running sum, which a total of 0 or ∞ makes 0."""
    with np.errstate(all="ignore"):
        sums_low, sums_high = np.cumsum(least), np.cumsum(largest)
        total_low, total_high = sums_low[-1], sums_high[-1]
        shares = [sums_low / total_high, sums_high / total_low]  # of a total that may be 0, at most ∞, which is cut
    low, high = (np.where(np.isnan(share), 0, np.minimum(share, 1)).astype(np.float64) for share in shares)
    if total_low > 0 and total_high < inf:
        low[-1] = high[-1] = 1.0  # a positive number divided by itself
    below = [np.ceil(np.ldexp(share, uniform_bits)).astype(np.int64) for share in (low, high)]
    return below[0], below[1]


def _shares(least: Floats, largest: Floats, uniform_bits: int) -> tuple[NDArray[Any], NDArray[Any], float]:
    """Return bounds on each weight over the total, as real numbers, and how many uniforms rounding may add or take.

    A running sum of n weights is A·(1 + θ) with |θ| ≤ n·u·1.1, u = 2^−uniform_bits, so that a difference of two of
    them, each divided by the total and rounded, is that of real numbers within 5n·u; and the ends are rounded up.
    The shares are computed in binary64, whose sums are off by n·2^−53 of all weights, which counts on either side.
    """
    n = len(least)
    total_low, total_high = (float(side.sum(dtype=np.float64)) for side in (least, largest))
    unclear = total_low == 0 or total_high == inf or not 2 * n < FEW * 2.0**uniform_bits
    if unclear:
        return np.zeros(n), np.ones(n), 0.0
    own_low, own_high = least.astype(np.float64), largest.astype(np.float64)
    lost = (n + 4) * UNIT
    most = (own_low + np.maximum(0.0, total_high - own_high)) * (1 + 4 * UNIT) + 2 * lost * total_high
    low = np.divide(own_low, most, out=np.zeros(n), where=own_low > 0)
    others = np.maximum(0.0, total_low - own_low - 2 * lost * total_low)
    high = np.divide(own_high, own_high + others, out=np.zeros(n), where=own_high > 0) * (1 + 8 * UNIT)
    return low, np.minimum(1.0, high), 5.0 * n + 8


def of_counts(first: tuple[Numbers, Numbers], second: tuple[Numbers, Numbers], uniforms: int, claim: Claim) -> Ceiling:
    """Return the bounds that follow from those on the number of uniforms of each outcome, in both worlds."""
    (low_in, high_in), (low_out, _) = first, second
    factor = -float_up(-exp_bounds(Fraction(claim.epsilon))[0])  # at most e^ε
    excess = np.maximum(0.0, high_in - factor * low_out * (1 - 4 * UNIT))
    at_once = np.maximum(0.0, low_in - factor * low_out * (1 - 4 * UNIT)).sum() + float(uniforms - int(low_in.sum()))
    beyond = min(float(excess.sum()), float(at_once)) * (1 + 2 * len(excess) * UNIT) / uniforms
    possible = high_in > 0
    if (low_out[possible] == 0).any():
        return Ceiling(inf, min(1.0, beyond))
    ratio = float((high_in[possible] / low_out[possible]).max())  # at most 1 exactly where the quotient is
    loss = float_up(log_bounds(Fraction(ratio * (1 + 4 * UNIT)))[1]) if ratio > 1 else 0.0
    return Ceiling(loss, min(1.0, beyond))
