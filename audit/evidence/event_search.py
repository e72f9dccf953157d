"""Learns an event for an attack that names none, on training runs that do not judge.

One half of the training runs proposes events, and the other half chooses among them. The verdict needs fresh runs, so
the choice uses none of α, for any number of proposals. The proposals are: frequent outcomes; sets of outcomes that
occur only in one world, or more often in it; the same of a text that is a part of the outcome; bounds on every feature
of the parts of the outcome and of the numbers read from them (the features include their bits, where floats leak), and
on sums and differences of parts; and bounds on the score of a logistic regression over these features, or over the
numbers of all parts: small losses of independent parts add up. Where runs are many, also bounds on two or three
features, and the characters of texts. Of many parts only those are used whose distributions in
the two worlds lie furthest apart. After Bichsel, Steffen, Bogunovic, Vechev 2021 ("DP-Sniper", IEEE S&P), who learn a
classifier and threshold it at a target probability.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.events import AllOf, Category, Event, Learned, OneOf, Term
from subnormal.attacks.core.outcome_features import FEATURES, columns_of
from subnormal.attacks.core.outcome_paths import Column, PartValues, Path, part, paths
from subnormal.attacks.core.outcome_readings import FORM, Reading, characters, counted_items
from subnormal.attacks.core.outcome_relations import RELATIONS, relations
from subnormal.audit.evidence import half_lines
from subnormal.audit.evidence.joint_values import Joint, furthest_apart
from subnormal.audit.evidence.outcome_sets import Tallies, Worlds, of_outcomes, of_texts, tallies
from subnormal.audit.evidence.rules import rules
from subnormal.audit.statistics import binomial, logistic_regression
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.privacy import Claim

LEARNING_SHARE = 1 / 4  # of a row's runs, to learn an event on
RUNS_MAX = 1 << 18  # of each world: more runs teach little, and all are held in memory
TAIL = 1e-3  # of the intervals that rank events: small, so that the best of many events is not chosen by chance
PARTS_MAX = 16  # parts of an outcome that are used
LOOK = 1024  # runs of each world by which these are chosen
COMPOSITE_MARGIN = 0.2  # nats (or one standard error) by which several features or values must exceed a single one
MANY = 1024  # runs of a half of each world, from which on features are joined, parts related, and texts spelled
FEW = 512  # the same for an event that will judge: a first look has less time
SUMMED_PARTS = 128  # parts of an outcome that a regression on their numbers uses
REGRESSION_PARTS = 4  # parts of an outcome that it uses
RELATED_PARTS = 4  # so many floats are related on few runs too, in so many ways
JOINT_PARTS = 20  # parts, and what is counted of them, whose values are taken together
BENT_PARTS = 4  # of few parts, the score of a regression has more bends

Proposal = Learned | AllOf | OneOf | Category
Halves: TypeAlias = "tuple[_Half, _Half]"


def with_event(
    mechanism: Mechanism[Any, Any, Any],
    attack: Attack[Any, Any, Any],
    *,
    seed: int,
    runs: int,
    label: str = "learn",
) -> Attack[Any, Any, Any]:
    """Return the attack with its own event, or with one learned on `runs` runs of each world, at most `RUNS_MAX`.

    These runs do not judge: they use separate streams of random bits, named by the label.
    Raises ValueError for fewer than 2 runs.
    """
    if attack.event is not None:
        return attack
    if runs < 2:
        raise ValueError(f"runs to learn an event on must be at least 2, got {runs}")
    data, runs = attack.worlds(), min(runs, RUNS_MAX)
    outcomes = [
        mechanism.sample(
            one, attack.parameters, seeded_bits(seed, attack.name, mechanism.name, f"{label}-{world}"), runs
        )
        for world, one in zip(("in", "out"), data, strict=True)
    ]
    claim = mechanism.claim(attack.parameters, *data)
    return dataclasses.replace(attack, event=learn((outcomes[0], outcomes[1]), claim))


def learn(outcomes: Worlds, claim: Claim, *, features: Sequence[str] = tuple(FEATURES)) -> Event:
    """Return the strongest event against the claim, see `learn_each`."""
    return learn_each(outcomes, [claim], features=features)[0]


def learn_each(outcomes: Worlds, claims: Sequence[Claim], *, features: Sequence[str] = tuple(FEATURES)) -> list[Event]:
    """Return the strongest event against each claim, of those proposed by the first half of the outcomes.

    features: the names of those that events may bound, except for those of a regression.

    The second half measures the strength (see `strength`). One of several features or values needs a margin.
    Without any proposal, the result is an event that never happens.
    """
    return learn_of(halves(outcomes, FEW), claims, features)


def learn_of(both: Halves, claims: Sequence[Claim], features: Sequence[str] = tuple(FEATURES)) -> list[Event]:
    """Return the events of `learn_each`, of outcomes that serve several calls."""
    training, validation = both
    return [_strongest(list(proposals(training, claim, features)), validation, claim) for claim in claims]


def learn_with_sum(outcomes: Worlds, claims: Sequence[Claim], features: Sequence[str]) -> tuple[list[Event], Event]:
    """Return the events of `learn_each`, and the strongest one of a regression against the first claim."""
    training, validation = halves(outcomes, MANY)
    proposed = [list(proposals(training, claim, features)) for claim in claims]
    events = [_strongest(of_claim, validation, claim) for of_claim, claim in zip(proposed, claims, strict=True)]
    return events, _strongest(list(filter(_is_sum, proposed[0])), validation, claims[0])


def halves(outcomes: Worlds, many: int) -> Halves:
    """Return the half of the outcomes that proposes events, and the one that chooses among them.

    many: runs of a half of each world, from which on events of several parts or features are proposed.
    """
    half = min(len(world) for world in outcomes) // 2
    first, second = (
        _Half((outcomes[0][cut], outcomes[1][cut]), half >= many) for cut in (slice(None, half), slice(half, None))
    )
    return first, second


def _is_composite(event: Proposal) -> bool:
    """Return whether an event has several features or values, which fit the runs that proposed it."""
    values = event.values if isinstance(event, Category) else event
    return isinstance(event, AllOf) or _is_sum(event) or (isinstance(values, OneOf) and len(values.outcomes) > 1)


def _is_sum(event: Proposal) -> bool:
    return isinstance(event, Learned) and len(event.terms) > 1


def _strongest(proposed: list[Proposal], validation: _Half, claim: Claim) -> Event:
    if not proposed:
        return OneOf(())
    counts = validation.counts(proposed)
    over, errors = strength(counts[0], counts[1], validation.runs, claim)
    composite = np.array(list(map(_is_composite, proposed)))
    over = np.where(
        composite & (over > 0), np.maximum(over - COMPOSITE_MARGIN, 1e-6), over
    )  # still above every event without a proof
    errors = errors - composite
    return proposed[max(range(len(proposed)), key=lambda place: (over[place], errors[place]))]


class _Half:
    """A half of the outcomes of two worlds. What is computed of them once serves every claim."""

    def __init__(self, outcomes: Worlds, many: bool) -> None:
        self.outcomes, self.runs = outcomes, (len(outcomes[0]), len(outcomes[1]))
        self.many = many  # whether there are enough runs for events of several parts or features
        self.parts: tuple[dict[Path, PartValues], dict[Path, PartValues]] = ({}, {})
        self.columns = columns_of(outcomes[0], self.parts[0]), columns_of(outcomes[1], self.parts[1])
        self._cuts: dict[tuple[Path, str], half_lines.Cuts | None] = {}
        self._fits: dict[bool, list[tuple[tuple[Term, ...], half_lines.Cuts | None]]] = {}

    def bounds(self, path: Path, feature: str, claim: Claim) -> Iterator[Learned]:
        """Yield the best bounds on a feature of a part."""
        if (path, feature) not in self._cuts:
            self._cuts[path, feature] = half_lines.cut((self.columns[0](path, feature), self.columns[1](path, feature)))
        return half_lines.best((Term(feature, path),), self._cuts[path, feature], claim)

    def fits(self, with_bits: bool) -> list[tuple[tuple[Term, ...], half_lines.Cuts | None]]:
        """Return the terms and the cuts of regressions: on the numbers of all parts, and on all features of some."""
        if with_bits not in self._fits:
            self._fits[with_bits] = [
                (terms, half_lines.cut(self._scores(terms))) for terms in self._regressions(with_bits)
            ]
        return self._fits[with_bits]

    def _regressions(self, with_bits: bool) -> Iterator[tuple[Term, ...]]:
        numbers = _numbers(self.places)
        bends = logistic_regression.BENDS if len(numbers) <= BENT_PARTS else logistic_regression.HALVES
        yield logistic_regression.terms(self.columns, numbers, ["value"], bends)
        if with_bits:
            yield logistic_regression.terms(self.columns, numbers[:REGRESSION_PARTS])
        if self.many and len(self.ordered) > len(self.places):
            yield logistic_regression.terms(
                self.columns, _numbers(self.ordered)[:SUMMED_PARTS], ["value"], logistic_regression.HALVES
            )

    def _scores(self, terms: tuple[Term, ...]) -> tuple[Column, Column]:
        score = Learned(terms, -np.inf, np.inf).score
        return (score(self.columns[0]), score(self.columns[1])) if terms else (np.zeros(0), np.zeros(0))

    @cached_property
    def ordered(self) -> list[Path]:
        """The paths of all parts; of many, those first whose distributions in the two worlds lie furthest apart."""
        return _ordered_paths(self.outcomes)

    @cached_property
    def places(self) -> list[Path]:
        """The paths of the parts that are used, and of the outcome."""
        return self.ordered[: PARTS_MAX + (() in self.ordered)]

    @cached_property
    def relations(self) -> list[Path]:
        """The paths of what relates the numbers of tuples to each other; of many, those furthest apart."""
        width = sum(len(path) == 1 and isinstance(path[0], int) for path in self.ordered)
        found: list[Path] = [(name,) for name in relations(width, 3 if self.many else 2)]
        if not found or (not self.many and (width > RELATED_PARTS or self.parts_at((0,))[0].items.dtype.kind != "f")):
            return []
        return self._furthest(found)

    @cached_property
    def spelled(self) -> list[Path]:
        """The paths of the characters of texts, and of the counts of the items of tuples; of many, those furthest
        apart."""
        if not self.many:
            return []
        found = [(*path, name) for path in self.places for name in self._characters(path)]
        around = dict.fromkeys(path[:-1] for path in self.places if path and isinstance(path[-1], int))
        return [*found, *self._furthest([(*path, name) for path in around for name in self._items(path)])]

    def _characters(self, path: Path) -> list[Reading]:
        texts = {one for world in self.parts_at(path) for one in world.items[:LOOK].tolist() if isinstance(one, str)}
        return characters(texts) if len(texts) > half_lines.SINGLE_VALUES else []

    def _items(self, path: Path) -> list[Reading]:
        values = [one for world in self.parts_at(path) for one in world.items[:LOOK].tolist()]
        return counted_items(tuple(one) for one in values if isinstance(one, tuple | list))

    def _furthest(self, found: list[Path]) -> list[Path]:
        """Return the paths of the numbers that lie furthest apart, of many."""
        if not found:
            return []
        values = [np.concatenate([world(path, "value")[:LOOK] for world in self.columns]) for path in found]
        order = np.argsort(-_kolmogorov(np.stack(values, axis=1), min(LOOK, self.runs[0])), kind="stable")
        return [found[place] for place in order[: PARTS_MAX if self.many else RELATED_PARTS]]

    @cached_property
    def tallies(self) -> Tallies:
        """How often each outcome occurs in each world."""
        return tallies(self.outcomes)

    @cached_property
    def atoms(self) -> list[OneOf]:
        """Events of single outcomes and of sets of them."""
        return list(of_outcomes(*self.tallies))

    @cached_property
    def categories(self) -> list[Category]:
        """Events of the texts, and of sets of texts, that a part of the outcome is."""
        parts = [path for path in (*self.places, *self.spelled) if path]
        return [Category((path,), one) for path in parts for one in of_texts(self.parts_at(path))]

    @cached_property
    def joint_values(self) -> list[Joint]:
        """Parts whose values, taken together, tell the worlds apart."""
        if not self.many:
            return []
        read = [path for path in (*self.relations, *self.spelled) if path[-1] not in RELATIONS]
        parts = [path for path in self.places if path]
        return furthest_apart([(path, self.parts_at(path)) for path in [*parts, *read][:JOINT_PARTS]])

    @cached_property
    def rules(self) -> list[AllOf]:
        """Events of two or three features."""
        return list(rules(self.columns, [path for path in self.places if path])) if self.many else []

    def parts_at(self, path: Path) -> tuple[PartValues, PartValues]:
        """Return a part of the outcomes of each world."""
        return part(self.outcomes[0], path, self.parts[0]), part(self.outcomes[1], path, self.parts[1])

    def counts(self, events: list[Proposal]) -> NDArray[np.int64]:
        """Return how often each event happens, shape (2, events)."""
        return np.array([self._count(event) for event in events], dtype=np.int64).T

    def _count(self, event: Proposal) -> tuple[int, int]:
        if isinstance(event, OneOf):
            keys = list(map(identity, event.outcomes))
            first, second = (sum(tally[key] for key in keys) for tally in self.tallies[:2])
        elif isinstance(event, Category):
            first, second = (
                int(event.holds(world).sum()) for world in zip(*map(self.parts_at, event.paths), strict=True)
            )
        else:
            first, second = (int(event.among(columns).sum()) for columns in self.columns)
        return first, second


def strength(
    first: NDArray[np.int64], second: NDArray[np.int64], runs: tuple[int, int], claim: Claim
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the strength of events against a claim, as two keys for sorting, each of shape (events,).

    The first is the excess of the lower bound on ε over the claimed ε, or 0. The second, for events without an excess,
    is the number of standard errors by which the shares exceed the claim.
    """
    ends = [binomial.clopper_pearson_all(world, size, TAIL) for world, size in zip((first, second), runs, strict=True)]
    (low_in, high_in), (low_out, high_out) = ((low.tolist(), high.tolist()) for low, high in ends)
    bounds_in, bounds_out = zip(low_in, high_in, strict=True), zip(low_out, high_out, strict=True)
    shown = [binomial.epsilon_lower(*pair, claim.delta) for pair in zip(bounds_in, bounds_out, strict=True)]
    beyond = binomial.standard_errors_beyond(first, second, runs, claim)
    return np.maximum(0.0, np.array(shown) - claim.epsilon), beyond


