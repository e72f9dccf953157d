"""Discrete Gaussian noise on the integers, exactly, at any scale: from tables of certified bounds.

As in `discrete_laplace`, a large scale is drawn in two parts, Z = 2^m·T + R. Here R is uniform, and nearly always kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from math import ceil, floor, isqrt

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.numerics.mpfr import root_of_two_pi_bounds
from subnormal.mechanisms.samplers.bernoulli import GUARD, bernoulli_exp, chance
from subnormal.mechanisms.samplers.discrete_laplace import (
    COARSE,
    DIGITS_AT_ONCE,
    SCALE_MAX,
    NoiseDigits,
    join,
    share_down,
    share_up,
    split_of,
)
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import EXPONENTIAL_ERROR, UNIT, exponential
from subnormal.mechanisms.samplers.inverse_transform import DRAWS_AT_ONCE, WORD, DistributionBounds, Table

SUMMED = 1 << 12  # variances up to which the weights are added up; beyond, e^(−2π²σ²) is below 2^−100,000


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian:
    """A sampler of discrete Gaussian noise: P(Z = z) ∝ e^(−z²/(2σ²))."""

    coarse: Table
    split: int
    variance: Fraction
    base: int = 0  # how many of the lowest digits of R are left out: uniform, except those that a decision took

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,). Up to σ = 64 one word a draw, hardly ever more.

        At a larger σ candidates are rejected. Their number leaks nothing: the candidates are independent and
        identically distributed, so the result does not depend on it, and no candidate depends on the data.
        """
        if self.split == 0:
            return self.coarse.draw(bits, n)
        coarse, rest, _ = self.digits_of_draws(bits, n)
        return join(coarse, rest, self.split)

    def digits_of_draws(self, bits: BitSource, n: int) -> NoiseDigits:
        """Return T and R of n draws, int64 of shape (n,) each, and the digits that decisions took beyond R's."""
        if self.split == 0:
            return self.coarse.draw(bits, n), np.zeros(n, dtype=np.int64), {}
        drawn, taken = np.empty((2, n), dtype=np.int64), dict[int, tuple[int, int]]()
        filled = 0
        while filled < n:
            size = min(DRAWS_AT_ONCE, n - filled)  # a part at a time, so that it stays in the cache
            bits.tries += size
            coarse, rest = self.coarse.draw(bits, size), uniform(bits, size, self.split)
            kept, beyond = self._accepted(coarse, rest, bits)
            end = filled + int(kept.sum())
            drawn[0, filled:end], drawn[1, filled:end] = coarse[kept], rest[kept]
            taken |= {filled + int(kept[:at].sum()): some for at, some in beyond.items() if kept[at]}
            filled = end
        return drawn[0], drawn[1], taken

    def undecided(self) -> Fraction:
        """Return a bound on the probability that a draw takes more than a word and a step, or three words a candidate.

        The word for R always decides. The word that decides whether a candidate is kept does so for all but two values.
        More than half of the candidates are kept: R lies below σ/32, and so e^(−R·(2s+R)/(2σ²)) near 1.
        """
        own = self.coarse.undecided()
        return own if self.split == 0 else 2 * (own + Fraction(2, 1 << WORD))

    def _accepted(
        self, coarse: NDArray[np.int64], rest: NDArray[np.int64], bits: BitSource
    ) -> tuple[NDArray[np.bool_], dict[int, tuple[int, int]]]:
        """Keep R with probability e^(−R·(2s+R)/(2σ²)), where s is the least magnitude that T stands for.

        With digits left out, s and R are known up to 2^base steps, and the exponent up to (2s + 4R + 3)/(2σ²), where
        s, R and σ count such units.
        """
        below = coarse < 0
        start = (np.where(below, ~coarse, coarse) << np.int64(self.split)) + below
        words = bits.words(len(rest))
        # The two factors, their product and its scaling are each rounded once, and 1/(2σ²) too.
        exponents = (2 * start + rest).astype(np.float64)
        exponents *= rest
        inverse = float(4**self.base / (2 * self.variance))
        exponents *= inverse
        slack = (EXPONENTIAL_ERROR + 5 * float(exponents.max(initial=0.0)) + 4) * UNIT
        if self.base:
            slack += 2 * inverse * float((2 * start + 4 * rest + 3).max(initial=0))
        chance = exponential(exponents)
        place = words.astype(np.float64) * 0.5**bits.word_bits
        kept: NDArray[np.bool_] = place < chance
        near = np.abs(place - chance) <= slack + 0.5**bits.word_bits
        beyond = {}
        for at in near.nonzero()[0].tolist():
            if self.base == 0:
                exponent = Fraction(int(rest[at]) * (2 * int(start[at]) + int(rest[at]))) / (2 * self.variance)
                kept[at] = bernoulli_exp(exponent, bits, int(words[at]), bits.word_bits)
                continue
            least = (abs(int(coarse[at])) - int(below[at]) << self.split + self.base) + int(below[at])
            kept[at], beyond[at] = self._decided(least, int(rest[at]), bits, int(words[at]), bits.word_bits)
        return kept, beyond

    def _decided(self, start: int, rest: int, bits: BitSource, drawn: int, known: int) -> tuple[bool, tuple[int, int]]:
        """Return whether U lies below the chance, and the (value, number) of the digits of R that this took.

        As in `bernoulli_exp`, but the exponent is known to the digits of R: more of these are taken, too.
        """
        left = self.base
        while True:
            ends = rest << left, (rest + 1 << left) - 1
            least, most = (Fraction(end * (2 * start + end)) / (2 * self.variance) for end in ends)
            below = drawn + 1 <= chance(Fraction(1), most, known)[0]
            if below or drawn >= chance(Fraction(1), least, known)[1]:
                return below, (rest & (1 << self.base - left) - 1, self.base - left)
            drawn, known = drawn << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits
            width = min(DIGITS_AT_ONCE, left)
            rest, left = rest << width | bits.take(width), left - width


