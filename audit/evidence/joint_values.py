"""Events of the values that up to three parts have at once: the parity of parts 1, 4 and 8 is odd.

No part of them need differ between the worlds. Of the parts with few values, of their pairs and of their triples, those
are used whose values, taken together, tell the worlds furthest apart, beyond what fewer of the same parts tell. The
statistic is that of Pearson's chi-squared test of homogeneity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Category, OneOf
from subnormal.attacks.core.outcome_paths import PartValues, Path
from subnormal.mechanisms.privacy import Claim

COMBINATIONS_MAX = 256  # of values of the parts of an event
SIZES = (1, 2, 3)  # parts of an event
BEST = 2  # sets of parts of each size that are used
LEAST = 3.0  # standard deviations by which their statistic exceeds its mean without a difference
LOOK = 1024  # runs of each world by which these are chosen


@dataclass(frozen=True, slots=True)
class Coded:
    """A part with few values. codes: the place of its value among them, in each run of either world."""

    path: Path
    values: list[Any]
    codes: tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Joint:
    """Some parts, and how often each combination of their values occurs, shape (2, combinations)."""

    parts: tuple[Coded, ...]
    counts: NDArray[np.int64]

    def events(self, claim: Claim) -> Iterator[Category]:
        """Yield the combinations that are likelier in the first world, and those that exceed the claim in either."""
        first, second = (self.counts + 0.5) / (self.counts.sum(axis=1, keepdims=True) + 0.5)
        factor = math.exp(min(claim.epsilon, 700.0))
        chosen = (first > second, first > factor * second, second > factor * first)
        for values in dict.fromkeys(tuple(np.flatnonzero(one).tolist()) for one in chosen):
            if values:
                yield Category(tuple(part.path for part in self.parts), OneOf(tuple(map(self._values, values))))

    def _values(self, combination: int) -> Any:
        """Return the values of the parts, in a combination that a number stands for; of one part its value alone."""
        places = np.unravel_index(combination, [len(part.values) for part in self.parts])
        values = tuple(part.values[place] for part, place in zip(self.parts, places, strict=True))
        return values if len(values) > 1 else values[0]


def furthest_apart(parts: Sequence[tuple[Path, tuple[PartValues, PartValues]]]) -> list[Joint]:
    """Return the sets of parts whose values tell the worlds furthest apart. parts: paths, and what they name."""
    coded = [one for path, both in parts if (one := _coded(path, both)) is not None]
    return [_joint([coded[place] for place in places]) for places in _chosen(coded)] if coded else []


def _coded(path: Path, both: tuple[PartValues, PartValues]) -> Coded | None:
    """Return a part; None where it has one value alone, is NaN at times, or a table."""
    if any(one.is_table for one in both):
        return None
    if both[0].numeric and both[0].items.dtype == both[1].items.dtype:
        distinct, codes = np.unique(np.concatenate([one.items for one in both]), return_inverse=True)
        values = distinct.tolist()
    else:
        seen: dict[Any, int] = {}
        every = [seen.setdefault(item, len(seen)) for one in both for item in one.items.tolist()]
        values, codes = list(seen), np.array(every, dtype=np.int64)
    if len(values) < 2 or any(one != one for one in values):
        return None
    runs = len(both[0].items)
    return Coded(path, values, (codes[:runs], codes[runs:]))


def _chosen(coded: list[Coded]) -> Iterator[tuple[int, ...]]:
    """Yield the places of the best sets of parts of each size."""
    runs = min(LOOK, *(len(codes) for codes in coded[0].codes))
    tables = [np.stack([part.codes[world][:runs] for part in coded], axis=1) for world in (0, 1)]
    many = np.array([len(part.values) for part in coded])
    known: dict[tuple[int, ...], float] = {(): 0.0}
    for size in SIZES:
        sets = np.array(list(combinations(range(len(coded)), size)), dtype=np.int64).reshape(-1, size)
        sets = sets[many[sets].prod(axis=1) <= COMBINATIONS_MAX]
        if not len(sets):
            return
        beyond, deviation = _beyond_chance(tables, many, sets)
        named = list(map(tuple, sets.tolist()))
        known.update(zip(named, beyond.tolist(), strict=True))
        fewer = [max(known[one[:place] + one[place + 1 :]] for place in range(size)) for one in named]
        scores = (beyond - np.maximum(0.0, fewer)) / deviation
        for place in np.argsort(-scores, kind="stable")[:BEST]:
            if scores[place] > LEAST:
                yield named[place]


def _beyond_chance(
    tables: list[NDArray[np.int64]], many: NDArray[np.int64], sets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much the statistic of each set of parts exceeds its mean without a difference, and its standard
    deviation then. tables: the codes of each world, shape (runs, parts). many: values of each part."""
    cells = many[sets].prod(axis=1)
    starts = np.concatenate([[0], cells.cumsum()[:-1]])
    first, second = (
        np.bincount((_combined(table, many, sets) + starts).ravel(), minlength=int(cells.sum())) for table in tables
    )
    total = first + second
    statistic = np.add.reduceat((first - second) ** 2 / np.maximum(1, total), starts)
    freedom = np.maximum(1, np.add.reduceat(total > 0, starts, dtype=np.int64) - 1)
    return statistic - freedom, np.sqrt(2.0 * freedom)


def _combined(table: NDArray[np.int64], many: NDArray[np.int64], sets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the combination of values that each set of parts has in each run, shape (runs, sets)."""
    found = table[:, sets[:, 0]]
    for place in range(1, sets.shape[1]):
        found = found * many[sets[:, place]] + table[:, sets[:, place]]
    return found


def _joint(parts: list[Coded]) -> Joint:
    many = np.array([len(part.values) for part in parts])
    every = np.arange(len(parts))[None, :]
    counts = [
        np.bincount(
            _combined(np.stack([part.codes[world] for part in parts], axis=1), many, every)[:, 0],
            minlength=int(many.prod()),
        )
        for world in (0, 1)
    ]
    return Joint(tuple(parts), np.array(counts))
