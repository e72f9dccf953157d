"""Discrete Laplace noise on the integers, exactly, at any scale: from tables of certified bounds.

A large scale is drawn in two parts, Z = 2^m·T + R with 0 ≤ R < 2^m: T from a table whose size does not grow with the
scale, then R. The parts are independent, and so are the digits of R: no rejection, a fixed number of words.

The rate, P(Z = z) ∝ q^|z|, is an Eta (q = 2^−η, a dyadic) or a Fraction in nats (q = e^−rate).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.samplers.bernoulli import GUARD
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import Rate, nats
from subnormal.mechanisms.samplers.inverse_transform import FAR, WORD, DistributionBounds, Table

COARSE = 64  # steps of T to a scale, at most
DIGITS_AT_ONCE = 8  # digits of R drawn at a time
# T and R of many draws, and for some of them, by their place, more digits of R: (value, how many).
NoiseDigits = tuple[NDArray[np.int64], NDArray[np.int64], dict[int, tuple[int, int]]]

SCALE_MAX = 1 << 50  # steps: noise that a 64-bit integer holds, except for one draw in e^4096
TAIL_BITS = 40  # a table reaches to 2^−40; what falls beyond is met by wider bounds


def split_of(scale: Fraction) -> int:
    """Return m: the digits that are drawn apart, so that T has a scale of at most COARSE steps."""
    return max(0, ceil(scale / COARSE) - 1).bit_length()


@dataclass(frozen=True, slots=True, eq=False)
class Laplace:
    """A sampler of discrete Laplace noise: P(Z = z) = (1−q)/(1+q)·q^|z|."""

    coarse: Table
    fine: tuple[tuple[Table, int], ...]  # of R, with the place of each
    split: int

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,). Takes 1 + ⌈m/8⌉ words a draw, hardly ever more, whatever is drawn."""
        if not self.fine:
            return self.coarse.draw(bits, n)
        coarse, rest, _ = self.digits_of_draws(bits, n)
        # For T < 0 the digits are those of the mirror image: |Z| = 2^m·(|T|−1) + R + 1.
        return join(coarse, rest, self.split)

    def undecided(self) -> Fraction:
        """Return a bound on the probability that a draw takes more than a word and a step for each part."""
        return sum((table.undecided() for table, _ in self.fine), self.coarse.undecided())

    def digits_of_draws(self, bits: BitSource, n: int) -> NoiseDigits:
        """Return T and R of n draws, int64 of shape (n,) each, with no digits beyond them."""
        coarse, rest = self.coarse.draw(bits, n), np.zeros(n, dtype=np.int64)
        for table, place in self.fine:
            rest += table.draw(bits, n) << np.int64(place)
        return coarse, rest, {}


def join(coarse: NDArray[np.int64], rest: NDArray[np.int64], split: int) -> NDArray[np.int64]:
    """Return 2^split·T + R for T ≥ 0, and its mirror image 2^split·(T+1) − R − 1 for T < 0, at most FAR either way."""
    limit = np.int64(FAR >> split)
    scaled = (np.clip(coarse, -limit, limit - 1) + (coarse < 0)) << np.int64(split)
    return np.where(coarse < 0, scaled - rest - 1, scaled + rest)


@lru_cache(maxsize=64)
def laplace(rate: Rate, base: int = 0) -> Laplace:
    """Return the sampler of a rate, for q = 2^−η or e^−rate. Cached: rates are public.

    base: how many of the lowest digits of R are left out, to be drawn by `digits` where they matter; what is drawn is
    then the interval of 2^base steps that holds Z, or for Z < 0 the mirror image of its mirror image's interval.

    With Q = q^(2^m), T has F(t) = q^(1 + 2^m(|t|−1))/(1+q) for t < 0 and 1 − Q^(t+1)/(1+q) for t ≥ 0, and R has
    P(R = r) ∝ q^r: the digits of r are independent, because q^r is the product of what they contribute. Raises
    ValueError for a rate below 1/SCALE_MAX nats a step.
    """
    require_rate(rate, base)
    slowest = nats(rate)[0] * (1 << base)
    split = split_of(1 / slowest)
    places = range(0, split, DIGITS_AT_ONCE)
    fine = tuple((digits(rate, base + place, min(DIGITS_AT_ONCE, split - place)), place) for place in places)
    return Laplace(Table.of(lru_cache(maxsize=8)(partial(_laplace_bounds, rate, base + split))), fine, split)


def require_rate(rate: Rate, base: int = 0) -> None:
    """Raise ValueError for a rate below 1/SCALE_MAX nats a step of 2^base."""
    if nats(rate)[0] * (SCALE_MAX << base) < 1:
        raise ValueError(f"rate = {rate} is below 1/{SCALE_MAX} nats a step: choose a coarser grid")


