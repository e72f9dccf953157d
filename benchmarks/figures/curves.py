"""What the timing figures measure: the time of one draw against what makes it dear. Ilvento 2020, Figures 4 to 7 and 9.

What is public is computed beforehand and cached, as a service would: the precision of base 2 for its (η, limits), the
tables of the exact members. A draw is everything after that, from the utilities, or the value, to one outcome: weights,
their sums, and the sampling. Bits are cryptographic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures.figures import Call, Curve, Plan
from subnormal.attacks.side_channels.rejection_tries import rejection_tries
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.exponential import base2 as exponential_base2
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.privacy import Eta, selection_claim

ETA = Eta(1, 1, 1)  # B = 1/2
EPSILON = selection_claim(ETA).epsilon  # 2·ln 2, at which base e has the same weights: e^(−ε·u/2) = 2^(−u)
RANGE_OUTCOMES = 1_000  # in the figure of the utility range

# What each member does, for data given as a function from the size to the utilities. Limits are the data's own.

Setting = Callable[[int], NDArray[np.int64]]


def outcomes(size: int) -> NDArray[np.int64]:
    """Return u(o) = o on [0, size − 1]: the outcome space grows, and the utilities with it."""
    return np.arange(size)


def wide(size: int) -> NDArray[np.int64]:
    """Return the 1,000 utilities {0} ∪ {size + i}, i from 1: the outcomes stay as many, their range grows."""
    return np.append(0, size + np.arange(1, RANGE_OUTCOMES))


def naive(setting: Setting, last: int) -> Curve:
    """Return the curve of base e in binary64."""

    def call(size: int) -> Call:
        utilities, bits = setting(size), system_bits()
        return lambda: exponential_naive.sample(utilities, EPSILON, bits, 1)

    return Curve("naive float64", last, call)


def exact(setting: Setting, last: int) -> Curve:
    """Return the curve of the member that is exact at the speed of floats, in base 2."""

    def call(size: int) -> Call:
        utilities, bits = setting(size), system_bits()
        return lambda: exponential_exact.sample(utilities, ETA, bits, 1)

    return Curve("exact", last, call)


def base2(
    setting: Setting,
    last: int,
    method: exponential_base2.PrecisionMethod = "theoretical",
    sampler: exponential_base2.Sampler = "all-bits",
) -> Curve:
    """Return a curve of the paper's mechanism: all-bits is its Algorithm 2, bit-by-bit Algorithm 4."""

    def call(size: int) -> Call:
        utilities, bits = setting(size), system_bits()
        limits = _own_limits(utilities)
        return lambda: exponential_base2.sample(
            utilities, ETA, bits, 1, limits=limits, precision_method=method, sampler=sampler
        )

    return Curve(f"base 2, {method}, {sampler}", last, call)


def precision_search(setting: Setting, last: int) -> Curve:
    """Return the curve of Algorithm 1 itself: once for each (η, limits), and not part of a draw."""

    def call(size: int) -> Call:
        limits = _own_limits(setting(size))
        return lambda: exponential_base2.empirical_precision.__wrapped__(ETA, limits)

    return Curve("precision search, once", last, call)


def _own_limits(utilities: NDArray[np.int64]) -> Limits:
    return Limits(int(utilities.min()), int(utilities.max()), len(utilities))


def _four_of_base2(setting: Setting, last: int) -> tuple[Curve, ...]:
    return (
        base2(setting, last, "theoretical", "all-bits"),
        base2(setting, last, "theoretical", "bit-by-bit"),
        base2(setting, last, "empirical", "all-bits"),
        base2(setting, last, "empirical", "bit-by-bit"),
    )


BASE2_OUTCOMES = 1 << 14  # running sums of 3n bits each: 100 MB
FAST_OUTCOMES = 1 << 20
PAPER_OUTCOMES = 75_000  # of which the paper says "about 10 seconds", in Rust: 2.4 GB with empirical precision
WIDEST = 30_000

# Figure 7: clamped Laplace noise of the same scale, 1/(η·ln 2), on [−10, 10]. The size is 1/γ, the steps to a unit.
# The paper compares base 2 with a naive selection among the outcomes of the grid, and not with noise from one uniform.

BOUND = 10
VALUE = 0.0
SCALE = Fraction(1 / ETA.nats)  # of the noise, in units


def _grid(size: int) -> NDArray[np.float64]:
    return np.arange(-BOUND * size, BOUND * size + 1) / size


def naive_selection_laplace(last: int) -> Curve:
    """Return the curve of a naive selection on the grid, u = |f − o|, with one pass over the running sums."""

    def call(size: int) -> Call:
        outcomes, bits = _grid(size), system_bits()
        return lambda: exponential_naive.sample(np.abs(VALUE - outcomes), EPSILON, bits, 1)

    return Curve("naive float64", last, call)


def figure_1_laplace(last: int) -> Curve:
    """Return the curve of the paper's baseline: the same selection, as its Figure 1 is written.

    Every running sum is added up from the first weight, so n outcomes take n²/2 additions.
    """

    def call(size: int) -> Call:
        outcomes, bits = _grid(size).tolist(), system_bits()

        def draw() -> object:
            weights = [np.exp(-(EPSILON / 2) * abs(VALUE - outcome)) for outcome in outcomes]
            total = sum(weights)
            shares = [sum(weights[: index + 1]) / total for index in range(len(weights))]
            uniform = bits.take(53) * 2.0**-53
            return [next(outcome for outcome, share in zip(outcomes, shares, strict=True) if share > uniform)]

        return draw

    return Curve("naive, as in Figure 1", last, call)


