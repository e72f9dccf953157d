"""Frequency lists of exactly `total` records, for lists small enough that integers do everything.

What is left of the total joins the state of the dynamic program: S_i(Q, left) is the weight of the lists
y_i ≥ … ≥ y_rows with y_i ≤ Q and y_i + … + y_rows = left. Where the total is public, neighbours have the same one, and
so an L1 distance of 2, a record that moves from one value to another: 4η|2-DP.
"""

from __future__ import annotations

from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.partitions.exact import weights
from subnormal.mechanisms.partitions.family import as_problem, partitions_between
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.inverse_transform import DistributionBounds, settle

WeightSumsByTotal = list[list[list[int]]]  # [row][left][Q − L_i], all over one denominator a row


def sums(data: ArrayLike, eta: Eta, total: int, *, lower: ArrayLike, upper: ArrayLike) -> WeightSumsByTotal:
    """Return the sums, from the first row to the last. Raises ValueError where no list of that total is in bounds."""
    if total < 0:
        raise ValueError(f"total must not be negative, got {total}")
    frequencies, low, high = as_problem(data, lower, upper)
    slope = weights(eta, int((high - low).max()))
    below, first = [[int(left == 0)] for left in range(total + 1)], 0
    found: WeightSumsByTotal = []
    for count, least, most in zip(*(one[::-1].tolist() for one in (frequencies, low, high)), strict=True):
        last = len(below[0]) - 1
        row = [
            list(
                accumulate(
                    slope[abs(value - count)] * below[left - value][min(value - first, last)] if value <= left else 0
                    for value in range(least, most + 1)
                )
            )
            for left in range(total + 1)
        ]
        found.append(row)
        below, first = row, least
    if not below[total][-1]:
        raise ValueError(f"no list between the bounds has total = {total}")
    return found[::-1]


def sample(
    data: ArrayLike, eta: Eta, total: int, bits: BitSource, n: int, *, lower: ArrayLike, upper: ArrayLike
) -> NDArray[np.int64]:
    """Return n lists of exactly `total` records, int64 of shape (n, rows), each with a probability proportional to
    2^(−η·|y − data|) among them. Takes a word for every count, hardly ever more."""
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    table = sums(data, eta, total, lower=lower, upper=upper)
    _, low, high = as_problem(data, lower, upper)
    chosen = np.empty((n, len(low)), dtype=np.int64)
    for one in chosen:
        above, left = int(high[0]), total
        for row, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            cells = table[row][left][: min(above, most) - least + 1]
            above = settle(partial(_bounds, cells, least), bits, bits.take(bits.word_bits))
            one[row] = above
            left -= above
    return chosen


def _bounds(cells: list[int], first: int, precision: int) -> DistributionBounds:
    """Return the distribution function of a row from its exact sums, rounded outwards."""
    low = [(part << precision) // cells[-1] for part in cells]
    high = [-((-part << precision) // cells[-1]) for part in cells]
    return DistributionBounds(first - 1, precision, [0, *low], [0, *high])


def law(data: ArrayLike, eta: Eta, total: int, *, lower: ArrayLike, upper: ArrayLike) -> Law[tuple[int, ...]]:
    """Return the exact distribution over the lists of that total. NoLawError where there are too many in bounds."""
    frequencies, low, high = as_problem(data, lower, upper)
    lists = partitions_between(low, high)
    lists = lists[lists.sum(axis=1) == total]
    if not len(lists):
        raise ValueError(f"no list between the bounds has total = {total}")
    distances = np.abs(lists - frequencies).sum(axis=1)
    weight = weights(eta, int(distances.max()))
    ends = block_ends(distances)
    mass = [weight[distance] for distance in distances[ends - 1].tolist()]
    whole = sum(weight[distance] for distance in distances.tolist())
    return exact_law([tuple(one) for one in lists.tolist()], ends, mass, whole)