def _laplace_bounds(rate: Rate, split: int, precision: int) -> DistributionBounds:
    reach = max(1, precision - WORD + TAIL_BITS)  # nats·1.44…: bits
    last = ceil(reach / (nats(rate)[0] * (1 << split))) + 1
    power = partial(_power, rate, precision + GUARD)
    one = 1 << (precision + GUARD)
    q_low, q_high = power(1)
    below = [power(1 + (steps << split)) for steps in range(last)]  # of t = −1, −2, …, −last
    above = [power(steps << split) for steps in range(1, last + 1)]  # of t = 0, 1, …, last − 1
    low = [share_down(low, one + q_high, precision) for low, _ in reversed(below)]
    high = [share_up(high, one + q_low, precision) for _, high in reversed(below)]
    low += [(1 << precision) - share_up(high, one + q_low, precision) for _, high in above]
    high += [(1 << precision) - share_down(low, one + q_high, precision) for low, _ in above]
    return DistributionBounds(-last, precision, low, high)


@dataclass(frozen=True, slots=True)
class Decay:
    """The weights q^|z| of Laplace noise, as `wide_noise` takes them."""

    rate: Rate

    @property
    def steps(self) -> int:
        """The scale, 1/rate in nats, rounded down."""
        return int(1 / nats(self.rate)[1])

    def require_scale(self) -> None:
        """Raise ValueError for a rate below 1/SCALE_MAX nats a step."""
        require_rate(self.rate)

    def reach(self, precision: int) -> int:
        """Return a magnitude whose weight is at most 2^−precision: e^−x ≤ 2^−p for x ≥ 3p/4 > p·ln 2."""
        return ceil(Fraction(3 * precision, 4) / nats(self.rate)[0])

    def weight(self, magnitude: int, precision: int) -> tuple[int, int]:
        """Return bounds on 2^precision·w."""
        return _power(self.rate, precision, magnitude)

    def weights(self, start: int, split: int, count: int, precision: int) -> list[tuple[int, int]]:
        """Return bounds on 2^precision·w(start + j·2^split) for j < count, each from the one before."""
        working = precision + GUARD  # each product widens bounds by two of these units at most
        low, high = _power(self.rate, working, start)
        least, most = _power(self.rate, working, 1 << split)
        found = []
        for _ in range(count):
            found.append((low >> GUARD, -(-high >> GUARD)))
            low, high = low * least >> working, -(-high * most >> working)
        return found

    def tail(self, last: int, weight: int, split: int) -> int:
        """Return a bound on Σ w(last + j·2^split), j ≥ 1: with Q = q^(2^split), Q/(1 − Q) ≤ 1/(2^split·rate)."""
        return ceil(weight / (nats(self.rate)[0] * (1 << split)))

    def normaliser(self, precision: int) -> tuple[int, int]:
        """Return bounds on 2^precision·(1+q)/(1−q), the sum of all weights."""
        return _sum_of_powers(self.rate, precision)

    def exponents(self, magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rate·z: a magnitude, the rate and the product are rounded, three units in all."""
        magnitudes *= float(nats(self.rate)[0])
        return magnitudes


@lru_cache(maxsize=64)
def _sum_of_powers(rate: Rate, precision: int) -> tuple[int, int]:
    """Return bounds on 2^precision·(1+q)/(1−q)."""
    working = precision + 2 * (int(1 / nats(rate)[0]).bit_length() + GUARD)  # 1 − q is near the rate
    one = 1 << working
    low, high = _power(rate, working, 1)
    return (one + low << precision) // (one - low), -((-(one + high) << precision) // (one - high))


def _power(rate: Rate, precision: int, exponent: int) -> tuple[int, int]:
    return weight_bounds(rate, Fraction(exponent), precision)


def share_down(part: int, whole: int, precision: int) -> int:
    return (part << precision) // whole


def share_up(part: int, whole: int, precision: int) -> int:
    return -((-part << precision) // whole)


@lru_cache(maxsize=64)
def digits(rate: Rate, place: int, width: int) -> Table:
    """Return the table of `width` digits of R, those of weight 2^place: P(b) ∝ q^(2^place·b) for b < 2^width."""
    return Table.of(lru_cache(maxsize=8)(partial(_digit_bounds, rate, place, width)))


def _digit_bounds(rate: Rate, place: int, width: int, precision: int) -> DistributionBounds:
    """F(b) = (1 − q^(2^place·(b+1)))/(1 − q^(2^(place+width)))."""
    # 1 − q^s is near s·rate: as many bits more as that is small.
    working = precision + GUARD + max(0, (ceil(1 / nats(rate)[0]) >> place).bit_length())
    one = 1 << working
    passed = [
        (one - high, one - low) for low, high in (_power(rate, working, b << place) for b in range(1, (1 << width) + 1))
    ]
    whole_low, whole_high = passed[-1]
    low = [share_down(part, whole_high, precision) for part, _ in passed[:-1]]
    high = [min(1 << precision, share_up(part, whole_low, precision)) for _, part in passed[:-1]]
    # F(−1) = 0 and F(last) = 1, exactly: every draw has its cell.
    return DistributionBounds(-1, precision, [0, *low, 1 << precision], [0, *high, 1 << precision])
