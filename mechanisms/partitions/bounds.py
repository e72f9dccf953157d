"""Bounds L_i ≤ y_i ≤ U_i for `partitions`, and what each of them promises.

A release between bounds that both neighbours share is 2η|2-DP whatever the bounds are. `by_total` and `around` a public
reference are such bounds; `noisy` spends a part of the budget on them; `within_distance` computes them from the data,
which costs a δ.
Source: Blocki, Datta, Bonneau, NDSS 2016.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.numerics.bisection import least_holding
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.partitions.family import COUNT_MAX, Frequencies, as_bounds, as_frequencies
from subnormal.mechanisms.partitions.weight_sums import total_bounds
from subnormal.mechanisms.privacy import Claim, Eta, selection_claim, with_failures
from subnormal.mechanisms.samplers import discrete_laplace

CountBounds = tuple[Frequencies, Frequencies]  # lower and upper, each of shape (rows,)

PARTITIONS = Fraction(25651, 10_000)  # a list of m records in all: p(m) < e^(π·√(2m/3)), and π·√(2/3) < 2.5651


def by_total(total: int, rows: int) -> CountBounds:
    """Return 0 and ⌊total/i⌋: what holds for every list of at most `total` records. Pure: 2η|2-DP.

    total is public, and at least the number of records of either neighbour. Raises ValueError for fewer rows than 1 and
    for a total outside 0 to COUNT_MAX.

    >>> by_total(10, 4)[1].tolist()
    [10, 5, 3, 2]
    """
    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    if not 0 <= total <= COUNT_MAX:
        raise ValueError(f"total must lie between 0 and {COUNT_MAX}, got {total}")
    return np.zeros(rows, dtype=np.int64), total // np.arange(1, rows + 1)


def around(reference: ArrayLike, width: int) -> CountBounds:
    """Return `width` neighbouring counts for each count of a public list, or more where it is above 2^40 − width.

    Pure, 2η|2-DP, where the reference is public: an earlier release, another site's list. Half of the width lies below.
    Raises ValueError for a width below 1.

    >>> [bound.tolist() for bound in around([7, 3, 0], 4)]
    [[5, 1, 0], [8, 4, 3]]
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    lower = np.maximum(as_frequencies(reference, "reference") - width // 2, 0)
    return lower, np.minimum(lower + (width - 1), COUNT_MAX)


def noisy(data: ArrayLike, eta: Eta, width: int, bits: BitSource) -> CountBounds:
    """Return bounds of that width around the data plus discrete Laplace noise, sorted anew.

    Spends η·ln 2 nats (`privacy.noise_claim`): neighbours are at an L1 distance of 1. A release between them with a
    rate η₂ then promises `privacy.compose(noise_claim(eta), selection_claim(eta_2))` in all.
    """
    frequencies = as_frequencies(data)
    drawn = frequencies + discrete_laplace.laplace(eta).draw(bits, len(frequencies))
    return around(np.clip(np.sort(drawn)[::-1], 0, COUNT_MAX), width)


def within_distance(data: ArrayLike, distance: int) -> CountBounds:
    """Return the least and the largest that each count can be in a list at an L1 distance of at most `distance`.

    They depend on the data: not pure, but (2η·ln 2, δ)-DP with the δ of `negligible_claim`, for a share β of the weight
    beyond that distance. To lift y_j to v, y_1 … y_j must all be at least v; to lower it, y_j … y_rows at most v.
    Raises ValueError for a distance outside 0 to COUNT_MAX.

    >>> [bound.tolist() for bound in within_distance([4, 2, 2], 2)]
    [[2, 1, 0], [6, 4, 3]]
    """
    if not 0 <= distance <= COUNT_MAX:  # so that no sum of as many wraps around
        raise ValueError(f"distance must lie between 0 and {COUNT_MAX}, got {distance}")
    counts = as_frequencies(data)
    before = np.append(0, np.cumsum(counts))
    here = np.arange(len(counts))

    def lifted(by: NDArray[np.int64]) -> NDArray[np.bool_]:
        value = counts + by
        holding = np.searchsorted(-counts, -value, side="right")  # rows that hold it already
        return np.asarray((here + 1 - holding) * value - (before[here + 1] - before[holding]) <= distance)

    def lowered(by: NDArray[np.int64]) -> NDArray[np.bool_]:
        value = counts - by
        above = np.searchsorted(-counts, -value, side="left")  # rows with a larger count
        return np.asarray(before[above] - before[here] - (above - here) * value <= distance)

    none = np.zeros_like(counts)
    down = least_holding(lambda by: ~lowered(by), none, np.minimum(counts, distance) + 1) - 1
    up = least_holding(lambda by: ~lifted(by), none, none + distance + 1) - 1
    return counts - down, counts + up


def weight_outside(data: ArrayLike, eta: Eta, inner: CountBounds, outer: CountBounds, precision: int = 128) -> Fraction:
    """Return an upper bound on the probability that a release between the outer bounds lies outside the inner ones.

    For inner bounds that lie between the outer ones, and data between both. Costs a dynamic program in integers. Raises
    ValueError where the inner bounds do not lie between the outer ones, or the data not between the inner ones.
    """
    counts, (low, high), (least, most) = as_frequencies(data), as_bounds(*inner), as_bounds(*outer)
    if not ((least <= low) & (low <= counts) & (counts <= high) & (high <= most)).all():
        raise ValueError("the inner bounds must lie between the outer ones, and the data between the inner ones")
    inside, whole = (total_bounds(eta, counts, *pair, precision) for pair in ((low, high), (least, most)))
    return 1 - inside[0] / whole[1]


def weight_beyond(total: int, eta: Eta, distance: int) -> Fraction:
    """Return an upper bound on the weight at a distance above `distance`, for every list of at most `total` records.

    At distance k a list has at most total + k records, so there are at most (total + k + 1)·p(total + k) of them, each
    with a weight of B^k against at least 1 in all. From some k on these bounds fall geometrically; 1 where not yet.
    Raises ValueError for a negative total or distance.
    """
    if total < 0 or distance < 0:
        raise ValueError(f"total and distance must not be negative, got {total} and {distance}")

    def root(value: int) -> Fraction:
        return Fraction(isqrt(value << 64) + 1, 1 << 32)

    first = total + distance + 1
    below = root(first) - Fraction(1, 1 << 32)  # at most √first, so that no ratio is understated
    ratio = eta.base * Fraction(first + 2, first + 1) * exp_bounds(PARTITIONS * (root(first + 1) - below))[1]
    if ratio >= 1:
        return Fraction(1)
    lightest = exp_bounds(PARTITIONS * root(first))[1] * (first + 1) * eta.base ** (distance + 1)
    return min(Fraction(1), lightest / (1 - ratio))


def negligible_claim(eta: Eta, beyond: Fraction) -> Claim:
    """Return the promise of a release between bounds that depend on the data, where a share of at most `beyond` of any
    list's weight lies outside its own: (ε, (1 + e^ε)·beyond) with ε = 2η·ln 2.

    The release is within `beyond` of the pure one in total variation, in either world: P' ≤ P + β ≤ e^ε·Q + β ≤
    e^ε·(Q' + β) + β.
    """
    return with_failures(selection_claim(eta), beyond)
