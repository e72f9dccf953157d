"""Half-lines and bands of a score, as events: where they may end is found once, and the best of them for each claim.

The bound of a half-line lies in the middle of the gap between the scores that it separates, or near it, where a
number has few digits. A bound at the last score that was seen of a world would let its tail into a rare event.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Learned, Term
from subnormal.attacks.core.outcome_paths import Column
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.privacy import Claim

MASSES = (*(2.0**-power for power in range(1, 13)), 0.0)  # target masses: shares of one world between the bounds
SINGLE_VALUES = 64  # a feature with at most so many values has each of them as a bound and as an event
DIGITS = 17  # that tell any two floats apart
FREQUENT = 8  # of more values, those whose shares lie furthest apart

Counts: TypeAlias = "list[NDArray[np.int64]]"  # of outcomes, in each world


@dataclass(frozen=True, slots=True)
class Cuts:
    """The ends of half-lines of a score. runs: of each world.

    before, after: the next score of both worlds on either side of each end; infinite where there is none. masses: the
    target mass of each end; None of a single value. bands: the first and the last end of two bands, see `_bands`.
    counts: how many outcomes of each world lie at each end, up to it, from it on, and in the bands; (3·ends + 2,).
    """

    ends: Column
    before: Column
    after: Column
    masses: list[float | None]
    bands: NDArray[np.int64]
    counts: Counts
    runs: tuple[int, int]


def cut(values: tuple[Column, Column]) -> Cuts | None:
    """Return the ends of half-lines; None where all scores of both worlds are one, or none is known.

    values: the score of each outcome of the two worlds. A half-line begins at the quantile of a target mass in one of
    the worlds, or, if values are few, at any value.
    """
    ordered = [np.sort(world[~np.isnan(world)]) for world in values]
    if not len(ordered[0]) + len(ordered[1]):
        return None
    runs = len(values[0]), len(values[1])
    few = _few_values(ordered)
    if few is None:
        places = [
            (world, mass, share) for world in ordered if len(world) for mass in MASSES for share in {mass, 1 - mass}
        ]
        few = _frequent(ordered)
        ends = np.append(few, [world[int(share * (len(world) - 1))] for world, _, share in places])
    else:
        places, ends = [], few
    if len(ends) == 1 and runs == (len(ordered[0]), len(ordered[1])):
        return None
    masses: list[float | None] = [*[None] * len(few), *(mass for _, mass, _ in places)]
    up_to = [np.searchsorted(world, ends, side="right") for world in ordered]
    below = [np.searchsorted(world, ends, side="left") for world in ordered]
    bands = _bands(ends, up_to, below, runs)
    counts = [
        np.concatenate([until - before, until, len(world) - before, until[bands[1]] - before[bands[0]]])
        for world, until, before in zip(ordered, up_to, below, strict=True)
    ]
    before = np.max([_at(world, place - 1) for world, place in zip(ordered, below, strict=True)], axis=0)
    after = np.min([_at(world, place) for world, place in zip(ordered, up_to, strict=True)], axis=0)
    return Cuts(ends, before, after, masses, bands, counts, runs)


def best(terms: tuple[Term, ...], cuts: Cuts | None, claim: Claim) -> Iterator[Learned]:
    """Yield the half-line of a score that tells the worlds apart best, the best single value if values are few, and a
    band that is better than that half-line."""
    if cuts is None:
        return
    ends, masses = cuts.ends, cuts.masses
    strength = approximate_strength(cuts.counts[0], cuts.counts[1], cuts.runs, claim)
    single, lower, upper = strength[:-2].reshape(3, len(ends))
    if alone := masses.count(None):  # first, because the first of two equally strong events is chosen
        yield event(terms, cuts, alone - 1 - int(single[:alone][::-1].argmax()))  # a refusal, not all numbers
    if lower.max() >= upper.max():
        yield event(terms, cuts, len(ends) + int(lower.argmax()))
    else:
        yield event(terms, cuts, 2 * len(ends) + int(upper.argmax()))
    band = 3 * len(ends) + int(strength[-2:].argmax())
    if strength[band] > max(lower.max(), upper.max()):
        yield event(terms, cuts, band)


def event(terms: tuple[Term, ...], cuts: Cuts, place: int) -> Learned:
    """Return the event whose outcomes are counted at this place."""
    kind, at = divmod(place, len(cuts.ends))
    if kind >= 3:
        first, last = cuts.bands[:, place - 3 * len(cuts.ends)].tolist()
        return Learned(terms, _from(cuts, first), _up_to(cuts, last), cuts.masses[last])
    if kind == 0:
        return Learned(terms, float(cuts.ends[at]), float(cuts.ends[at]))
    low, high = (-np.inf, _up_to(cuts, at)) if kind == 1 else (_from(cuts, at), np.inf)
    return Learned(terms, low, high, cuts.masses[at])


def _from(cuts: Cuts, at: int) -> float:
    return _bound(float(cuts.before[at]), float(cuts.ends[at]))


def _up_to(cuts: Cuts, at: int) -> float:
    return -_bound(-float(cuts.after[at]), -float(cuts.ends[at]))


def _bands(ends: Column, up_to: Counts, below: Counts, runs: tuple[int, int]) -> NDArray[np.int64]:
    """Return the first and the last end of the band that has most more of the first world, and of the second, shape
    (2, 2). The larger the sum of both excesses, Kuiper's distance, the further apart the worlds are."""
    order = np.argsort(ends, kind="stable")
    until, before = (of[0][order] / max(1, runs[0]) - of[1][order] / max(1, runs[1]) for of in (up_to, below))
    found = []
    for sign in (1, -1):
        lowest = np.minimum.accumulate(sign * before)
        last = int((sign * until - lowest).argmax())
        found.append((order[int((sign * before)[: last + 1].argmin())], order[last]))
    return np.array(found, dtype=np.int64).T


