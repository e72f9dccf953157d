"""Events that bound two or three features at once: part 0 is above 5, part 1 below 3, and part 5 is odd.

A rule is grown greedily: of all bounds on all features, the one is added by which the outcomes that are left tell the
worlds apart best. After Quinlan 1990 ("Learning logical definitions from relations", Machine Learning 5), whose gain
of a bound is the number of outcomes left of the one world, times what the logarithm of their share among all that are
left grows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import AllOf, Learned, Term
from subnormal.attacks.core.outcome_features import Columns
from subnormal.attacks.core.outcome_paths import Path
from subnormal.audit.evidence import half_lines

FEATURES = ("value", "bit-0")  # of a part
OF_ALL = ("length", "others", "least", "largest")  # of the whole outcome
BOUNDS_MAX = 3  # of a rule
BEGINNINGS = 3  # first bounds from which rules are grown
LEAST = 16  # outcomes of a world that a rule must hold

Bound = tuple[float, Learned]  # its gain


def rules(columns: tuple[Columns, Columns], paths: list[Path]) -> Iterator[AllOf]:
    """Yield rules for each of the two worlds, of two bounds and of three. paths: of the parts."""
    terms = [Term(feature, path) for path in paths for feature in FEATURES] + [Term(feature) for feature in OF_ALL]
    everything = [np.ones(len(world((), "kind")), dtype=np.bool_) for world in columns]
    for world in (0, 1):
        for _, first in _bounds(columns, terms, everything, world)[:BEGINNINGS]:
            chosen = [first]
            while len(chosen) < BOUNDS_MAX:
                left = [np.all([one.among(of) for one in chosen], axis=0) for of in columns]
                found = _bounds(columns, terms, left, world)
                if not found:
                    break
                chosen.append(found[0][1])
                yield AllOf(tuple(chosen))


def _bounds(
    columns: tuple[Columns, Columns], terms: list[Term], left: list[NDArray[np.bool_]], world: int
) -> list[Bound]:
    """Return the best bound on each feature for one of the worlds among the outcomes left, in the order of gains."""
    before, found = _share(*(np.array(one.sum()) for one in (left[world], left[1 - world]))), list[Bound]()
    for term in terms:
        values = [of(term.path, term.feature)[where] for of, where in zip(columns, left, strict=True)]
        cuts = half_lines.cut((values[0], values[1]))
        if cuts is not None:
            here = cuts.counts[world]
            gains = np.where(here >= LEAST, here * (_share(here, cuts.counts[1 - world]) - before), 0.0)
            place = int(gains.argmax())
            if gains[place] > 0:
                found.append((float(gains[place]), half_lines.event((term,), cuts, place)))
    return sorted(found, key=lambda one: -one[0])


def _share(here: NDArray[np.int64], there: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithm of the share of one world among the outcomes of both."""
    return np.asarray(np.log((here + 1) / (here + there + 2)))
