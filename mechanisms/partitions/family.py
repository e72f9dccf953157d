"""The family `partitions`: release a list of frequencies, how many records each value has, the largest count first.

Data: a frequency list x_1 ≥ x_2 ≥ … ≥ x_rows ≥ 0 of a public length (a value that nobody has counts 0). Outcome: a list
y of the same kind, between public bounds L_i ≤ y_i ≤ U_i, drawn with a weight that falls with the L1 distance |y − x|:
2^(−η·|y − x|), or e^(−ε·|y − x|/(2Δ)). Neighbours are lists at an L1 distance of at most Δ = 1: one record comes or
goes, and moves one count of the sorted list by one. The distance to any y then moves by 1, so a release is 2η|2-DP.
Source: Blocki, Datta, Bonneau, "Differentially Private Password Frequency Lists", NDSS 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.core.domain import Domain, box, by_moves, moves_within, options_text
from subnormal.mechanisms.core.mechanism import Family, NoLawError
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.privacy import require_positive

COUNT_MAX = 1 << 40  # records of one value: distances then stay far from the end of 64 bits
OUTCOMES_MAX = 1 << 17  # partitions of a law
COUNTS_MAX = 1 << 21  # in all lists between the bounds

Frequencies = NDArray[np.int64]  # non-increasing, shape (rows,)


@dataclass(frozen=True, slots=True)
class PartitionParameters:
    """What is public about a release: the budget ε (nats), the bounds of every count, and Δ.

    lower, upper: two frequency lists of one length. sensitivity: the L1 distance of adjacent lists, 1 for one record.
    """

    epsilon: float
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)
        lower, upper = as_bounds(self.lower, self.upper)
        object.__setattr__(self, "lower", tuple(lower.tolist()))
        object.__setattr__(self, "upper", tuple(upper.tolist()))


def as_frequencies(frequencies: ArrayLike, name: str = "frequencies") -> Frequencies:
    """Return a frequency list as int64. Raises ValueError unless it is a non-empty, non-increasing vector of integers
    from 0 to 2^40."""
    array = np.asarray(frequencies)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector of at least one count, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got {array.dtype} ({array.flat[0]!r}, ...)")
    if array.min() < 0 or array.max() > COUNT_MAX:
        raise ValueError(f"{name} must lie between 0 and {COUNT_MAX}, got {array.min()} to {array.max()}")
    rising = np.flatnonzero(array[1:] > array[:-1])
    if len(rising):
        at = int(rising[0])
        raise ValueError(f"{name} must not increase, got {name}[{at}] = {array[at]} before {array[at + 1]}")
    return array.astype(np.int64, copy=False)


def as_bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[Frequencies, Frequencies]:
    """Return the bounds as int64. Raises ValueError unless both are frequency lists of one length, lower ≤ upper.

    As neither increases, every list that begins within them can be completed.
    """
    low, high = as_frequencies(lower, "lower"), as_frequencies(upper, "upper")
    if low.shape != high.shape:
        raise ValueError(f"lower and upper must be equally long, got {len(low)} and {len(high)}")
    if (low > high).any():
        at = int(np.flatnonzero(low > high)[0])
        raise ValueError(f"lower[{at}] = {low[at]} must not be above upper[{at}] = {high[at]}")
    return low, high


def as_problem(data: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> tuple[Frequencies, Frequencies, Frequencies]:
    """Return the list moved to the bounds, and the bounds.

    For L ≤ y ≤ U the distance |y − x| is that of x moved to the bounds, plus a constant: the law is the same.
    Raises ValueError for a list and bounds of different lengths.
    """
    frequencies, (low, high) = as_frequencies(data), as_bounds(lower, upper)
    if frequencies.shape != low.shape:
        raise ValueError(f"frequencies must be as long as the bounds, {len(low)}, got {len(frequencies)}")
    return np.clip(frequencies, low, high), low, high


def adjacent(parameters: PartitionParameters, data_in: Frequencies, data_out: Frequencies) -> bool:
    """Return whether two frequency lists, as long as the bounds, are at an L1 distance of at most Δ."""
    try:
        one, other = as_frequencies(data_in), as_frequencies(data_out)
    except ValueError:
        return False
    same = one.shape == other.shape == (len(parameters.lower),)
    return same and int(np.abs(one - other).sum()) <= parameters.sensitivity


def partitions_between(lower: ArrayLike, upper: ArrayLike) -> NDArray[np.int64]:
    """Return every list between the bounds, in ascending order, int64 of shape (lists, rows).

    Raises NoLawError where there are more than 2^17 of them, or more than 2^21 counts in them.

    >>> partitions_between([1, 0], [2, 1]).tolist()
    [[1, 0], [1, 1], [2, 0], [2, 1]]
    """
    low, high = as_bounds(lower, upper)
    found = np.empty((1, 0), dtype=np.int64)
    above = np.array([high[0]])
    for least, most in zip(low.tolist(), high.tolist(), strict=True):
        sizes = np.minimum(above, most) - least + 1
        count = int(sizes.sum())  # every list so far has a completion, so there are at least as many in the end
        if count > OUTCOMES_MAX:
            raise NoLawError(f"more than {OUTCOMES_MAX} lists lie between the bounds")
        if count * len(low) > COUNTS_MAX:
            raise NoLawError(f"the lists of {len(low)} counts between the bounds have more than {COUNTS_MAX} counts")
        above = least + np.arange(count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        found = np.column_stack([np.repeat(found, sizes, axis=0), above])
    return found


@lru_cache(maxsize=4)
def atoms_between(lower: tuple[int, ...], upper: tuple[int, ...]) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
    """Return the same, as an array and as the atoms of a law: laws between the same bounds share them."""
    lists = partitions_between(lower, upper)
    return lists, [tuple(one) for one in lists.tolist()]


def frequency_lists(
    most: int = 20, rows: int = 3, epsilon: float = 1.0, sensitivity: int = 12
) -> Domain[Frequencies, PartitionParameters]:
    """Return the lists of so many counts up to `most`, for releases between 0 and ⌊most/i⌋: some data lie outside."""
    lists = box(0, most, rows)
    points = lists[(lists[:, 1:] <= lists[:, :-1]).all(axis=1)]
    moves = moves_within(min(sensitivity, most), rows)
    return Domain(
        options_text("frequencies", most=most, rows=rows, epsilon=epsilon, sensitivity=sensitivity),
        PartitionParameters(epsilon, (0,) * rows, tuple(most // row for row in range(1, rows + 1)), sensitivity),
        points,
        lambda point: point,
        by_moves(points, moves[np.abs(moves).sum(axis=1) <= sensitivity]),
    )


FAMILY: Family[Frequencies, PartitionParameters] = Family(
    name="partitions",
    parameters=PartitionParameters,
    adjacent=adjacent,
    claim=epsilon_claim,
    members=(
        "subnormal.mechanisms.partitions.naive:FLOAT64",
        "subnormal.mechanisms.partitions.naive:FLOAT32",
        "subnormal.mechanisms.partitions.naive:FLOAT16",
        "subnormal.mechanisms.partitions.exact:EXACT",
    ),
    domain=frequency_lists,
    order=6,
)
