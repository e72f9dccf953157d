"""Discrete Laplace and Gaussian noise on the integers, exactly, at any scale: from tables of certified bounds.

A large scale is drawn in two parts, Z = 2^m·T + R with 0 ≤ R < 2^m: T from a table whose size does not grow with the
scale, then R. For Laplace the parts are independent, and so are the digits of R: no rejection, a fixed number of words.
For the Gaussian R is uniform and kept with a probability near 1.

The rate of Laplace noise, P(Z = z) ∝ q^|z|, is an Eta (q = 2^−η, a dyadic) or a Fraction in nats (q = e^−rate).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from math import ceil, floor, isqrt

import numpy as np
from numpy.typing import NDArray

from mechanisms.bits import BitSource
from mechanisms.certified import EXPONENTIAL_ERROR, UNIT, Rate, exponential, nats
from mechanisms.inversion import FAR, JUDGED, WORD, Bounds, Table
from mechanisms.undecided import weight_bounds

COARSE = 64  # steps of T to a scale, at the most
BLOCK_BITS = 8  # digits of R drawn at a time
SCALE_MAX = 1 << 50  # steps: noise that a 64-bit integer holds but for one draw in e^4096
GUARD = 32  # bits of working precision beyond those asked for
TAIL_BITS = 40  # a table reaches to 2^−40; what falls beyond is met by wider bounds


def _split(scale: Fraction) -> int:
    """Return m: the digits that are drawn apart, so that T has a scale of at most COARSE steps."""
    return max(0, ceil(scale / COARSE) - 1).bit_length()


@dataclass(frozen=True, slots=True, eq=False)
class Laplace:
    """A sampler of discrete Laplace noise: P(Z = z) = (1−q)/(1+q)·q^|z|."""

    coarse: Table
    blocks: tuple[tuple[Table, int], ...]  # of R, with the place of each
    split: int

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,). Takes 1 + ⌈m/8⌉ words a draw, hardly ever more, whatever is drawn."""
        coarse = self.coarse.draw(bits, n)
        if not self.blocks:
            return coarse
        rest = np.zeros(n, dtype=np.int64)
        for table, place in self.blocks:
            rest += table.draw(bits, n) << np.int64(place)
        # For T < 0 the digits are those of the mirror image: |Z| = 2^m·(|T|−1) + R + 1.
        return join(coarse, rest, self.split)

    def undecided(self) -> Fraction:
        """Return a bound on the probability that a draw takes more than a word and a step for each part."""
        return sum((table.undecided() for table, _ in self.blocks), self.coarse.undecided())


def join(coarse: NDArray[np.int64], rest: NDArray[np.int64], split: int) -> NDArray[np.int64]:
    """Return 2^split·T + R for T ≥ 0, and its mirror image 2^split·(T+1) − R − 1 for T < 0, at most FAR either way."""
    limit = np.int64(FAR >> split)
    scaled = (np.clip(coarse, -limit, limit - 1) + (coarse < 0)) << np.int64(split)
    return np.where(coarse < 0, scaled - rest - 1, scaled + rest)


@lru_cache(maxsize=64)
def laplace(rate: Rate) -> Laplace:
    """Return the sampler of a rate, for q = 2^−η or e^−rate. Cached: rates are public.

    With Q = q^(2^m), T has F(t) = q^(1 + 2^m(|t|−1))/(1+q) for t < 0 and 1 − Q^(t+1)/(1+q) for t ≥ 0, and R has
    P(R = r) ∝ q^r: the digits of r are independent, because q^r is the product of what they contribute.
    """
    slowest = nats(rate)[0]
    if slowest * SCALE_MAX < 1:
        raise ValueError(f"rate = {rate} is below 1/{SCALE_MAX} nats a step: choose a coarser grid")
    split = _split(1 / slowest)
    places = range(0, split, BLOCK_BITS)
    blocks = tuple((_digits(rate, place, min(BLOCK_BITS, split - place)), place) for place in places)
    return Laplace(Table.of(lru_cache(maxsize=8)(partial(_laplace_bounds, rate, split))), blocks, split)