def uniform(bits: BitSource, n: int, width: int) -> NDArray[np.int64]:
    """Return n uniform integers of `width` bits."""
    if bits.word_bits < width:
        return bits.words(n, width).astype(np.int64)
    return (bits.words(n) >> np.uint64(bits.word_bits - width)).astype(np.int64)


@lru_cache(maxsize=64)
def gaussian(variance: Fraction, base: int = 0) -> Gaussian:
    """Return the sampler of a variance σ², a positive rational. Cached: it is public. base: as for `laplace`.

    T = t stands for 2^m magnitudes from s(t) = 2^m·t for t ≥ 0 and s(t) = 2^m·(|t|−1) + 1 for t < 0, with the weight
    e^(−s²/(2σ²)) of the first. Uniform R, kept with the rest of the weight, makes the Gaussian. Raises ValueError for a
    variance that is not positive, and for a σ of more than SCALE_MAX steps.
    """
    require_scale(variance, base)
    split = split_of(Fraction(isqrt(floor(variance)) + 1, 1 << base)) if variance > COARSE**2 << 2 * base else 0
    table = Table.of(lru_cache(maxsize=8)(partial(_gaussian_bounds, variance, base + split)))
    return Gaussian(table, split, variance, base)


def require_scale(variance: Fraction, base: int = 0) -> None:
    """Raise ValueError for a variance that is not positive, and for a σ of more than SCALE_MAX·2^base steps."""
    if variance <= 0:
        raise ValueError(f"variance must be positive, got {variance}")
    if variance > SCALE_MAX**2 << 2 * base:
        raise ValueError(
            f"sigma must be at most {SCALE_MAX} steps, got {isqrt(floor(variance))}: choose a coarser grid"
        )


def _gaussian_bounds(variance: Fraction, split: int, precision: int) -> DistributionBounds:
    """F(t) = left/(left + right), each side summed from certified weights, the tails bounded."""
    working = precision + GUARD
    last = (gaussian_reach(variance, working) >> split) + 2
    starts = [((-coarse - 1) << split) + 1 if coarse < 0 else coarse << split for coarse in range(-last, last + 1)]
    weights = [bell(variance, start, working) for start in starts]
    tail = bell_tail(variance, starts[0], weights[0][1], split)
    return cumulative_bounds(-last, weights, tail, precision)


