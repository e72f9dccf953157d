"""Laplace noise, correctly rounded: the best that noise in floats can be, and still not private.

Noise of scale λ = Δ/ε has exactly the distribution of real Laplace noise, rounded once, to the nearest float. The sum
value + noise is then rounded to a float. The attack grid-precision distinguishes the worlds by that sum.

The magnitude Y is exponential of scale λ, and its binary digits are independent, that of weight 2^k being 1 with
probability 1/(1 + e^(2^k/λ)). For with N whole lengths 2^(k+1) in Y and a rest R, memorylessness makes N and R
independent, and R has density ∝ e^(−r/λ) on [0, 2^(k+1)). Its halves weigh 1 to q = e^(−2^k/λ), so the digit is 1 with
probability q/(1 + q), and what lies below it, R mod 2^k, has density ∝ e^(−r/λ) on [0, 2^k) in either half: it is
independent of the digit, and of the same form. So N and the digits from any place downwards can be drawn one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from math import ceil, floor
from typing import cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.additive.family import laplace_claim
from subnormal.mechanisms.additive.float_sums import float_member
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.numerics.mpfr import exp_bounds

BoundsAtPrecision = Callable[[int], tuple[Fraction, Fraction]]  # of a probability, at a precision

FAR = 64  # scales: Y reaches beyond that with probability e^−64 at most
LAW_BITS = 192  # of a law's enclosures, after the binary point


def sample(
    value: NDArray[np.floating], scale: Fraction, bits: BitSource, n: int, *, float_type: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """Return n times value + noise in the float type, shape (n,), or (n, coordinates) for a vector.

    The noise is correctly rounded, the sum is rounded again, overflow is ±∞. Leaks: bits consumed tell the magnitude.
    """
    vector = np.asarray(value, dtype=float_type)
    drawn = noise(scale, bits, n * vector.size, float_type).reshape(n, *vector.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        outcomes: NDArray[np.floating] = vector + drawn
    return outcomes


def noise(scale: Fraction, bits: BitSource, n: int, float_type: DTypeLike = np.float64) -> NDArray[np.floating]:
    """Return n draws of Laplace noise of a scale, each rounded to the nearest float, shape (n,). Exact.

    Ties have probability 0. What would round to 2^(largest exponent + 1) or more is ±∞, as IEEE 754 has it. Raises
    ValueError for a negative n and for a scale that is not positive.
    """
    require_draws(n)
    if scale <= 0:
        raise ValueError(f"scale must be positive, got {scale}")
    digits, last = float_types.digits(float_type), float_types.least_positive_exponent(float_type)
    size = magnitudes(scale, bits, n, digits, last)
    negative = bits.words(n, 1) == 1
    with np.errstate(over="ignore"):
        return np.where(negative, -size, size).astype(float_type)


def magnitudes(scale: Fraction, bits: BitSource, n: int, digits: int, last: int) -> NDArray[np.float64]:
    """Return n exponential variables of a scale, rounded to `digits` ≤ 53 binary digits, none of them below 2^last.

    Digits come from the top downwards: those of the significand from the leading 1 on, and one more, by which the
    significand is rounded: up iff it is 1.
    """
    top = top_place(scale)
    beyond = _whole_lengths(scale, top, bits, n)
    significand, end = np.zeros(n, dtype=np.int64), np.full(n, last)  # of value significand·2^end
    active = np.arange(n)
    highest = top + int(beyond.max(initial=0)).bit_length()
    for place in range(max(highest, last - 1), last - 2, -1):
        if not len(active):
            break
        if place > top:
            digit = beyond[active] >> min(place - top - 1, 63) & 1
        else:
            digit = _bernoulli(partial(digit_bits, scale, place), bits, len(active)).astype(np.int64)
        done = end[active] > place
        begins = (significand[active] == 0) & (digit == 1) & ~done
        significand[active] = np.where(done, significand[active], 2 * significand[active]) + digit
        end[active[begins]] = max(place - digits + 1, last)
        active = active[~done]
    with np.errstate(over="ignore"):
        sizes: NDArray[np.float64] = np.ldexp(significand.astype(np.float64), end)
    return sizes


def top_place(scale: Fraction) -> int:
    """Return the least k with 2^(k+1) ≥ FAR·scale."""
    least = ceil(FAR * scale)
    if least > 1:
        return (least - 1).bit_length() - 1
    return -floor(1 / (FAR * scale)).bit_length()


def _whole_lengths(scale: Fraction, top: int, bits: BitSource, n: int) -> NDArray[np.int64]:
    """Return how many whole lengths 2^(top+1) lie in each of n variables: geometric, and hardly ever 1 or more."""
    beyond = np.zeros(n, dtype=np.int64)
    more = np.arange(n)
    while len(more):
        more = more[_bernoulli(partial(tail_bits, scale, top + 1), bits, len(more))]
        beyond[more] += 1
    return beyond


def _bernoulli(expansion: Callable[[int], int], bits: BitSource, n: int) -> NDArray[np.bool_]:
    """Return n events of exactly the probability p whose first w binary digits are expansion(w), shape (n,).

    A uniform is below p iff it has the smaller digit where the two first differ. A word decides but where it agrees
    with p in every digit; then the next word does.
    """
    width = bits.word_bits
    words = bits.words(n)
    threshold = np.uint64(expansion(width))
    happened = words < threshold
    for at in np.flatnonzero(words == threshold).tolist():
        known = drawn = expected = 0
        while drawn == expected:
            known += width
            expected = expansion(width + known) & ((1 << width) - 1)
            drawn = bits.take(width)
        happened[at] = drawn < expected
    return happened


@lru_cache(maxsize=1 << 14)
def digit_bits(scale: Fraction, place: int, count: int) -> int:
    """Return the first `count` binary digits of 1/(1 + e^(2^place/scale)), the probability of a digit."""

    def bounds(precision: int) -> tuple[Fraction, Fraction]:
        low, high = exp_bounds(Fraction(2) ** place / scale, precision)
        return 1 / (1 + high), 1 / (1 + low)

    return _first_bits(bounds, count)


@lru_cache(maxsize=1 << 10)
def tail_bits(scale: Fraction, place: int, count: int) -> int:
    """Return the first `count` binary digits of e^(−2^place/scale), the probability that Y is 2^place or more."""
    return _first_bits(lambda precision: exp_bounds(-(Fraction(2) ** place) / scale, precision), count)


def _first_bits(bounds: BoundsAtPrecision, count: int) -> int:
    """Return ⌊2^count·p⌋, certified. It ends: p is irrational, as e to any rational but 0 is."""
    precision = count + 64
    while True:
        low, high = (floor(bound * (1 << count)) for bound in bounds(precision))
        if low == high:
            return low
        precision *= 2


@lru_cache(maxsize=4)
def _float16_noise(scale: Fraction) -> tuple[NDArray[np.float16], list[int], list[int]]:
    """Return every float16 that is not negative, ∞ too, and bounds on twice its noise probability, over 2^LAW_BITS.

    The real numbers that are rounded to a float end at the midpoints between it and its neighbours; for the largest,
    its neighbour is 2^16. Floats of one exponent lie equally far apart, so the tails P(Y ≥ midpoint) are geometric.
    """
    tails = [(1 << LAW_BITS, 1 << LAW_BITS)]
    for exponent in range(31):  # the 1024 floats from `begin`; those of exponents 0 and 1 lie as far apart
        begin, gap = Fraction(2 ** max(exponent, 1), 2**15) * (exponent > 0), Fraction(2 ** max(exponent, 1), 2**25)
        (low, high), ratio = _tail((begin + gap / 2) / scale), _tail(gap / scale)
        for _ in range(1 << 10):
            tails.append((low, high))
            low, high = low * ratio[0] >> LAW_BITS, (high * ratio[1] >> LAW_BITS) + 1
    tails.append((0, 0))
    low_masses = [max(0, begin[0] - end[1]) for begin, end in pairwise(tails)]
    high_masses = [begin[1] - end[0] for begin, end in pairwise(tails)]
    return np.arange(0x7C01, dtype=np.uint16).view(np.float16), low_masses, high_masses  # 0x7C00 is ∞


def _tail(exponent: Fraction) -> tuple[int, int]:
    """Return bounds on 2^LAW_BITS·e^−exponent."""
    if exponent > LAW_BITS:  # e^−x is below 2^−x
        return 0, 1
    low, high = exp_bounds(-exponent, LAW_BITS)
    return floor(low * (1 << LAW_BITS)), ceil(high * (1 << LAW_BITS))


def float16_law(value: float, scale: Fraction) -> Law[float]:
    """Return the law of float16 value + noise, enclosed: every float16 as noise, and the sums that are equal together.

    ±∞ is an outcome, and 0.0 is not −0.0.
    """
    sizes, low, high = _float16_noise(scale)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.float16(value) + np.concatenate([sizes, -sizes])
    atoms, group = np.unique(sums.view(np.uint16), return_inverse=True)
    totals = np.zeros((2, len(atoms)), dtype=object)
    np.add.at(totals[0], group, np.array(2 * low, dtype=object))
    np.add.at(totals[1], group, np.array(2 * high, dtype=object))
    return Law(
        atoms=cast("Sequence[float]", atoms.view(np.float16)),
        ends=range(1, len(atoms) + 1),
        low=totals[0].tolist(),
        high=totals[1].tolist(),
        denominator=2 << LAW_BITS,
        rest=Fraction(0),
    )


ROUNDED = float_member(
    "laplace-rounded",
    "laplace",
    laplace_claim,
    np.float64,
    lambda value, parameters, bits, n: sample(value, parameters.scale, bits, n),
)
ROUNDED_FLOAT16 = float_member(
    "laplace-rounded-float16",
    "laplace",
    laplace_claim,
    np.float16,
    lambda value, parameters, bits, n: sample(value, parameters.scale, bits, n, float_type=np.float16),
    lambda value, parameters: float16_law(value, parameters.scale),
)
