"""Events that bound two features of a whole outcome: the smallest number is at most 0, and six parts are no numbers.

Such a corner finds what neither of its bounds does alone: a loss that grows with the number of answers of one kind, and
only where a released number is small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import AllOf, Learned, Term
from subnormal.attacks.core.outcome_features import Columns
from subnormal.attacks.core.outcome_paths import Column

FEATURES = ("length", "others", "least", "largest")  # of the whole outcome
CUTS = 32  # bounds on each feature, at most

Strength = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]


def corners(columns: tuple[Columns, Columns], features: Sequence[str], strength: Strength) -> Iterator[AllOf]:
    """Yield the strongest corner of each two of these features that have more than one value.

    strength: of events, from their counts in the two worlds.
    """
    of_both = {one: tuple(world((), one) for world in columns) for one in FEATURES if one in features}
    cuts = {one: _cuts(np.concatenate(values)) for one, values in of_both.items()}
    for first, second in combinations([one for one in of_both if len(cuts[one]) > 1], 2):
        yield _strongest((first, second), (cuts[first], cuts[second]), (of_both[first], of_both[second]), strength)


def _cuts(values: Column) -> Column:
    """Return the distinct values where they are few, else quantiles."""
    known = np.sort(values[~np.isnan(values)])
    distinct = np.unique(known)
    if len(distinct) <= CUTS:
        return distinct
    return np.unique(known[np.linspace(0, len(known) - 1, CUTS).astype(np.int64)])


def _strongest(
    names: tuple[str, str],
    cuts: tuple[Column, Column],
    values: tuple[tuple[Column, ...], tuple[Column, ...]],
    strength: Strength,
) -> AllOf:
    best, found = -np.inf, None
    for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):  # at most a cut, or at least it
        ends = [np.sort(sign * cut) for sign, cut in zip(signs, cuts, strict=True)]
        counts = [_counts(ends, signs[0] * one, signs[1] * other) for one, other in zip(*values, strict=True)]
        strengths = strength(counts[0].ravel(), counts[1].ravel())
        place = int(strengths.argmax())
        if strengths[place] > best:
            chosen = np.unravel_index(place, counts[0].shape)
            bounds = [float(end[at]) for end, at in zip(ends, chosen, strict=True)]
            best, found = (
                float(strengths[place]),
                [
                    Learned((Term(name),), -np.inf, bound) if sign == 1 else Learned((Term(name),), -bound, np.inf)
                    for name, sign, bound in zip(names, signs, bounds, strict=True)
                ],
            )
    assert found is not None
    return AllOf((found[0], found[1]))


def _counts(ends: Sequence[Column], one: Column, other: Column) -> NDArray[np.int64]:
    """Return how often both features are at most two of their ends, shape (ends of the first, ends of the second)."""
    known = ~(np.isnan(one) | np.isnan(other))
    places = [np.searchsorted(end, values[known]) for end, values in zip(ends, (one, other), strict=True)]
    shape = (len(ends[0]) + 1, len(ends[1]) + 1)
    cells = np.bincount(places[0] * shape[1] + places[1], minlength=shape[0] * shape[1]).reshape(shape)
    return cells[:-1, :-1].cumsum(axis=0).cumsum(axis=1)