def _bound(before: float, end: float) -> float:
    """Return a number above `before` and at most `end`: of those with the fewest digits, the one nearest the middle.

    It is whole where both are.
    """
    middle = before + (end - before) / 2
    if not math.isfinite(middle):
        return end
    whole = before.is_integer() and end.is_integer()
    middle = math.ceil(middle) if whole else middle
    near = (float(f"{middle:.{digits}e}") for digits in range(DIGITS))
    return next((one for one in near if before < one <= end and one.is_integer() >= whole), end)


def _few_values(ordered: list[Column]) -> Column | None:
    """Return the distinct values of both worlds, or None if a world has more than `SINGLE_VALUES`."""
    both: list[Column] = []
    for world in ordered:
        distinct = world[_first(world)]
        if len(distinct) > SINGLE_VALUES:
            return None
        both.append(distinct)
    return np.unique(np.concatenate(both))


def _frequent(ordered: list[Column]) -> Column:
    """Return the values that several outcomes of a world have, and whose shares lie furthest apart, in order."""
    found = np.unique(np.concatenate([world[1:][_first(world)[:-1] & ~_first(world)[1:]] for world in ordered]))
    one, other = (
        (np.searchsorted(world, found, side="right") - np.searchsorted(world, found)) / max(1, len(world))
        for world in ordered
    )
    return np.sort(found[np.argsort(-np.abs(one - other), kind="stable")[:FREQUENT]])


def _at(world: Column, places: NDArray[np.int64]) -> Column:
    """Return the ordered values at these places; -∞ before the first place, and ∞ after the last."""
    return np.concatenate([[-np.inf], world, [np.inf]])[places + 1]


def _first(world: Column) -> NDArray[np.bool_]:
    """Return whether each of the ordered values differs from the one before."""
    return np.append(np.ones(min(1, len(world)), dtype=np.bool_), world[1:] != world[:-1])


def approximate_strength(
    first: NDArray[np.int64], second: NDArray[np.int64], runs: tuple[int, int], claim: Claim
) -> NDArray[np.float64]:
    """Return an approximation of `event_search.strength` for many events, which only ranks proposals.

    The lower bound on ε is the log ratio less three standard errors, in either direction, of the event or of its
    complement. Events with such a bound rank before events that have only standard errors.
    """
    bound = np.full(len(first), -np.inf)
    one, other, size = first / runs[0], second / runs[1], min(runs)
    for share, rest in ((one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one)):
        gain, cost = np.maximum(size * (share - claim.delta) + 0.5, 0.25), size * rest + 0.5
        bound = np.maximum(bound, np.log(gain / cost) - 3 * np.sqrt((size * share + 0.5) / gain**2 + 1 / cost))
    beyond = binomial.standard_errors_beyond(first, second, runs, claim)
    approximation: NDArray[np.float64] = np.where(bound > claim.epsilon, size + bound, beyond)  # fewer errors than runs
    return approximation