def inverse_cdf_laplace(last: int) -> Curve:
    """Return the curve of noise by the logarithm of one uniform in floats, clamped and rounded to the grid."""

    def call(size: int) -> Call:
        bits, scale = system_bits(), float(SCALE)

        def draw() -> object:
            noisy = np.clip(laplace_naive.sample(VALUE, scale, bits, 1), -BOUND, BOUND)
            return np.floor(noisy * size + 0.5) / size

        return draw

    return Curve("inverse CDF, float64", last, call)


def exact_laplace(last: int) -> Curve:
    """Return the curve of exact noise on the grid."""

    def call(size: int) -> Call:
        bits, grid = system_bits(), 1 - size.bit_length()
        return lambda: laplace_exact.sample(VALUE, SCALE, bits, 1, grid=grid, lower=-BOUND, upper=BOUND)

    return Curve("exact", last, call)


def base2_laplace(last: int, method: exponential_base2.PrecisionMethod, sampler: exponential_base2.Sampler) -> Curve:
    """Return a curve of the paper's form: a selection with u = |f − o|, rounded at random to integers."""

    def call(size: int) -> Call:
        bits, outcomes = system_bits(), _grid(size)
        limits = Limits(0, 2 * BOUND, len(outcomes))
        return lambda: exponential_base2.sample(
            np.abs(VALUE - outcomes), ETA, bits, 1, limits=limits, precision_method=method, sampler=sampler
        )

    return Curve(f"base 2, {method}, {sampler}", last, call)


FINEST = 1 << 8

# Figure 9: Algorithm 2 with at least k tries, where every candidate is accepted, and where nearly half are rejected.

REJECTING = rejection_tries()
MOST_TRIES = 32


def tries(name: str, data: NDArray[np.int64]) -> Curve:
    """Return the curve of base 2 against the minimum of tries."""

    def call(size: int) -> Call:
        bits, limits = system_bits(), REJECTING.parameters.limits
        return lambda: exponential_base2.sample(data, ETA, bits, 1, limits=limits, minimum_tries=size)

    return Curve(name, MOST_TRIES, call)


def tries_advantage(minimum: int, outcomes: int = 256) -> Fraction:
    """Return the advantage of an attacker who counts tries, or bits, in the two worlds of `rejection_tries`: (1 − p)^k.

    With Alice every candidate is accepted, and there are exactly k tries. Without her a candidate is accepted with
    probability p, half of (outcomes + 1)/outcomes, and more than k tries follow when k of them are rejected.
    """
    return Fraction(outcomes - 1, 2 * outcomes) ** minimum


WITH_ALICE, WITHOUT = REJECTING.worlds()

PLANS = (
    Plan(
        "figure-4-outcomes",
        "One draw, by the size of the outcome space",
        "outcomes n, with u(o) = o",
        16,
        2,
        (naive(outcomes, FAST_OUTCOMES), *_four_of_base2(outcomes, BASE2_OUTCOMES), exact(outcomes, FAST_OUTCOMES)),
    ),
    Plan(
        "figure-5-precision",
        "One draw in base 2, by how the precision was found",
        "outcomes n, with u(o) = o",
        16,
        2,
        (*_four_of_base2(outcomes, BASE2_OUTCOMES), precision_search(outcomes, BASE2_OUTCOMES)),
    ),
    Plan(
        "figure-6-range",
        f"One draw of {RANGE_OUTCOMES:,} outcomes, by the range of utilities",
        "n, with utilities {0} ∪ {n + 1, …, n + 999}",
        30,
        10 ** (1 / 3),
        (naive(wide, WIDEST), *_four_of_base2(wide, WIDEST), exact(wide, WIDEST)),
    ),
    Plan(
        "figure-7-granularity",
        f"One draw of Laplace noise on [−{BOUND}, {BOUND}], by granularity",
        "1/γ, steps of the grid to a unit",
        1,
        2,
        (
            naive_selection_laplace(FINEST),
            figure_1_laplace(FINEST),
            inverse_cdf_laplace(FINEST),
            base2_laplace(FINEST, "theoretical", "all-bits"),
            base2_laplace(FINEST, "theoretical", "bit-by-bit"),
            base2_laplace(FINEST, "empirical", "all-bits"),
            base2_laplace(FINEST, "empirical", "bit-by-bit"),
            exact_laplace(FINEST),
        ),
    ),
    Plan(
        "figure-4-75000",
        "One draw, up to the 75,000 outcomes of the paper",
        "outcomes n, with u(o) = o",
        75,
        10**0.5,
        (
            naive(outcomes, PAPER_OUTCOMES),
            base2(outcomes, PAPER_OUTCOMES, "empirical", "all-bits"),
            base2(outcomes, PAPER_OUTCOMES, "empirical", "bit-by-bit"),
            exact(outcomes, PAPER_OUTCOMES),
        ),
    ),
    Plan(
        "figure-9-tries",
        "One draw of 256 outcomes in base 2",
        "k, the minimum of tries",
        1,
        2,
        (tries("total weight 128.5", WITHOUT), tries("total weight 128", WITH_ALICE)),
        tries_advantage,
    ),
)
