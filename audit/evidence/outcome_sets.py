"""Events of single outcomes, and of sets of them: frequent ones, and those of one world alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from enum import Enum
from itertools import chain
from typing import Any

import numpy as np

from subnormal.attacks.core.events import OneOf
from subnormal.attacks.core.outcome_paths import PartValues, rows
from subnormal.mechanisms.core.mechanism import Outcomes
from subnormal.mechanisms.core.outcome_identity import identity, patterns

FREQUENT = 16  # outcomes proposed
SOLE = 2  # outcomes of one world alone that are proposed, however rare they are
SELDOM = 1 / 8  # of the runs: where fewer have an outcome that occurred before, only such outcomes are proposed
SET_MAX = 1 << 18  # outcomes of a proposed set

TEXTS = (str, bytes, Enum)

Worlds = tuple[Outcomes, Outcomes]
Tallies = tuple[Counter[Hashable], Counter[Hashable], dict[Hashable, Any]]


def tallies(outcomes: Worlds) -> Tallies:
    """Return how often each outcome occurs in each world, by its identity, and the outcome of each identity."""
    named: dict[Hashable, Any] = {}
    first, second = _worth_counting(outcomes)
    return _tally(first, named), _tally(second, named), named


def of_outcomes(first: Counter[Hashable], second: Counter[Hashable], named: dict[Hashable, Any]) -> Iterator[OneOf]:
    """Yield the strongest single outcomes, and the sets of outcomes more frequent in a world, or seen only in it."""
    apart = sorted(named, key=lambda one: (-abs(first[one] - second[one]), repr(named[one])))
    shown = set(apart[:FREQUENT])
    for one in apart[:FREQUENT]:
        if first[one] + second[one] > 1:
            yield OneOf((named[one],), by_type=True)
    for here, there in ((first, second), (second, first)):
        only = sorted((one for one in here if one not in there), key=lambda one: (-here[one], repr(named[one])))
        yield from (OneOf((named[one],), by_type=True) for one in only[:SOLE] if here[one] > 1 and one not in shown)
        alone = [named[one] for one in only]
        likelier = [named[one] for one, count in here.items() if count > there[one]]
        for chosen in (alone, likelier) if len(alone) < len(likelier) else (alone,):
            if 1 < len(chosen) <= SET_MAX:
                yield OneOf(tuple(chosen), by_type=True)


def of_texts(parts: tuple[PartValues, PartValues]) -> Iterator[OneOf]:
    """Yield events of the texts and members of an `Enum` among the parts of the two worlds."""
    yield from of_outcomes(*tallies((_texts(parts[0]), _texts(parts[1]))))


def _texts(parts: PartValues) -> list[Any]:
    if parts.numeric or not any(issubclass(kind, TEXTS) for kind in set(map(type, parts.items))):
        return []
    return [one for one in parts.items if isinstance(one, TEXTS)]


def _worth_counting(outcomes: Worlds) -> Worlds:
    """Return the outcomes that occur more than once, where few do: no other will occur again. Else return all."""
    one, other = outcomes
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.shape[1:] == other.shape[1:] != ():
        table = patterns(np.concatenate([one, other]))
        keys = np.ascontiguousarray(table).view(f"V{table.itemsize * table.shape[1]}").ravel() if table.size else table
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        if len(keys) - len(counts) > SELDOM * len(keys):
            return outcomes
        kept = counts[inverse] > 1
        return one[kept[: len(one)]], other[kept[len(one) :]]
    if any(isinstance(world, np.ndarray | range) for world in outcomes):
        return outcomes
    try:
        tally = Counter(chain(one, other))
    except TypeError:  # dataclasses that are not frozen
        return outcomes
    if tally.total() - len(tally) > SELDOM * tally.total():
        return outcomes
    return [each for each in one if tally[each] > 1], [each for each in other if tally[each] > 1]


def _tally(outcomes: Outcomes, named: dict[Hashable, Any]) -> Counter[Hashable]:
    """Return the counts of outcomes by their identity, and add each identity's outcome to `named`."""
    if isinstance(outcomes, np.ndarray) and outcomes.ndim == 1 and outcomes.dtype.kind in "iuf":
        _, first, counts = np.unique(patterns(outcomes), return_index=True, return_counts=True)
        distinct = outcomes[first].tolist()
        keys = list(map(identity, distinct))
        tally = Counter(dict(zip(keys, counts.tolist(), strict=True)))
    else:
        distinct = list(rows(outcomes))
        keys = list(map(identity, distinct))
        tally = Counter(keys)
    named.update(zip(keys, distinct, strict=True))
    return tally
