"""The weights of all partitions below a count, summed from the last row up: in floats with proved error bounds, and in
integers at any precision.

S_i(Q) is the weight of the lists y_i ≥ y_{i+1} ≥ … ≥ y_rows between their bounds with y_i ≤ Q,

    S_i(Q) = Σ_{Q'=L_i}^{min(Q, U_i)} B^|Q'−x_i| · S_{i+1}(Q'),    S_{rows+1} = 1,

so that given y_{i−1} = T the mechanism has P(y_i ≤ Q) = S_i(Q)/S_i(T). Running sums make it linear in the cells
Σ (U_i − L_i + 1), in time and in memory.

*Errors of floats.* All terms are positive, so relative errors of 2^−53 (a unit) add up: a row adds those of its table
entry, of one product and of its additions, `power_error` + cells. S_i(Q) may also be too small for a float beside
S_i(U_i) (many equal counts in a row cannot all move), so a second sum A_i bounds what underflow costs: every cell puts
in FLOOR, far above what is lost there, and it goes through the same recursion. Hence |float − S| ≤ errors·float + floor
with errors = 2·units·2^−53 and floor = 2·A_i(U_i); twice, for the errors of these bounds and of second order.
Rows are scaled by powers of two, which round only what underflows. As x lies between the bounds, y = x has weight 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.partitions.family import Frequencies
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import UNIT, power_error, power_table
from subnormal.mechanisms.samplers.inverse_transform import DistributionBounds

FLOOR = 2.0**-960  # more than underflow loses in a cell: 2^−1060 of a table entry near 0, times a sum below 2^65
LARGE = 2.0**64  # a row's sum from which it is scaled down to below 1
GUARD = 24  # bits of working precision beyond those asked for and those that errors take


@dataclass(frozen=True, slots=True, eq=False)
class WeightSums:
    """S_i(Q) for Q = L_i, …, U_i in floats, row after row, each row with its own scale."""

    values: NDArray[np.float64]  # shape (cells,)
    starts: NDArray[np.int64]  # row i is values[starts[i]:starts[i + 1]], shape (rows + 1,)
    errors: NDArray[np.float64]  # of each row, relative
    floors: NDArray[np.float64]  # of each row, on its scale

    def row(self, at: int) -> NDArray[np.float64]:
        """Return the sums of one row."""
        return self.values[self.starts[at] : self.starts[at + 1]]


def slopes_of(table: NDArray[Any], largest: int) -> NDArray[Any]:
    """Return B^|k| for k = −largest, …, largest from B^0, …, B^largest."""
    return np.concatenate([table[largest:0:-1], table[: largest + 1]])


def sums(eta: Eta, data: Frequencies, lower: Frequencies, upper: Frequencies) -> WeightSums:
    """Return the sums of all rows, for data between the bounds."""
    sizes = upper - lower + 1
    widest = int(sizes.max())
    slopes = slopes_of(power_table(eta, widest), widest - 1)
    starts = np.append(0, np.cumsum(sizes))
    values, floors = np.empty(starts[-1]), np.empty(len(data))
    below = np.array([[1.0], [0.0]])  # S_{rows+1} = 1 whatever is above, and exactly
    first = 0
    edges = zip(data.tolist(), lower.tolist(), sizes.tolist(), starts.tolist(), strict=False)
    for at, (count, least, size, start) in reversed(list(enumerate(edges))):
        slope = slopes[least - count + widest - 1 :][:size]
        below = _row(below, least - first, slope, size)
        values[start : start + size] = below[0]
        floors[at], first = below[1, -1], least
    added = (sizes + power_error(widest))[::-1].cumsum()[::-1]
    return WeightSums(values, starts, 2 * added * UNIT, 2 * floors)


def _row(below: NDArray[np.float64], skipped: int, slope: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return S_i and A_i, shape (2, size), from those of the row below, whose first `skipped` cells lie under L_i."""
    kept = below[:, skipped : skipped + size]
    grown = np.empty((2, size))
    shared = kept.shape[1]
    np.multiply(kept, slope[:shared], out=grown[:, :shared])
    if shared < size:  # where Q exceeds the bound of the row below
        np.multiply(below[:, -1:], slope[shared:], out=grown[:, shared:])
    grown[1] += FLOOR
    np.add.accumulate(grown, axis=1, out=grown)
    total = grown.item(0, -1)
    if total >= LARGE:
        grown *= 0.5 ** frexp(total)[1]
        grown[1] += FLOOR
    return grown


def bounds(
    eta: Eta, data: Frequencies, lower: Frequencies, upper: Frequencies, row: int, above: int, precision: int
) -> DistributionBounds:
    """Return bounds on the distribution of y_row given y_{row−1} = above, from integers of that precision.

    Used where floats cannot decide. Costs as much as all sums from this row down, a few microseconds a cell.
    """
    least, most = int(lower[row]), int(min(above, upper[row]))
    sides = integer_sums(eta, data, lower, upper, row, precision)[:2]
    low, high = (side[: most - least + 1].tolist() for side in sides)
    one = 1 << precision
    if low[-1] == 0:  # so improbable a state needs more precision
        return DistributionBounds(least - 1, precision, [0] * len(low) + [one], [0] + [one] * len(high))
    lows = [(part << precision) // high[-1] for part in low[:-1]]
    highs = [min(one, -((-part << precision) // low[-1])) for part in high[:-1]]
    return DistributionBounds(least - 1, precision, [0, *lows, one], [0, *highs, one])  # F = 0 and F = 1 are exact


def total_bounds(
    eta: Eta, data: Frequencies, lower: Frequencies, upper: Frequencies, precision: int
) -> tuple[Fraction, Fraction]:
    """Return bounds on the weight of all lists, the heaviest weighing 1, about 2^−precision apart relative to it."""
    low, high, exponent = integer_sums(eta, data, lower, upper, 0, precision)
    unit = Fraction(2) ** exponent
    return int(low[-1]) * unit, int(high[-1]) * unit


def integer_sums(
    eta: Eta, data: Frequencies, lower: Frequencies, upper: Frequencies, row: int, precision: int
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return integers low ≤ S_row(Q)/2^e ≤ high, objects of shape (cells of the row,), and e."""
    sizes = upper - lower + 1
    widest = int(sizes[row:].max())
    working = precision + GUARD + (int(sizes[row:].sum()) + 4 * (len(data) - row)).bit_length()
    pairs = [weight_bounds(eta, Fraction(distance), working) for distance in range(widest)]
    slopes = [slopes_of(np.array(side, dtype=object), widest - 1) for side in zip(*pairs, strict=True)]
    low = high = np.array([1 << working], dtype=object)
    first, exponent = 0, -working
    for at in range(len(data) - 1, row - 1, -1):
        least, size = int(lower[at]), int(sizes[at])
        cells = np.minimum(np.arange(size) + (least - first), len(low) - 1)
        slope_low, slope_high = (slope[least - int(data[at]) + widest - 1 :][:size] for slope in slopes)
        low = np.add.accumulate(low[cells] * slope_low >> working)
        high = np.add.accumulate(-(-(high[cells] * slope_high) >> working))
        first = least
        excess = high[-1].bit_length() - working - 1
        if excess > 0:
            low, high, exponent = low >> excess, -(-high >> excess), exponent + excess
    return low, high, exponent