def _laplace_bounds(rate: Rate, split: int, precision: int) -> Bounds:
    reach = max(1, precision - WORD + TAIL_BITS)  # nats·1.44…: bits
    last = ceil(reach / (nats(rate)[0] * (1 << split))) + 1
    power = partial(_power, rate, precision + GUARD)
    one = 1 << (precision + GUARD)
    q_low, q_high = power(1)
    below = [power(1 + (steps << split)) for steps in range(last)]  # of t = −1, −2, …, −last
    above = [power(steps << split) for steps in range(1, last + 1)]  # of t = 0, 1, …, last − 1
    low = [_share_down(low, one + q_high, precision) for low, _ in reversed(below)]
    high = [_share_up(high, one + q_low, precision) for _, high in reversed(below)]
    low += [(1 << precision) - _share_up(high, one + q_low, precision) for _, high in above]
    high += [(1 << precision) - _share_down(low, one + q_high, precision) for low, _ in above]
    return Bounds(-last, precision, low, high)


def _power(rate: Rate, precision: int, exponent: int) -> tuple[int, int]:
    return weight_bounds(rate, Fraction(exponent), precision)


def _share_down(part: int, whole: int, precision: int) -> int:
    return (part << precision) // whole


def _share_up(part: int, whole: int, precision: int) -> int:
    return -((-part << precision) // whole)


def _digits(rate: Rate, place: int, width: int) -> Table:
    """Return the table of `width` digits of R, those of weight 2^place: P(b) ∝ q^(2^place·b) for b < 2^width."""
    return Table.of(lru_cache(maxsize=8)(partial(_digit_bounds, rate, place, width)))


def _digit_bounds(rate: Rate, place: int, width: int, precision: int) -> Bounds:
    """F(b) = (1 − q^(2^place·(b+1)))/(1 − q^(2^(place+width)))."""
    # 1 − q^s is near s·rate: as many bits more as that is small.
    working = precision + GUARD + max(0, (ceil(1 / nats(rate)[0]) >> place).bit_length())
    one = 1 << working
    passed = [
        (one - high, one - low) for low, high in (_power(rate, working, b << place) for b in range(1, (1 << width) + 1))
    ]
    whole_low, whole_high = passed[-1]
    low = [_share_down(part, whole_high, precision) for part, _ in passed[:-1]]
    high = [min(1 << precision, _share_up(part, whole_low, precision)) for _, part in passed[:-1]]
    # F(−1) = 0 and F(last) = 1, exactly: every draw has its cell.
    return Bounds(-1, precision, [0, *low, 1 << precision], [0, *high, 1 << precision])


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian:
    """A sampler of discrete Gaussian noise: P(Z = z) ∝ e^(−z²/(2σ²))."""

    coarse: Table
    split: int
    variance: Fraction

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,). Up to σ = 64 one word a draw, hardly ever more.

        At a larger σ candidates are rejected. How many tells nothing: the candidates are independent and alike, so the
        one that is kept has the same law whichever it is, and none of them depends on the data.
        """
        if self.split == 0:
            return self.coarse.draw(bits, n)
        drawn = np.empty(n, dtype=np.int64)
        filled = 0
        while filled < n:
            size = min(JUDGED, n - filled)  # a part at a time, so that it stays in the cache
            bits.tries += size
            coarse, rest = self.coarse.draw(bits, size), _uniform(bits, size, self.split)
            kept = join(coarse, rest, self.split)[self._accepted(coarse, rest, bits)]
            drawn[filled : filled + len(kept)] = kept
            filled += len(kept)
        return drawn

    def undecided(self) -> Fraction:
        """Return a bound on the probability that a draw takes more than a word and a step, or three words a candidate.

        Of a candidate's words the one for R always decides, and the one for its keeping but for two values at the most.
        More than half of the candidates are kept: R lies below σ/32, and so e^(−R·(2s+R)/(2σ²)) near 1.
        """
        own = self.coarse.undecided()
        return own if self.split == 0 else 2 * (own + Fraction(2, 1 << WORD))

    def _accepted(self, coarse: NDArray[np.int64], rest: NDArray[np.int64], bits: BitSource) -> NDArray[np.bool_]:
        """Keep R with probability e^(−R·(2s+R)/(2σ²)), where s is the least magnitude of T's cell."""
        below = coarse < 0
        start = (np.where(below, ~coarse, coarse) << np.int64(self.split)) + below
        words = bits.words(len(rest))
        # The two factors, their product and its scaling are each rounded once, and 1/(2σ²) too.
        exponents = (2 * start + rest).astype(np.float64)
        exponents *= rest
        exponents *= float(1 / (2 * self.variance))
        slack = (EXPONENTIAL_ERROR + 5 * float(exponents.max(initial=0.0)) + 4) * UNIT
        chance = exponential(exponents)
        place = words.astype(np.float64) * 0.5**bits.word_bits
        kept: NDArray[np.bool_] = place < chance
        near = np.abs(place - chance) <= slack + 0.5**bits.word_bits
        for at in near.nonzero()[0].tolist():
            exponent = Fraction(int(rest[at]) * (2 * int(start[at]) + int(rest[at]))) / (2 * self.variance)
            kept[at] = bernoulli_exp(exponent, bits, int(words[at]), bits.word_bits)
        return kept


