"""The exponential mechanism over frequency lists between public bounds, exact at the speed of floats, in base 2.

y_1, y_2, … are drawn in turn, each from its distribution given the one before: a uniform U, known to some bits, is an
interval, and the count is decided when the interval lies in one cell of the sums of weights (`weight_sums`). Floats
with proved error bounds decide nearly always. Integers decide the other cases, with one row in memory at a time.

How often. With r rows of at most w cells an edge of height h is in doubt by less than 6·r·(w + 40)·2^−53·h either way
(`weight_sums`). The heights of the edges below T_i, the most that y_i may be given the one before, have the expected
sum E(T_i − y_i), so a whole list needs integers with a probability below r·(w + 40)·2^−49·Σ E(T_i − y_i). For 10^5 rows
of 64 cells that is 2·10^−8 for every count that the list leaves between T_i and y_i.

Side channels. Bits: a word for every row, more with a probability near cells·2^−64. Time: the slow path in integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, of_member
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.partitions.family import (
    Frequencies,
    PartitionParameters,
    as_frequencies,
    as_problem,
    atoms_between,
)
from subnormal.mechanisms.partitions.weight_sums import WeightSums, bounds, sums
from subnormal.mechanisms.privacy import Eta, selection_eta
from subnormal.mechanisms.samplers.float_weights import UNIT
from subnormal.mechanisms.samplers.inverse_transform import settle

LAW_BITS_MAX = 1 << 30  # of all weights together: 128 MiB

COMPARED = 16  # units: what the comparison of a uniform with an edge may itself be off, several times over


def sample(
    data: ArrayLike, eta: Eta, bits: BitSource, n: int, *, lower: ArrayLike, upper: ArrayLike
) -> NDArray[np.int64]:
    """Return n lists, int64 of shape (n, rows), with probability exactly proportional to 2^(−η·|y − data|).

    2η|2-DP for lists at an L1 distance of at most 1, where the bounds do not depend on the data. Takes n words for each
    row, in order, and more for single draws that these do not decide.
    Raises ValueError for a negative n.
    Source: Blocki, Datta, Bonneau 2016, Section IV, for the dynamic program; the sampling is inverse transform.
    """
    require_draws(n)
    problem = as_problem(data, lower, upper)
    table = sums(eta, *problem)
    chosen = np.empty((len(problem[0]), n), dtype=np.int64)
    drawn = bits.words(n * len(chosen)).reshape(chosen.shape)
    above = np.full(n, problem[2][0])
    for row, (least, most) in enumerate(zip(problem[1].tolist(), problem[2].tolist(), strict=True)):
        last = np.minimum(above, most) - least
        cell, decided = _judge(table, row, last, drawn[row], bits.word_bits)
        for at in (~decided).nonzero()[0].tolist():
            refined = cache(partial(bounds, eta, *problem, row, int(above[at])))
            cell[at] = settle(refined, bits, int(drawn[row, at])) - least
        above = chosen[row] = cell + least
    return np.ascontiguousarray(chosen.T)


def _judge(
    table: WeightSums, row: int, last: NDArray[np.int64], drawn: NDArray[np.uint64], known: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the cell of each draw, of the cells 0, …, last of its row, and whether floats are sure of it."""
    edges, error, floor = table.row(row), 3 * table.errors[row] + COMPARED * UNIT, 4 * table.floors[row]
    width = edges.take(last) * 0.5**known
    begin = drawn * width
    cell = np.minimum(edges.searchsorted(begin, side="right"), last)
    # The ends 0 and 1 of the distribution function are exact, and no uniform lies beyond them.
    left = np.where(cell > 0, edges.take(cell - 1) + floor, -np.inf)
    right = np.where(cell < last, edges.take(cell) - floor, np.inf)
    end = begin + width
    return cell, (left <= begin - error * begin) & (end + error * end <= right)


def law(data: ArrayLike, eta: Eta, *, lower: ArrayLike, upper: ArrayLike) -> Law[tuple[int, ...]]:
    """Return the exact distribution over the lists between the bounds.

    Raises NoLawError where there are more than 2^17 lists, 2^21 counts in them, or 2^30 bits of weights.
    """
    frequencies, low, high = as_problem(data, lower, upper)
    lists, atoms = atoms_between(tuple(low.tolist()), tuple(high.tolist()))
    distances = np.abs(lists - frequencies).sum(axis=1)
    ends = block_ends(distances)
    largest = int(distances.max())
    if eta.y * eta.z * largest * (largest + 1) > LAW_BITS_MAX:
        raise NoLawError(f"{largest + 1} weights of {eta.y * eta.z * largest} bits take more than {LAW_BITS_MAX} bits")
    weight = weights(eta, largest)
    total = sum(count * weight[distance] for distance, count in Counter(distances.tolist()).items())
    return exact_law(atoms, ends, [weight[distance] for distance in distances[ends - 1].tolist()], total)


def weights(eta: Eta, largest: int) -> list[int]:
    """Return B^d for d = 0, …, largest, exactly, over a common denominator."""
    numerator, shift = eta.x**eta.z, eta.y * eta.z
    return [numerator**distance << (shift * (largest - distance)) for distance in range(largest + 1)]


def marginals(data: ArrayLike, eta: Eta, *, lower: ArrayLike, upper: ArrayLike) -> Iterator[NDArray[np.float64]]:
    """Yield, row by row, the probabilities of y_i = L_i, …, U_i, to the errors of floats: for pictures, and for `bias`.

    P(y_i = Q) = Σ_{T≥Q} P(y_{i−1} = T)·P(Q | T), where P(Q | T) is the step of S_i at Q over S_i(min(T, U_i)): with the
    sum over T run once, a row costs as much as its cells.
    """
    problem = as_problem(data, lower, upper)
    table, (_, low, high) = sums(eta, *problem), problem
    above, first = np.ones(1), int(high[0])
    for row, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        edges = table.row(row)
        of_last = np.zeros(most - least + 1)
        places = np.minimum(np.arange(first, first + len(above)), most) - least
        np.add.at(of_last, places, above)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(edges > 0, of_last / edges, 0.0)
        above, first = np.diff(edges, prepend=0.0) * share[::-1].cumsum()[::-1], least
        yield above


def bias(data: ArrayLike, eta: Eta, *, lower: ArrayLike, upper: ArrayLike) -> NDArray[np.float64]:
    """Return the expectation of y − data, shape (rows,)."""
    rows = marginals(data, eta, lower=lower, upper=upper)
    expected = [
        float(np.dot(mass, np.arange(least, least + len(mass)))) / float(mass.sum())
        for least, mass in zip(np.asarray(lower).tolist(), rows, strict=True)
    ]
    return np.array(expected) - as_frequencies(data)


def _arguments(parameters: PartitionParameters) -> tuple[Eta, dict[str, Any]]:
    eta = selection_eta(parameters.epsilon, parameters.sensitivity)
    return eta, {"lower": parameters.lower, "upper": parameters.upper}


EXACT: Mechanism[Frequencies, PartitionParameters, Any] = Mechanism(
    "partitions-exact",
    "partitions",
    of_member(sample, _arguments),
    epsilon_claim,
    of_member(law, _arguments),
    exact=True,
)
