"""Outcomes in few cells: each number of an outcome is replaced by the number of the cell that it lies in.

A cell is found from the outcome alone, so that a claim that is broken by the cells is broken by the outcomes; a claim
that the cells keep says nothing. Unrounded floats, and numbers with many values, are told apart by a few comparisons.
"""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from subnormal.attacks.core.events import Between
from subnormal.audit.laws.draws.sources import Source
from subnormal.audit.laws.followed import End, lazy_outcome, numbers_along, walks_of, with_numbers
from subnormal.audit.laws.lazy import is_lazy
from subnormal.audit.values.outcomes import as_outcome
from subnormal.mechanisms.core.outcome_identity import identity

CELLS, TOGETHER = 64, 16  # of an outcome that is a number, and of all numbers in another one together, about
FOLLOWED = 128  # paths, of which the likeliest tell where the numbers lie
PATHS, TRIED, OUTCOMES = 64, 16, 256  # so many of them, by so many outcomes of each and of all
NEARLY = 1 / 2  # of how far apart the numbers of the inputs lie: other numbers of an outcome have no cells
REST = 2.0**-20  # of the paths, that need not be tried

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cells:
    """cuts: where cells meet, rising, by how many numbers an outcome has and by the place of a number in it."""

    cuts: Mapping[tuple[int, Place], Sequence[float]]

    def __call__(self, outcome: Any) -> Any:
        """Return the outcome with its numbers in cells."""
        return self._in_cells(outcome, sum(1 for _ in numbers_of(outcome)), ())

    def _in_cells(self, value: Any, count: int, place: Place) -> Any:
        if _is_number(value):
            return bisect.bisect_right(self.cuts.get((count, place), ()), value)
        if is_row(value):
            return tuple(self._in_cells(one, count, (*place, at)) for at, one in enumerate(value))
        return value

    def between(self, outcomes: Sequence[Any]) -> Between | None:
        """Return the event that the outcome, a number, is in one of these cells, where they are neighbours."""
        cells, cuts = sorted(one for one in outcomes if type(one) is int), self.cuts.get((1, ()))
        if cuts is None or not cells or len(cells) < len(outcomes) or cells[-1] - cells[0] >= len(cells):
            return None
        low = cuts[cells[0] - 1] if cells[0] else -math.inf
        return Between(low, math.nextafter(cuts[cells[-1]], -math.inf) if cells[-1] < len(cuts) else math.inf)

    def of(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a function whose outcomes are in cells."""
        return lambda data: self(lazy_outcome(function(data)))


SHAPES = Cells({})


def cells_of(source: Source, function: Callable[[Any], Any], inputs: Sequence[Any], seconds: float) -> list[Cells]:
    """Return cells for the outcomes of a function, the coarsest first; none where they hold no random numbers.

    In the coarsest ones, all numbers are one: they tell by which of several shapes outcomes differ.

    source: where it draws from while this lasts. Raises NotFollowedError as `law` does.
    """
    seen: dict[tuple[int, Place], tuple[list[float], ...]] = {}
    shapes, is_random, deadline = set[Hashable](), False, time.monotonic() + seconds
    with walks_of(function, inputs, REST, floats=True, most=FOLLOWED) as walks:
        for world, walk in enumerate(walks):
            walk.follow(source, seconds / len(inputs))
            likeliest = sorted(walk.ends, key=lambda end: -end.path.weight())[:PATHS]
            shapes |= {identity(as_outcome(SHAPES(end.outcome))) for end in likeliest}
            is_random = is_random or any(_is_random(end.outcome) for end in likeliest)
            tried = max(TRIED, OUTCOMES // max(1, len(walk.ends)))
            for outcome in chain.from_iterable(_outcomes(end, tried, deadline) for end in likeliest):
                found = list(numbers_of(outcome))
                for place, number in found:
                    if math.isfinite(number):
                        seen.setdefault((len(found), place), tuple([] for _ in inputs))[world].append(float(number))
    cuts: dict[tuple[int, Place], Sequence[float]] = {}
    for count in {count for count, _ in seen}:
        numbers = {place: of_each for (one, place), of_each in seen.items() if one == count}
        chosen = _most_apart(numbers, count)
        together = min(count, len(chosen))
        cuts |= {(count, place): _cuts(sorted({*chain(*numbers[place])}), together, place) for place in chosen}
    return [SHAPES, Cells(cuts)][len(shapes) < 2 :] if is_random else []


def _is_random(outcome: Any) -> bool:
    return any(is_lazy(number) for _, number in numbers_of(outcome))


def _outcomes(end: End, tried: int, deadline: float) -> Iterator[Any]:
    """Yield outcomes of a path, so many where it has lazy numbers."""
    for attempt in range(tried if _is_random(end.outcome) else 1):
        drawn = numbers_along(end.path, attempt)
        if drawn is None or time.monotonic() > deadline:
            return
        yield with_numbers(end.outcome, dict(enumerate(drawn)))


def _most_apart(seen: Mapping[Place, Sequence[Sequence[float]]], count: int) -> list[Place]:
    """Return the places whose numbers differ most between the inputs, and no more than have two cells each.

    seen: the numbers of each input, by their places. count: of the numbers of one outcome.
    """

    def apart(place: Place) -> float:
        one, other = (np.sort(numbers) for numbers in (seen[place][0], seen[place][-1]))
        if not (len(one) and len(other)):
            return 0.0  # the shape tells
        every = np.concatenate([one, other])
        shares = (np.searchsorted(numbers, every, "right") / len(numbers) for numbers in (one, other))
        return float(np.abs(next(shares) - next(shares)).max())

    by = {place: apart(place) for place in seen}
    ranked = sorted((place for place in by if by[place] >= NEARLY * max(by.values())), key=lambda place: -by[place])
    most = TOGETHER.bit_length() - 1
    return ranked if count <= most else ranked[:most]


def _cuts(numbers: list[float], count: int, place: Place) -> list[float]:
    """Return where cells meet: half of these places are equally likely, and half lie at equal distances, beyond the
    numbers too. count: of the numbers of an outcome that have cells."""
    most = int(TOGETHER ** (1 / count)) - 1 if place else CELLS - 1
    half, beyond = most - most // 2, (numbers[-1] - numbers[0]) / 2
    places = range(len(numbers)) if len(numbers) <= half else (np.arange(half) + 0.5) * len(numbers) / half
    apart = np.linspace(numbers[0] - beyond, numbers[-1] + beyond, most // 2).tolist()
    return sorted({*(numbers[int(place)] for place in places), *apart})


def numbers_of(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the numbers of an outcome, with their places."""
    if _is_number(value):
        yield place, value
    elif is_row(value):
        for at, one in enumerate(value):
            yield from numbers_of(one, (*place, at))


def _is_number(value: Any) -> bool:
    return is_lazy(value) or (isinstance(value, int | float | np.number) and not isinstance(value, bool))


def is_row(value: Any) -> bool:
    """Return whether a value has parts: a list, a tuple or an array."""
    return type(value) in (list, tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
