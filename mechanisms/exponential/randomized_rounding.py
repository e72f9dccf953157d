"""Randomized rounding of real utilities to integers, and certified bounds on how it changes the probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.validation import as_utilities
from subnormal.mechanisms.numerics.mpfr import exp_bounds, log_bounds
from subnormal.mechanisms.privacy import Eta

PRECISION = 64  # random bits an outcome; exact for every float whose fraction has no bits below 2**-64
ENCLOSURE_BITS = 256  # of unrounded weights, and of the sum of the lower bounds
WEIGHT_BITS_MAX = 1 << 20  # of one exact weight: utilities further apart are refused


def thresholds(utilities: NDArray[np.float64], precision: int = PRECISION) -> NDArray[np.uint64]:
    """Return ⌊(u − ⌊u⌋)·2^precision⌋, shape (outcomes,): u is rounded up when a random word lies below it.

    Rounding the probability down to `precision` bits costs accuracy, not privacy (Ilvento 2020, Lemma 3.5). Raises
    ValueError for a precision outside 1 to 64.
    """
    if not 1 <= precision <= 64:
        raise ValueError(f"precision must be between 1 and 64, got {precision}")
    # u − ⌊u⌋ is exact for u ≥ 0 and ⌈u⌉ − u for u ≤ 0, each a float; scaling by 2^64 is exact too.
    above = np.floor(np.ldexp(np.abs(utilities - np.trunc(utilities)), 64))
    lost = np.ldexp(np.abs(utilities - np.trunc(utilities)), 64) != above
    words = above.astype(np.uint64)
    negative = utilities < 0
    # For u < 0 the fraction is 1 − a with a = ⌈u⌉ − u: ⌊(1−a)·2^64⌋ = 2^64 − ⌈a·2^64⌉, computed modulo 2^64.
    words[negative] = np.uint64(0) - words[negative] - lost[negative].astype(np.uint64)
    return words >> np.uint64(64 - precision)


def randomized(utilities: NDArray[np.float64], bits: BitSource, precision: int = PRECISION) -> NDArray[np.int64]:
    """Return integers: ⌈u⌉ with probability u − ⌊u⌋ (to `precision` bits), else ⌊u⌋. An integer stays itself, always.

    Takes `precision` bits an outcome whatever the data. Monotone: one word rounds u ≤ v to integers in that order.
    Source: Ilvento 2020, Mechanism 4, Lemmas 3.5 and A.1.
    """
    up = bits.words(len(utilities), precision) < thresholds(utilities, precision)
    return np.floor(utilities).astype(np.int64) + up


@dataclass(frozen=True, slots=True, eq=False)
class RoundingBounds:
    """What randomized rounding does to a selection, certified: one entry for each outcome, in the utilities' order.

    lower: L_i ≤ p̂_i, exact; p̂_i is the probability under randomized rounding. gap: A ≥ 1 − Σ L_i, rounded up by less
    than 2^−ENCLOSURE_BITS, so that p̂_i ≤ L_i + A. unrounded: bounds on p_i, the probability at the real utilities;
    2^(−ηu) is irrational in general, and the two bounds are equal where every utility is an integer.
    """

    lower: tuple[Fraction, ...]
    gap: Fraction
    unrounded: tuple[tuple[Fraction, Fraction], ...]

    @property
    def upper(self) -> tuple[Fraction, ...]:
        """L_i + A ≥ p̂_i."""
        return tuple(low + self.gap for low in self.lower)

    @property
    def error(self) -> tuple[Fraction, ...]:
        """Bounds on |p̂_i − p_i|: max(|L_i − p_i|, |L_i + A − p_i|), for the worst p_i within its bounds."""
        ends = zip(self.lower, self.upper, self.unrounded, strict=True)
        return tuple(max(high - least, most - low) for low, high, (least, most) in ends)


def bounds(utilities: ArrayLike, eta: Eta, rounding_precision: int = PRECISION) -> RoundingBounds:
    """Return bounds on the law of selection by 2^(−η·û), û the utilities rounded by `randomized`. No enumeration.

    Write w_j = B^û_j, and E_i = Σ_{j≠i} E[w_j], where E[w_j] = a_j·B^⌊u_j⌋ + (1−a_j)·B^⌈u_j⌉ and a_j is the chance of
    rounding down. The roundings are independent, and x ↦ w/(w + x) is convex, so given û_i, Jensen's inequality has
    E[w_i/(w_i + Σ_{j≠i} w_j)] ≥ w_i/(w_i + E_i); L_i is its mean over û_i. As the p̂_i sum to 1, p̂_i ≤ 1 − Σ_{j≠i} L_j.
    Raises ValueError where an exact weight has more than WEIGHT_BITS_MAX bits.
    Source: Ilvento 2020, Lemma A.2, for the chances of `rounding_precision` bits that the code has.
    """
    vector = as_utilities(utilities).astype(np.float64)
    distinct, which, counts = np.unique(vector, return_inverse=True, return_counts=True)
    values = [Fraction(value) - floor(distinct[0]) for value in distinct.tolist()]  # the same law, weights at most 1
    if ceil(values[-1]) * eta.y * eta.z > WEIGHT_BITS_MAX:
        raise ValueError(f"utilities from {distinct[0]} to {distinct[-1]} have weights beyond {WEIGHT_BITS_MAX} bits")
    up = [Fraction(int(word), 1 << rounding_precision) for word in thresholds(distinct, rounding_precision)]
    lower = _lower_bounds(values, up, counts.tolist(), eta.base)
    scale = 1 << ENCLOSURE_BITS + len(vector).bit_length()
    proved = sum(count * floor(low * scale) for count, low in zip(counts.tolist(), lower, strict=True))
    unrounded = _unrounded(values, counts.tolist(), eta.base)
    return RoundingBounds(
        tuple(lower[at] for at in which), 1 - Fraction(proved, scale), tuple(unrounded[at] for at in which)
    )


def _lower_bounds(values: list[Fraction], up: list[Fraction], counts: list[int], base: Fraction) -> list[Fraction]:
    """Return L of each distinct utility."""
    floors = [base ** floor(value) for value in values]
    means = [weight * (1 - chance * (1 - base)) for weight, chance in zip(floors, up, strict=True)]
    total = sum((count * mean for count, mean in zip(counts, means, strict=True)), Fraction(0))
    lower = []
    for weight, chance, mean in zip(floors, up, means, strict=True):
        others = total - mean
        rounded_up = base * weight
        lower.append((1 - chance) * weight / (weight + others) + chance * rounded_up / (rounded_up + others))
    return lower


def _unrounded(values: list[Fraction], counts: list[int], base: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return bounds on B^u / Σ B^u of each distinct utility u ≥ 0."""
    log_low, log_high = log_bounds(base, ENCLOSURE_BITS)
    weights = [
        (base ** int(value), base ** int(value))
        if value.denominator == 1
        else (exp_bounds(value * log_low, ENCLOSURE_BITS)[0], exp_bounds(value * log_high, ENCLOSURE_BITS)[1])
        for value in values
    ]
    least, most = (
        sum((count * weight[side] for count, weight in zip(counts, weights, strict=True)), Fraction(0))
        for side in (0, 1)
    )
    return [(low / (low + most - high), high / (high + least - low)) for low, high in weights]
