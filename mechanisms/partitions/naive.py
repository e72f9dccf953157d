"""The same dynamic program over frequency lists in floating point, as people write it.

Weights e^(−ε·|y − x|/(2Δ)), their running sums in the float type, and for every count one uniform of that type. Not
private: sums are rounded, small weights vanish, and a count less likely than a step of the uniforms gets one uniform or
none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes, Refused, of_member
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.partitions.family import Frequencies, PartitionParameters, as_problem, atoms_between
from subnormal.mechanisms.samplers.float_uniforms import FELL_OFF, halved_rate, running_sums, uniform_bits

Weights = list[NDArray[np.floating[Any]]]  # of each row, for y_i = L_i, …, U_i


def weights(
    data: ArrayLike,
    epsilon: float,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
) -> Weights:
    """Return e^(−ε·|Q − x_i|/(2Δ)) times the sum of what may follow y_i = Q, in the float type, of every row."""
    rate, (frequencies, low, high) = halved_rate(epsilon, sensitivity, float_type), as_problem(data, lower, upper)
    found: Weights = []
    sums, first = np.ones(1, dtype=float_type), 0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for count, least, most in zip(*(one[::-1].tolist() for one in (frequencies, low, high)), strict=True):
            values = np.arange(least, most + 1)
            slope = np.exp(-rate * np.abs(values - count).astype(float_type))
            found.append(slope * sums.take(values - first, mode="clip"))
            sums, first = np.cumsum(found[-1]), least
    return found[::-1]


def counts(weight: NDArray[np.floating[Any]], width: int) -> NDArray[np.int64]:
    """Return how many of the 2^width uniforms lead to each cell of a row, and last how many lie beyond them all."""
    with np.errstate(under="ignore"):
        below = np.ceil(np.ldexp(running_sums(weight), width)).astype(np.int64)
    return np.diff(below, prepend=0, append=1 << width)


def sample(
    data: ArrayLike,
    epsilon: float,
    bits: BitSource,
    n: int,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
) -> Outcomes:
    """Return n lists, int64 of shape (n, rows); where the code raises instead, a list with `Refused` in it.

    Raises ValueError for a negative n.
    """
    require_draws(n)
    _, low, high = as_problem(data, lower, upper)
    options: dict[str, Any] = {"lower": lower, "upper": upper, "sensitivity": sensitivity, "float_type": float_type}
    rows = weights(data, epsilon, **options)
    width = uniform_bits(float_type)
    chosen = np.empty((n, len(rows)), dtype=np.int64)
    above, fallen = np.full(n, high[0]), np.zeros(n, dtype=np.bool_)
    for row, weight in enumerate(rows):
        uniforms = np.ldexp(bits.words(n, width).astype(np.float64), -width)
        last = np.minimum(above, high[row]) - low[row]
        for end in np.unique(last).tolist():
            here = last == end
            with np.errstate(under="ignore"):
                sums = running_sums(weight[: end + 1])
            cell = np.searchsorted(sums, uniforms[here], side="right")
            fallen[here] |= cell > end
            chosen[here, row] = low[row] + np.minimum(cell, end)
        above = chosen[:, row]
    if not fallen.any():
        return chosen
    return [FELL_OFF if lost else tuple(one) for one, lost in zip(chosen.tolist(), fallen.tolist(), strict=True)]


def law(
    data: ArrayLike,
    epsilon: float,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
) -> Law[tuple[int, ...]]:
    """Return the exact distribution of this code: the product, over the rows, of how many uniforms lead to each count.

    Raises NoLawError where more than 2^17 lists lie between the bounds, or lists of more than 2^21 counts.
    """
    _, low, high = as_problem(data, lower, upper)
    lists, atoms = atoms_between(tuple(low.tolist()), tuple(high.tolist()))
    width = uniform_bits(float_type)
    mass = np.ones(len(lists), dtype=object)
    above = np.full(len(lists), high[0])
    options: dict[str, Any] = {"lower": lower, "upper": upper, "sensitivity": sensitivity, "float_type": float_type}
    for row, weight in enumerate(weights(data, epsilon, **options)):
        last, cell = np.minimum(above, high[row]) - low[row], lists[:, row] - low[row]
        words, order = np.empty(len(lists), dtype=np.int64), last.argsort(kind="stable")
        ends, firsts = np.unique(last[order], return_index=True)
        for end, here in zip(ends.tolist(), np.split(order, firsts[1:]), strict=True):
            words[here] = counts(weight[: end + 1], width)[cell[here]]
        mass *= words.astype(object)
        above = lists[:, row]
    denominator = 1 << (width * lists.shape[1])
    possible = np.flatnonzero(mass)
    named: list[tuple[int, ...] | Refused] = [atoms[at] for at in possible.tolist()]
    mass = mass[possible]
    fallen = denominator - sum(mass.tolist())
    if fallen:
        named.append(FELL_OFF)
        mass = np.append(mass, fallen)
    ends = block_ends(mass)
    return exact_law(named, ends, mass[ends - 1].tolist(), denominator)


def _member(name: str, float_type: DTypeLike) -> Mechanism[Frequencies, PartitionParameters, Any]:
    def arguments(parameters: PartitionParameters) -> tuple[float, dict[str, Any]]:
        given = {"lower": parameters.lower, "upper": parameters.upper, "sensitivity": parameters.sensitivity}
        return parameters.epsilon, given | {"float_type": float_type}

    return Mechanism(name, "partitions", of_member(sample, arguments), epsilon_claim, of_member(law, arguments))


FLOAT64 = _member("partitions-naive-float64", np.float64)
FLOAT32 = _member("partitions-naive-float32", np.float32)
FLOAT16 = _member("partitions-naive-float16", np.float16)