def bernoulli_exp(exponent: Fraction, bits: BitSource, drawn: int, known: int) -> bool:
    """Return True with probability e^−exponent, exponent ≥ 0: whether U lies below, U beginning with `drawn`.

    `known` bits of U are drawn already; more are taken while they do not decide.
    """
    while True:
        low, high = _chance(exponent, known)
        if drawn + 1 <= low:
            return True
        if drawn >= high:
            return False
        drawn, known = drawn << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits


@lru_cache(maxsize=1 << 14)
def _chance(exponent: Fraction, precision: int) -> tuple[int, int]:
    """Return bounds on 2^precision·e^−exponent, nearly always neighbours."""
    low, high = weight_bounds(exponent, Fraction(1), precision + GUARD)
    return low >> GUARD, -(-high >> GUARD)


def _uniform(bits: BitSource, n: int, width: int) -> NDArray[np.int64]:
    """Return n uniform integers of `width` bits."""
    if bits.word_bits < width:
        return bits.words(n, width).astype(np.int64)
    return (bits.words(n) >> np.uint64(bits.word_bits - width)).astype(np.int64)


@lru_cache(maxsize=64)
def gaussian(variance: Fraction) -> Gaussian:
    """Return the sampler of a variance σ², a positive rational. Cached: it is public.

    T's cell holds the magnitudes from s(t) = 2^m·t for t ≥ 0 and s(t) = 2^m·(|t|−1) + 1 for t < 0, and has the weight
    e^(−s²/(2σ²)) of its first. Uniform R, kept with the rest of the weight, makes the Gaussian.
    """
    if variance <= 0:
        raise ValueError(f"variance must be positive, got {variance}")
    if variance > SCALE_MAX**2:
        raise ValueError(
            f"sigma must be at most {SCALE_MAX} steps, got {isqrt(floor(variance))}: choose a coarser grid"
        )
    split = _split(Fraction(isqrt(floor(variance)) + 1)) if variance > COARSE**2 else 0
    return Gaussian(Table.of(lru_cache(maxsize=8)(partial(_gaussian_bounds, variance, split))), split, variance)


def _gaussian_bounds(variance: Fraction, split: int, precision: int) -> Bounds:
    """F(t) = left/(left + right), each side summed from certified weights, the tails bounded."""
    working = precision + GUARD
    last = (gaussian_reach(variance, working) >> split) + 2
    starts = [((-cell - 1) << split) + 1 if cell < 0 else cell << split for cell in range(-last, last + 1)]
    weights = [bell(variance, start, working) for start in starts]
    tail = bell_tail(variance, starts[0], weights[0][1], split)
    left_low = list(accumulate(low for low, _ in weights))
    left_high = list(accumulate((high for _, high in weights), initial=tail))[1:]
    low, high = [], []
    for below_low, below_high in zip(left_low[:-1], left_high[:-1], strict=True):
        above_low, above_high = left_low[-1] - below_low, left_high[-1] - below_high + tail
        low.append(_share_down(below_low, below_low + above_high, precision))
        high.append(_share_up(below_high, below_high + above_low, precision))
    return Bounds(-last, precision, low, high)


def gaussian_reach(variance: Fraction, precision: int) -> int:
    """Return a magnitude z with e^(−z²/(2σ²)) ≤ 2^−precision: z ≥ σ·√(2·ln 2·precision), and 2·ln 2 < 3/2."""
    return (isqrt(ceil(variance)) + 1) * (isqrt(3 * precision // 2) + 1)


@lru_cache(maxsize=1 << 14)
def bell(variance: Fraction, distance: int, precision: int) -> tuple[int, int]:
    """Return bounds on 2^precision·e^(−distance²/(2σ²))."""
    return weight_bounds(1 / (2 * variance), Fraction(distance * distance), precision)


def bell_tail(variance: Fraction, last: int, weight: int, split: int = 0) -> int:
    """Return a bound on the weights of the magnitudes last+j·2^split, j ≥ 1, where that of `last` is `weight` at most.

    They fall at least like e^(−j·2^split·last/σ²), and Σ e^(−jx) ≤ 1/x.
    """
    return ceil(weight * variance / (last << split))
