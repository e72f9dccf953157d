"""Published samplers over a stream of random bits, as vectors/1/samplers/README.md states them for other languages.

`take(k)` returns the next k bits as an integer, the first bit the most significant. Every probability is a rational.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from math import isqrt

from subnormal.mechanisms.numerics.mpfr import nearest_logs

Take = Callable[[int], int]

SIGNIFICAND = 53  # bits of a binary64


class LastBitError(Exception):
    """The outcome depends on the last bits of a logarithm, in which the libraries of languages differ."""


def below(n: int, take: Take) -> int:
    """Return an integer from 0 to n − 1: as many bits as n has, anew until they are below n."""
    while (drawn := take(n.bit_length())) >= n:
        pass
    return drawn


def bernoulli(probability: Fraction, take: Take) -> bool:
    """Return True with this probability."""
    return below(probability.denominator, take) < probability.numerator


def bernoulli_exp(gamma: Fraction, take: Take) -> bool:
    """Return True with probability e^−gamma. Canonne, Kamath, Steinke 2020, Algorithm 1."""
    while gamma > 1:
        if not bernoulli_exp(Fraction(1), take):
            return False
        gamma -= 1
    trial = 1
    while bernoulli(gamma / trial, take):
        trial += 1
    return trial % 2 == 1


def discrete_laplace(scale: Fraction, take: Take) -> int:
    """Return z with probability proportional to e^(−|z|/scale). Canonne, Kamath, Steinke 2020, Algorithm 2."""
    while True:
        negative = bernoulli(Fraction(1, 2), take)
        while True:
            rest = below(scale.numerator, take)
            if bernoulli_exp(Fraction(rest, scale.numerator), take):
                break
        whole = 0
        while bernoulli_exp(Fraction(1), take):
            whole += 1
        magnitude = (whole * scale.numerator + rest) // scale.denominator
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def discrete_gaussian(variance: Fraction, take: Take) -> int:
    """Return z with probability proportional to e^(−z²/(2·variance)). Canonne, Kamath, Steinke 2020, Algorithm 3."""
    scale = isqrt(math.floor(variance)) + 1
    while True:
        candidate = discrete_laplace(Fraction(scale), take)
        if bernoulli_exp((abs(candidate) - variance / scale) ** 2 / (2 * variance), take):
            return candidate


def randomized_response(categories: int, truth: int, probability: Fraction, take: Take) -> int:
    """Return the truth with this probability, else one of the other categories. Warner 1965; Kairouz et al. 2016."""
    if bernoulli(probability, take):
        return truth
    other = below(categories - 1, take)
    return other + (other >= truth)


def exponential_base2(utilities: Sequence[int], x: int, y: int, z: int, precision: int, take: Take) -> int:
    """Return i with probability proportional to (x/2^y)^(z·u_i). Ilvento 2020, Algorithm 2, with one try at least.

    The least utility is subtracted first, so the best has the weight 1.
    """
    least = min(utilities)
    sums = list(accumulate(Fraction(x, 1 << y) ** (z * (utility - least)) for utility in utilities))
    limit = 1 << (math.ceil(sums[-1]) - 1).bit_length()  # the least power of two ≥ the total, which is at least 1
    while (drawn := Fraction(limit * take(precision), 1 << precision)) >= sums[-1]:
        pass
    return bisect_right(sums, drawn)


def permute_and_flip(scores: Sequence[int], rate: Fraction, take: Take) -> int:
    """Return an index: in random order, the first whose coin of e^(−rate·(best − score)) is heads.

    McKenna, Sheldon 2020, Algorithm 1.
    """
    left, best = list(range(len(scores))), max(scores)
    while True:
        index = left.pop(below(len(left), take))
        if bernoulli_exp(rate * (best - scores[index]), take):
            return index


def snapping(value: float, scale: float, bound: float, take: Take) -> float:
    """Return clamp(round(clamp(value) + S·scale·ln U)). Mironov 2012, Section 5.2.

    S is −1 where the first bit is 1; then come the 52 bits behind the leading one of U, then its exponent: U lies in
    [2^−e, 2^(1−e)), the e-th bit from there on being the first 1. Rounded to a multiple of the least power of two ≥ the
    scale, ties upwards. Raises LastBitError where another logarithm, four units away, would lead elsewhere.
    """
    sign = -1.0 if take(1) else 1.0
    significand = 1 << (SIGNIFICAND - 1) | take(SIGNIFICAND - 1)
    exponent = 1
    while not take(1):
        exponent += 1
    (log,) = nearest_logs([significand], [exponent + SIGNIFICAND - 1], SIGNIFICAND)
    outcomes = set()
    for units in (-4, 0, 4):
        noisy = max(-bound, min(bound, value)) + sign * (scale * (log + units * math.ulp(log)))
        steps = noisy / power_at_least(scale)
        whole = math.floor(steps)
        outcomes.add(max(-bound, min(bound, (whole + (steps - whole >= 0.5)) * power_at_least(scale))))
    if len(outcomes) > 1:
        raise LastBitError(f"ln U = {log!r}")
    return outcomes.pop()


def power_at_least(scale: float) -> float:
    """Return the least power of two ≥ a scale."""
    fraction, exponent = math.frexp(scale)
    return math.ldexp(1.0, exponent - (fraction == 0.5))
