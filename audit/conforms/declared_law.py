"""The law that a sampler declares at one input, and the events that judge it: all are fixed before any run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from subnormal.audit.check.function import value_of
from subnormal.audit.statistics.conformance import Chances, log_e_values, log_mean
from subnormal.audit.text import short
from subnormal.audit.values.distance import exact
from subnormal.audit.values.outcomes import atoms_as_outcomes
from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.outcome_identity import identity

ATOMS = 48  # events of one outcome each: the likeliest ones
QUANTILES = 15  # events of all numbers up to one, where all outcomes are numbers
DIGITS = 1e-9  # relative error of the floats of a mapping
LARGEST = 1 << 20  # atoms of a law

Laws = Callable[[Any], "Law[Any] | Mapping[Any, float | Fraction]"]


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outcomes, with bounds on its probability by the law. atoms: None is every outcome that it leaves out."""

    words: str
    atoms: frozenset[Hashable] | None
    chances: Chances


@dataclass(slots=True)
class Judged:
    """One input: its law, its events, and what was seen. singly: a batch raised, and its runs are drawn one by one."""

    data: Any
    law: Law[Any]
    events: list[Event]
    known: frozenset[Hashable]
    seen: Counter[Hashable]
    runs: int = 0
    log_e_value: float = 0.0
    strongest: int = 0
    singly: bool = False


def judged_input(data: Any, law: Laws) -> Judged:
    """Return an input with its law and the events that judge it.

    Raises TypeError where the law is neither a Law nor a mapping, and ValueError where it names too many outcomes.
    """
    made = value_of("law", law, data)
    if not isinstance(made, Law | Mapping):
        raise TypeError(f"law(data) must return a Law or a mapping of outcomes to probabilities, got {made!r}")
    named = made.atoms if isinstance(made, Law) else list(made)
    if len(named) > LARGEST:
        raise ValueError(f"law(data) has {len(named):,} atoms, more than {LARGEST:,}")
    atoms = atoms_as_outcomes(named)
    declared = replace(made, atoms=atoms) if isinstance(made, Law) else _of_mapping(atoms, made)
    known = frozenset(identity(atom) for atom in atoms)
    return Judged(data, declared, events(declared), known, Counter())


def _of_mapping(atoms: Sequence[Any], chances: Mapping[Any, float | Fraction]) -> Law[Any]:
    """Return the law of a mapping, whose keys are these outcomes.

    Raises ValueError where it holds no probabilities, or their sum is above 1, and TypeError for what is no number.
    """
    stated = [_chance(chance) for chance in chances.values()]
    if not stated or not all(0 <= chance <= 1 for chance, _ in stated):
        raise ValueError("law(data) must map outcomes to probabilities between 0 and 1")
    scale = 1 << 200
    low = [math.floor(max(Fraction(0), Fraction(chance) - around) * scale) for chance, around in stated]
    high = [math.ceil((Fraction(chance) + around) * scale) for chance, around in stated]
    total, is_exact = sum(Fraction(chance) for chance, _ in stated), not any(around for _, around in stated)
    if sum(low) > scale:
        more = short(float(total - 1))
        raise ValueError(f"law(data) must map outcomes to probabilities whose sum is 1 at most, not 1 + {more}")
    rest = Fraction(0) if is_exact and total == 1 else max(Fraction(0), 1 - Fraction(sum(low), scale))
    return Law(atoms, range(1, len(atoms) + 1), low, high, scale, rest)


def _chance(stated: Any) -> tuple[Fraction | float, Fraction]:
    """Return a probability, and how far the true one may lie from it: a short float has fewer digits."""
    try:
        chance = exact(stated)
    except TypeError as error:
        raise TypeError(f"law(data) must map outcomes to probabilities: {error}") from None
    if isinstance(stated, Fraction) or not isinstance(chance, Fraction):
        return chance, Fraction(0)
    digits = float(np.finfo(stated.dtype).eps) if isinstance(stated, np.floating) else 0.0
    return chance, chance * Fraction(max(DIGITS, digits))


def events(law: Law[Any]) -> list[Event]:
    """Return the events of a law: its likeliest outcomes, numbers up to a quantile, and whatever it leaves out."""
    counts = law.counts()
    low, high = (np.repeat(integers(side).astype(object), counts) for side in (law.low, law.high))
    atoms = list(law.atoms)
    likeliest = sorted(range(len(atoms)), key=lambda place: -high[place])[:ATOMS]
    made = [_event(f"the outcome is {atoms[i]!r}", law, [i], low, high) for i in likeliest]
    if all(isinstance(atom, int | float | np.integer | np.floating) for atom in atoms):
        order = np.argsort(np.array(atoms, dtype=object), kind="stable").tolist()
        sums, total = np.cumsum(low[order]), int(sum(low))  # Python's integers: 64 bits may not hold them
        for part in range(1, QUANTILES + 1):
            last = int(np.searchsorted(sums, total * part // (QUANTILES + 1)))
            made.append(_event(f"the outcome is at most {atoms[order[last]]!r}", law, order[: last + 1], low, high))
    outside = max(0.0, 1 - _up(Fraction(int(sum(high)), law.denominator)))
    made.append(Event("the outcome is none of the law's", None, (outside, _up(law.rest))))
    return made


def _event(words: str, law: Law[Any], places: list[int], low: Any, high: Any) -> Event:
    least, most = (Fraction(sum(int(side[place]) for place in places), law.denominator) for side in (low, high))
    atoms = frozenset(identity(law.atoms[place]) for place in places)
    return Event(words, atoms, (math.nextafter(float(least), 0.0) if least else 0.0, _up(most)))


def _up(chance: Fraction) -> float:
    return min(1.0, math.nextafter(float(chance), 2.0)) if chance else 0.0


def reachable(one: Judged, runs: int) -> float:
    """Return the largest ln of wealth that so many runs of an input can show, whatever their outcomes are.

    The wealth of an event of a known chance is convex in its count. So the mean of all is largest where all runs have
    one outcome: one for each set of events that may hold it, or one that the law does not have (None).
    """
    outcomes, covered = list[Hashable]([None]), set[Hashable]()
    for atoms in (*(event.atoms for event in one.events if event.atoms is not None), one.known):
        outcomes += list(atoms - covered)[:1]
        covered |= atoms
    chances = [event.chances for event in one.events]
    counts = (
        [runs * (outcome is None if event.atoms is None else outcome in event.atoms) for event in one.events]
        for outcome in outcomes
    )
    return max(log_mean(log_e_values(chances, some, runs)) for some in counts)
