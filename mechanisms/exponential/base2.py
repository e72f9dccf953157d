"""The exponential mechanism in base 2, exactly as in Ilvento 2020: exact weights 2^(−η·u), on MPFR with traps on.

The working precision depends on public values alone, known before the data: η, the bounds on the utilities and the
largest number of outcomes. Inexact arithmetic raises InexactError; whether it does never depends on the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import lcm, prod
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.validation import Utilities, as_utilities
from subnormal.mechanisms.exponential import randomized_rounding
from subnormal.mechanisms.exponential.enclosed_law import enclosed_law
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.numerics.mpfr import InexactError, Real, cumulative, exact, power, real, scaled
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers import normalized

PrecisionMethod = Literal["theoretical", "empirical"]
Sampler = Literal["all-bits", "bit-by-bit", "most-significant-first"]

FLOAT_LIMIT = 1 << 53  # beyond, not every integer is a float
FRACTIONAL_MAX = 12  # the law of randomized rounding is a mixture over 2**(fractional utilities) roundings
PRECISION_MAX = 1 << 28  # bits: one number of 32 MiB
EXACT_BITS_MAX = 1 << 21  # of a weight in a law: two such laws are compared in less than a second
EXACT_TOTAL_MAX = 1 << 26  # bits of all different weights in a law: seconds


def theoretical_precision(eta: Eta, limits: Limits) -> int:
    """Return the bits that always suffice: (max(1,|u_max|)+max(1,|u_min|))·z·(y+b_x) + o_max, b_x the bits of x.

    Source: Ilvento 2020, Lemma 3.4.
    """
    span = max(1, abs(limits.utility_max)) + max(1, abs(limits.utility_min))
    return span * eta.z * (eta.y + eta.x.bit_length()) + limits.max_outcomes


@lru_cache(maxsize=64)
def empirical_precision(eta: Eta, limits: Limits) -> int:
    """Return the least power of two at which every hypothetical worst case is exact. Ilvento 2020, Algorithm 1.

    At each precision: the largest sum that max_outcomes allows, and every weight added to it, with inexact trapped.
    Utilities are those after u_min was subtracted, so that the largest weight is 1.
    """
    # From 2 and not from 1: at a precision of 1 bit gmpy2 keeps an integer whole.
    precision = 2
    while not _worst_cases_exact(eta, limits, precision):
        precision *= 2
    return precision


def _worst_cases_exact(eta: Eta, limits: Limits, precision: int) -> bool:
    try:
        with exact(precision):
            base, weight, largest_sum = _base(eta), real(1), real(limits.max_outcomes)
            for _ in range(limits.utility_max - limits.utility_min):
                weight + largest_sum  # trapped where it is not exact
                weight = weight * base
            weight + largest_sum
    except InexactError:
        return False
    return True


def working_precision(eta: Eta, limits: Limits, method: PrecisionMethod = "theoretical") -> int:
    """Return the working precision in bits, from public values only, for utilities from which u_min was subtracted.

    Raises ValueError for another method, and where the limits need more than PRECISION_MAX bits.
    """
    shifted = Limits(0, limits.utility_max - limits.utility_min, limits.max_outcomes)
    bound = theoretical_precision(eta, shifted)
    if bound > PRECISION_MAX:
        raise ValueError(f"limits = {limits} need {bound} bits of working precision, more than {PRECISION_MAX}")
    if method not in ("theoretical", "empirical"):
        raise ValueError(f"precision_method must be 'theoretical' or 'empirical', got {method!r}")
    return bound if method == "theoretical" else empirical_precision(eta, shifted)


def _base(eta: Eta) -> Real:
    return power(scaled(eta.x, -eta.y), eta.z)


def weights(utilities: NDArray[np.int64], eta: Eta, precision: int) -> list[Real]:
    """Return the exact dyadic 2^(−η·u) of every utility u ≥ 0. Raises InexactError if the precision is too small."""
    with exact(precision):
        base, weight, last = _base(eta), real(1), 0
        distinct = {}
        for utility in np.unique(utilities).tolist():
            weight = weight * power(base, utility - last)
            distinct[utility], last = weight, utility
    return [distinct[utility] for utility in utilities.tolist()]


def sample(
    utilities: ArrayLike,
    eta: Eta,
    bits: BitSource,
    n: int,
    *,
    limits: Limits,
    precision_method: PrecisionMethod = "theoretical",
    sampler: Sampler = "all-bits",
    minimum_tries: int = 1,
    rounding_precision: int = randomized_rounding.PRECISION,
) -> NDArray[np.int64]:
    """Return n indices, each with probability exactly 2^(−η·u_i) / Σ 2^(−η·u), int64 of shape (n,).

    Utilities are clamped to the limits (Proposition 3.3), and u_min is subtracted: the same law, and the only way that
    a negative utility has a dyadic weight. Integers are taken as they are; floats are rounded at random, anew for every
    draw (Mechanism 4). 2Δη|2-DP for an integer Δ; with another, floats may be rounded to integers ⌈Δ⌉ apart.
    Leaks: tries (all-bits), bits consumed (bit-by-bit), tries and steps (most-significant-first).
    Raises ValueError for a negative n, an unknown sampler, and more utilities than the limits allow.
    Source: Ilvento 2020, Algorithm 3: clamp, round, weigh, add, and sample by Algorithm 2 or 4, at a precision found as
    in Lemma 3.4 or by Algorithm 1. Its Proposition 3.9: an outcome with this probability, or an error.
    """
    return prepared(
        utilities,
        eta,
        limits=limits,
        precision_method=precision_method,
        sampler=sampler,
        minimum_tries=minimum_tries,
        rounding_precision=rounding_precision,
    )(bits, n)


def prepared(
    utilities: ArrayLike,
    eta: Eta,
    *,
    limits: Limits,
    precision_method: PrecisionMethod = "theoretical",
    sampler: Sampler = "all-bits",
    minimum_tries: int = 1,
    rounding_precision: int = randomized_rounding.PRECISION,
) -> Callable[[BitSource, int], NDArray[np.int64]]:
    """Return `sample` with the sums of integer utilities computed; those of floats differ from draw to draw.

    Raises ValueError for an unknown sampler.
    """
    if sampler not in get_args(Sampler):
        raise ValueError(f"sampler must be one of {', '.join(get_args(Sampler))}, got {sampler!r}")
    vector = clamped(utilities, limits)
    precision = working_precision(eta, limits, precision_method)

    def sums_of(rounded: NDArray[np.int64]) -> list[Real]:
        with exact(precision):
            return cumulative(weights(rounded - limits.utility_min, eta, precision))

    def draw(sums: list[Real], bits: BitSource, count: int) -> list[int]:
        if sampler == "bit-by-bit":
            return normalized.bit_by_bit(sums, bits, precision, count)
        by_tries = normalized.all_bits if sampler == "all-bits" else normalized.most_significant_first
        return by_tries(sums, bits, precision, count, minimum_tries)

    sums = sums_of(vector) if vector.dtype.kind == "i" else None

    def draws(bits: BitSource, n: int) -> NDArray[np.int64]:
        require_draws(n)
        if sums is not None:
            return np.array(draw(sums, bits, n), dtype=np.int64)
        rounds = (randomized_rounding.randomized(vector, bits, rounding_precision) for _ in range(n))
        return np.array([draw(sums_of(rounded), bits, 1)[0] for rounded in rounds], dtype=np.int64)

    return draws


def clamped(utilities: ArrayLike, limits: Limits) -> Utilities:
    """Return utilities within the limits. Raises ValueError where there are more than they allow."""
    vector = as_utilities(utilities)
    if len(vector) > limits.max_outcomes:
        raise ValueError(f"max_outcomes = {limits.max_outcomes}, got {len(vector)} utilities")
    if vector.dtype.kind == "f" and max(-limits.utility_min, limits.utility_max) > FLOAT_LIMIT:
        raise ValueError(f"limits = {limits} are not floats: with float utilities they lie within ±2^53")
    return np.clip(vector, limits.utility_min, limits.utility_max)


def law(
    utilities: ArrayLike,
    eta: Eta,
    *,
    limits: Limits | None = None,
    rounding_precision: int = randomized_rounding.PRECISION,
) -> Law[int]:
    """Return the exact distribution over indices. Up to 12 fractional utilities; ValueError beyond.

    Of integers so far apart that a weight has more than 2^21 bits, or all have more than 2^26, an enclosure to a
    relative 2^−128. NoLawError where that would be too long.

    Source: Ilvento 2020, Mechanism 3; with fractional utilities, the mixture over their roundings (Mechanism 4).
    """
    vector = as_utilities(utilities) if limits is None else clamped(utilities, limits)
    if vector.dtype.kind == "i":
        return _integer_law(vector, eta)
    if np.abs(vector).max() > FLOAT_LIMIT:
        raise ValueError(f"float utilities must lie within ±2^53, got {vector[np.abs(vector).argmax()]}; give limits")
    floors = np.floor(vector).astype(np.int64)
    up = randomized_rounding.thresholds(vector, rounding_precision)
    fractional = np.flatnonzero(up)
    if len(fractional) > FRACTIONAL_MAX:
        raise ValueError(f"the law enumerates up to {FRACTIONAL_MAX} fractional utilities, got {len(fractional)}")
    chances = [Fraction(int(up[index]), 1 << rounding_precision) for index in fractional]
    total = [Fraction(0)] * len(vector)
    for choice in itertools.product((0, 1), repeat=len(fractional)):
        chance = prod((p if ceil else 1 - p for p, ceil in zip(chances, choice, strict=True)), start=Fraction(1))
        rounded = floors.copy()
        rounded[fractional] += np.array(choice, dtype=np.int64)
        masses = numerators(rounded, eta)
        share = chance / sum(masses)
        total = [have + share * mass for have, mass in zip(total, masses, strict=True)]
    denominator = lcm(*(probability.denominator for probability in total))
    return exact_law(
        range(len(vector)),
        range(1, len(vector) + 1),
        [probability.numerator * (denominator // probability.denominator) for probability in total],
        denominator,
    )


def _integer_law(utilities: NDArray[np.int64], eta: Eta) -> Law[int]:
    ends = block_ends(utilities)
    bits = eta.y * eta.z * (int(utilities.max()) - int(utilities.min()))
    if bits > EXACT_BITS_MAX or bits * len(np.unique(utilities[ends - 1])) > EXACT_TOTAL_MAX:
        return enclosed_law(utilities, eta)
    counts = np.diff(ends, prepend=0).tolist()
    masses = numerators(utilities[ends - 1], eta)
    total = sum(count * mass for count, mass in zip(counts, masses, strict=True))
    return exact_law(range(len(utilities)), ends.tolist(), masses, total)


def numerators(utilities: NDArray[np.int64], eta: Eta) -> list[int]:
    """Return integers in the proportion of 2^(−η·u): x^(z·v)·2^(y·z·(v_max − v)), v the utility above the lowest."""
    lowest, highest = int(utilities.min()), int(utilities.max())
    distinct = {
        utility: eta.x ** (eta.z * (utility - lowest)) << (eta.y * eta.z * (highest - utility))
        for utility in np.unique(utilities).tolist()
    }
    return [distinct[utility] for utility in utilities.tolist()]