def proposals(half: _Half, claim: Claim, features: Sequence[str] = tuple(FEATURES)) -> Iterator[Proposal]:
    """Yield the best two events of each feature, outcomes, sets of outcomes, rules, and those of regressions."""
    for path in half.places:
        for feature in features:
            yield from half.bounds(path, feature, claim)
    for path in (*half.relations, *half.spelled):
        yield from half.bounds(path, "value", claim)
    yield from half.atoms
    yield from half.categories
    for joint in half.joint_values:
        yield from joint.events(claim)
    yield from half.rules
    yield from _of_regressions(half, claim, features)


def _of_regressions(half: _Half, claim: Claim, features: Sequence[str]) -> Iterator[Proposal]:
    """Yield the best bounds on the scores of regressions."""
    with_bits = len(features) == len(FEATURES) and half.many
    for terms, cuts in half.fits(with_bits):
        yield from half_lines.best(terms, cuts, claim)


def _numbers(paths: list[Path]) -> list[Path]:
    """Return the paths of numbers inside of outcomes, in place of the texts that they are read from; or the outcome."""
    parts = [path for path in paths if path] or paths
    return [path for path in parts if path[-1:] != (FORM,) and (*path, FORM) not in parts]


def _ordered_paths(outcomes: Worlds) -> list[Path]:
    """Return the paths of the outcomes' parts; of more than `PARTS_MAX`, those first that differ most between worlds.

    The distance is Kolmogorov's, of some runs of each world.
    """
    all_places = paths(*outcomes)
    whole, places = ([path for path in all_places if bool(path) is inside] for inside in (False, True))
    if len(places) <= PARTS_MAX:
        return [*whole, *places]
    one, other = (world[:LOOK] for world in outcomes)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.shape[1:] == other.shape[1:]:
        table = np.concatenate([one, other])
    else:
        known: tuple[dict[Path, PartValues], ...] = ({}, {})
        both = [[part(world, path, of).items for world, of in zip((one, other), known, strict=True)] for path in places]
        table = np.stack([_ordered([*first.tolist(), *second.tolist()]) for first, second in both], axis=1)
    order = np.argsort(-_kolmogorov(table, len(one)), kind="stable")
    return [*whole, *(places[place] for place in order)]


def _ordered(items: list[Any]) -> NDArray[Any]:
    """Return numbers that are ordered as numbers, where all items are, and else as their texts."""
    if set(map(type, items)) <= {int, float}:
        return np.array(items, dtype=np.float64)
    ranks = {text: rank for rank, text in enumerate(sorted(set(map(repr, items))))}
    return np.array([ranks[repr(item)] for item in items], dtype=np.float64)


def _kolmogorov(table: NDArray[Any], first: int) -> NDArray[np.float64]:
    """Return the Kolmogorov distance between the first rows and the others, of each column."""
    order = np.argsort(table, axis=0, kind="stable")
    ordered = np.take_along_axis(table, order, axis=0)
    apart = np.abs(np.where(order < first, 1 / first, -1 / (len(table) - first)).cumsum(axis=0))
    tied = (ordered[1:] == ordered[:-1]) | ((ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1]))
    apart[:-1][tied] = 0.0
    return np.asarray(apart.max(axis=0))
