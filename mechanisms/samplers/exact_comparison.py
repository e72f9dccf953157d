"""Exact comparison in integers, where floats cannot decide: which cell of the cumulative weights holds a uniform."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.numerics.mpfr import exp_bounds, log_bounds, power_bounds
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.float_weights import Rate, nats

COUNTED = 1 << 18  # outcomes counted at a time
GUARD = 64  # bits beyond those of a bound: what is rounded away with them is far below a unit
LOG2_E = Fraction(1442, 1000)  # below log2 e = 1.44269…
PRECISIONS = (128, 512)  # bits tried before a base-2 question is settled by whole integers
KEPT = 1 << 14  # bounds on weights that the draws of one vector share

Bounds = Callable[[Rate, Fraction, int], tuple[int, int]]  # `weight_bounds`, or the same with what it returned kept


@dataclass(frozen=True, slots=True, eq=False)
class ExactCells:
    """The exact cells of a vector of utilities: built only when a draw needs it."""

    rate: Rate
    levels: list[Fraction]  # distances from the best utility, ascending; some may have no outcome
    of_outcome: NDArray[np.integer[Any]]  # the level of each outcome
    counts: list[int] = field(init=False)
    bounds: Bounds = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", lru_cache(KEPT)(weight_bounds))
        object.__setattr__(self, "counts", self._counts_before(len(self.of_outcome)))

    @classmethod
    def of(cls, utilities: Utilities, rate: Rate) -> ExactCells:
        """Return the cells of these utilities."""
        best, worst = utilities.min().item(), utilities.max().item()
        if isinstance(best, int) and worst - best < len(utilities):  # counting beats sorting
            narrow = np.empty(len(utilities), dtype=np.int32)
            np.subtract(utilities, best, out=narrow, casting="unsafe")
            return cls(rate, [Fraction(distance) for distance in range(worst - best + 1)], narrow)
        distinct, of_outcome = np.unique(utilities, return_inverse=True)
        return cls(rate, [Fraction(value) - Fraction(best) for value in distinct.tolist()], of_outcome)

    def cell(self, drawn: int, bits: int, near: int) -> int | None:
        """Return the outcome whose cell holds [drawn, drawn + 1)/2^bits, or None where a boundary lies inside.

        near is a guess, from which the search gallops.
        """
        outcome = self._last_begun(drawn, bits, near)
        ends_after = outcome + 1 == len(self.of_outcome) or self._sign(outcome + 1, drawn + 1, bits) <= 0
        return outcome if ends_after else None

    def _last_begun(self, drawn: int, bits: int, near: int) -> int:
        """Return the last outcome whose cell begins at or before drawn/2^bits."""
        low, step = near, 1
        while low > 0 and self._sign(low, drawn, bits) < 0:
            low, step = max(0, low - step), 2 * step
        high, step = low + 1, 1
        while high < len(self.of_outcome) and self._sign(high, drawn, bits) >= 0:
            low, high, step = high, high + step, 2 * step
        high = min(high, len(self.of_outcome))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._sign(middle, drawn, bits) >= 0 else (low, middle)
        return low

    def _counts_before(self, outcome: int) -> list[int]:
        """Return how many of the outcomes before this one are on each level."""
        counts = np.zeros(len(self.levels), dtype=np.int64)
        for start in range(0, outcome, COUNTED):  # numpy counts 64-bit integers, and would copy all of them at once
            counts += np.bincount(self.of_outcome[start : min(start + COUNTED, outcome)], minlength=len(counts))
        return counts.tolist()

    def _sign(self, outcome: int, drawn: int, bits: int) -> int:
        """Return the sign of drawn/2^bits − (weight of the outcomes before this one)/(total weight)."""
        before = self._counts_before(outcome)
        terms = [
            (level, drawn * count - (passed << bits))
            for level, count, passed in zip(self.levels, self.counts, before, strict=True)
        ]
        return sign_of_sum(terms, self.rate, self.bounds)


def sign_of_sum(terms: Iterable[tuple[Fraction, int]], rate: Rate, bounds: Bounds | None = None) -> int:
    """Return the sign of Σ coefficient·weight(distance) over (distance, coefficient), distances ascending: −1, 0 or 1.

    Always ends. In base e the sum is 0 only when every coefficient is (Lindemann-Weierstrass: exponentials of distinct
    rationals are independent over the rationals), so some precision decides. In base 2 whole integers decide.
    """
    left = [(distance, coefficient) for distance, coefficient in terms if coefficient]
    if not left:
        return 0
    left = [(distance - left[0][0], coefficient) for distance, coefficient in left]
    precision = PRECISIONS[0]
    while not isinstance(rate, Eta) or precision <= PRECISIONS[-1]:
        low, high = _sum_bounds(left, rate, precision, bounds or weight_bounds)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        precision *= 4
    return _integer_sign(left, rate)


def _sum_bounds(terms: list[tuple[Fraction, int]], rate: Rate, precision: int, bounds: Bounds) -> tuple[int, int]:
    low = high = 0
    for position, (distance, coefficient) in enumerate(terms):
        lightest, heaviest = bounds(rate, distance, precision)
        if heaviest <= 1:  # so are all that follow: each is positive and at most one unit
            rest = [later for _, later in terms[position:]]
            return low + sum(min(0, later) for later in rest), high + sum(max(0, later) for later in rest)
        ordered = (lightest, heaviest) if coefficient > 0 else (heaviest, lightest)
        low += coefficient * ordered[0]
        high += coefficient * ordered[1]
    return low, high


def weight_bounds(rate: Rate, distance: Fraction, precision: int) -> tuple[int, int]:
    """Return integers low ≤ weight(distance)·2^precision ≤ high, at most 2 apart.

    A weight of 2^−b needs b significant bits less than 2^precision has: a long one costs no more than a short one.
    """
    exponent = distance * nats(rate)[0]
    if exponent > precision:  # e^−precision is below 2^−precision; a huge exponent need not be computed
        return 0, 1
    zeros = int(exponent * LOG2_E)  # binary digits of the weight that are certainly 0
    significant = max(0, precision - zeros) + zeros.bit_length() + GUARD
    if isinstance(rate, Eta):
        low, high = power_bounds(rate.base, int(distance), significant)
    else:
        low, high = exp_bounds(-rate * distance, significant)
    # Denominators are powers of two: a shift takes a time that is linear in the digits, a division a quadratic one.
    shifts = (precision + 1 - bound.denominator.bit_length() for bound in (low, high))
    return _shifted(low.numerator, next(shifts)), -_shifted(-high.numerator, next(shifts))


def _shifted(value: int, places: int) -> int:
    return value << places if places >= 0 else value >> -places


def _integer_sign(terms: list[tuple[Fraction, int]], eta: Eta) -> int:
    """Return the sign in whole integers, by Horner's rule from the heaviest weight down.

    After the terms up to distance d the sum is N·2^−(y·z·d), N an integer. It is decided when the terms left, each at
    most |coefficient|·B^d', cannot turn it: then a gap of 2^62 between utilities costs nothing.
    """
    decay = eta.y * eta.z
    start, numerator, distance = 0, 0, 0
    rest = sum(abs(coefficient) for _, coefficient in terms)
    log2_x = log_bounds(Fraction(eta.x))[1] / log_bounds(Fraction(2))[0]
    for exact_distance, coefficient in terms:
        following = int(exact_distance) - start
        if numerator:
            heaviest = log2_x * eta.z * following + rest.bit_length()
            if abs(numerator).bit_length() - 1 + decay * (following - distance) > heaviest:
                break
        else:
            start, following, distance = int(exact_distance), 0, 0
        numerator = (numerator << decay * (following - distance)) + coefficient * eta.x ** (eta.z * following)
        rest, distance = rest - abs(coefficient), following
    return (numerator > 0) - (numerator < 0)