def cumulative_bounds(first: int, weights: list[tuple[int, int]], tail: int, precision: int) -> DistributionBounds:
    """Return bounds on the distribution function of first, first + 1, …, from bounds on weights of any common unit.

    tail: a bound on the weight beyond either end.
    """
    left_low = list(accumulate(low for low, _ in weights))
    left_high = list(accumulate((high for _, high in weights), initial=tail))[1:]
    low, high = [], []
    for below_low, below_high in zip(left_low[:-1], left_high[:-1], strict=True):
        above_low, above_high = left_low[-1] - below_low, left_high[-1] - below_high + tail
        low.append(share_down(below_low, below_low + above_high, precision))
        high.append(share_up(below_high, below_high + above_low, precision))
    return DistributionBounds(first, precision, low, high)


def gaussian_reach(variance: Fraction, precision: int) -> int:
    """Return a magnitude z with e^(−z²/(2σ²)) ≤ 2^−precision: z ≥ σ·√(2·ln 2·precision), and 2·ln 2 < 3/2."""
    return (isqrt(ceil(variance)) + 1) * (isqrt(3 * precision // 2) + 1)


@dataclass(frozen=True, slots=True)
class Bell:
    """The weights e^(−z²/(2σ²)) of Gaussian noise, as `wide_noise` takes them."""

    variance: Fraction

    @property
    def steps(self) -> int:
        """σ, rounded down."""
        return isqrt(int(self.variance))

    def require_scale(self) -> None:
        """Raise ValueError for a variance that is not positive, and for a σ of more than SCALE_MAX steps."""
        require_scale(self.variance)

    def reach(self, precision: int) -> int:
        """Return a magnitude whose weight is at most 2^−precision."""
        return gaussian_reach(self.variance, precision)

    def weight(self, magnitude: int, precision: int) -> tuple[int, int]:
        """Return bounds on 2^precision·w."""
        return bell(self.variance, magnitude, precision)

    def weights(self, start: int, split: int, count: int, precision: int) -> list[tuple[int, int]]:
        """Return bounds on 2^precision·w(start + j·2^split) for j < count."""
        return [bell(self.variance, start + (j << split), precision) for j in range(count)]

    def tail(self, last: int, weight: int, split: int) -> int:
        """Return a bound on the weights beyond `last`: see `bell_tail`."""
        return bell_tail(self.variance, last, weight, split)

    def normaliser(self, precision: int) -> tuple[int, int]:
        """Return bounds on 2^precision times the sum of all weights."""
        return normaliser(self.variance, precision)

    def exponents(self, magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z²/(2σ²): a magnitude, its square, the factor and the product are rounded, five units in all."""
        magnitudes *= magnitudes
        magnitudes *= float(1 / (2 * self.variance))
        return magnitudes


@lru_cache(maxsize=1 << 14)
def bell(variance: Fraction, distance: int, precision: int) -> tuple[int, int]:
    """Return bounds on 2^precision·e^(−distance²/(2σ²))."""
    return weight_bounds(1 / (2 * variance), Fraction(distance * distance), precision)


def bell_tail(variance: Fraction, last: int, weight: int, split: int = 0) -> int:
    """Return a bound on the weights of the magnitudes last+j·2^split, j ≥ 1, where that of `last` is `weight` at most.

    They fall at least like e^(−j·2^split·last/σ²), and Σ e^(−jx) ≤ 1/x.
    """
    return ceil(weight * variance / (last << split))


@lru_cache(maxsize=64)
def normaliser(variance: Fraction, precision: int) -> tuple[int, int]:
    """Return bounds on 2^precision·Σ e^(−z²/(2σ²)), the sum over all integers.

    Where σ² is above `SUMMED`, Poisson's formula makes it σ√(2π)·(1 + 2·Σ e^(−2π²σ²k²), k ≥ 1): what is added is
    relative below 3·e^(−2π²σ²) < 2^(−28σ²), as 2π²/ln 2 > 28.47 and σ² > 4.
    """
    if variance <= SUMMED:
        last = gaussian_reach(variance, precision)
        low, high = zip(*(bell(variance, z, precision) for z in range(1, last + 1)), strict=True)
        tail = bell_tail(variance, last, high[-1])
        return (1 << precision) + 2 * sum(low), (1 << precision) + 2 * (sum(high) + tail)
    root = root_of_two_pi_bounds(variance, precision + variance.numerator.bit_length())
    added = Fraction(1, 1 << 28 * SUMMED)
    return int(root[0] * (1 << precision)), ceil(root[1] * (1 + added) * (1 << precision))
