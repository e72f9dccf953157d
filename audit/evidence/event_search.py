"""Finding the event when an attack names none: learned on runs that judge nothing.

Half of the training runs proposes events, the other half chooses among them; a verdict needs fresh runs, so
the choice costs nothing of α, however many events were tried. Proposed are: outcomes that are frequent, sets of
outcomes seen in one world only or more often there, bounds on every feature of every part of the outcome (its bits
among them, since that is where floats leak), and bounds on the score of a logistic regression over those features.
After Bichsel, Steffen, Bogunovic, Vechev 2021 ("DP-Sniper", IEEE S&P), who learn a classifier and threshold it at a
target probability.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.events import Event, Learned, OneOf, Term
from subnormal.attacks.core.outcome_features import FEATURES, columns_of
from subnormal.attacks.core.outcome_paths import Column, paths, rows
from subnormal.audit.statistics import binomial, logistic_regression
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes
from subnormal.mechanisms.core.outcome_identity import identity, patterns
from subnormal.mechanisms.privacy import Claim

LEARNING_SHARE = 1 / 4  # of a row's runs, to learn an event on
RUNS_MAX = 1 << 18  # of each world: more would teach little, and are held in memory
TAIL = 1e-3  # of the intervals that rank events: the best of many is not the luckiest
MASSES = tuple(2.0**-power for power in range(1, 13))  # target masses: the share of one world that bounds are to hold
SINGLE_VALUES = 64  # distinct values of a feature up to which each of them is a bound, and an event
FREQUENT = 16  # atoms proposed
SEEN_MAX = 1 << 18  # outcomes of a set
PLAIN = 0.2  # nats (or one standard error) by which a regression must beat an event that can be read at a glance
REGRESSION_LEAST = 1024  # runs below which there is no regression

Worlds = tuple[Outcomes, Outcomes]


def with_event(
    mechanism: Mechanism[Any, Any, Any],
    attack: Attack[Any, Any, Any],
    *,
    seed: int,
    runs: int,
    label: str = "learn",
    regress: bool = True,
) -> Attack[Any, Any, Any]:
    """Return the attack with an event: its own where it names one, else one learned on `runs` runs of each world,
    at most `RUNS_MAX`.

    Those runs judge nothing: they come from streams of their own, named by the label.
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
    return dataclasses.replace(attack, event=learn((outcomes[0], outcomes[1]), claim, regress=regress))


def learn(outcomes: Worlds, claim: Claim, *, regress: bool = True) -> Event:
    """Return the event that speaks loudest against the claim, of those learned on the first half of the outcomes.

    Loudest on the second half: see `strength`; a regression must be louder by a margin. Where the outcomes offer
    nothing to look for, an event that never happens.
    """
    half = min(len(world) for world in outcomes) // 2
    training, validation = ((outcomes[0][cut], outcomes[1][cut]) for cut in (slice(None, half), slice(half, None)))
    proposed = list(proposals(training, claim, regress=regress))
    if not proposed:
        return OneOf(())
    counts = [_counts(proposed, world) for world in validation]
    over, errors = strength(counts[0], counts[1], (len(validation[0]), len(validation[1])), claim)
    composite = np.array([isinstance(event, Learned) and len(event.terms) > 1 for event in proposed])
    over = np.where(composite & (over > 0), np.maximum(over - PLAIN, 1e-6), over)  # more than nothing all the same
    errors = errors - composite
    return proposed[max(range(len(proposed)), key=lambda place: (over[place], errors[place]))]


def _counts(events: list[Learned | OneOf], outcomes: Outcomes) -> NDArray[np.int64]:
    columns, tally = columns_of(outcomes), _tally(outcomes, {})
    return np.array(
        [
            event.holds(event.score(columns)).sum()
            if isinstance(event, Learned)
            else sum(tally[identity(one)] for one in event.outcomes)
            for event in events
        ],
        dtype=np.int64,
    )


def strength(
    first: NDArray[np.int64], second: NDArray[np.int64], runs: tuple[int, int], claim: Claim
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how loudly the counts of events speak against a claim, to compare by, each of shape (events,).

    First by how much the lower bound on ε exceeds the claimed one, or 0; among those where it does not, by how many
    standard errors the shares lie beyond what the claim allows.
    """
    ends = [binomial.clopper_pearson_all(world, size, TAIL) for world, size in zip((first, second), runs, strict=True)]
    (low_in, high_in), (low_out, high_out) = ((low.tolist(), high.tolist()) for low, high in ends)
    bounds_in, bounds_out = zip(low_in, high_in, strict=True), zip(low_out, high_out, strict=True)
    shown = [binomial.epsilon_lower(*pair, claim.delta) for pair in zip(bounds_in, bounds_out, strict=True)]
    beyond = binomial.standard_errors_beyond(first, second, runs, claim)
    return np.maximum(0.0, np.array(shown) - claim.epsilon), beyond


def proposals(outcomes: Worlds, claim: Claim, *, regress: bool = True) -> Iterator[Learned | OneOf]:
    """Give the events worth a look: the best two of each feature, atoms, sets of atoms, and the regression's."""
    columns = columns_of(outcomes[0]), columns_of(outcomes[1])
    places = list(dict.fromkeys((*paths(outcomes[0]), *paths(outcomes[1]))))
    for path in places:
        for feature in FEATURES:
            values = columns[0](path, feature), columns[1](path, feature)
            yield from bounds((Term(feature, path),), values, claim)
    yield from _of_atoms(outcomes)
    if regress and len(outcomes[0]) >= REGRESSION_LEAST:
        terms = logistic_regression.terms(columns, places)
        if terms:
            score = Learned(terms, -np.inf, np.inf).score
            yield from bounds(terms, (score(columns[0]), score(columns[1])), claim)


def bounds(terms: tuple[Term, ...], values: tuple[Column, Column], claim: Claim) -> Iterator[Learned]:
    """Give the half-line of a score that tells the worlds apart best, and, where values are few, the best single value.

    values: the score of each outcome of the two worlds. A half-line begins at a quantile of one of the worlds that is
    one of the target masses, or at any value where they are few.
    """
    runs = len(values[0]), len(values[1])
    ordered = [np.sort(world[~np.isnan(world)]) for world in values]
    cuts, masses = _cuts(ordered)
    if len(cuts) == 0 or (len(cuts) == 1 and runs[0] == len(ordered[0]) and runs[1] == len(ordered[1])):
        return
    up_to = [np.searchsorted(world, cuts, side="right") for world in ordered]
    below = [np.searchsorted(world, cuts, side="left") for world in ordered]
    counts = [
        np.concatenate([until - before, until, len(world) - before])
        for world, until, before in zip(ordered, up_to, below, strict=True)
    ]
    single, lower, upper = _promise(counts[0], counts[1], runs, claim).reshape(3, len(cuts))
    if masses[0] is None:  # first, because the simpler of two equally telling events is kept
        value = float(cuts[::-1][int(single[::-1].argmax())])  # of equal ones the last: a refusal, not every number
        yield Learned(terms, value, value)
    if lower.max() >= upper.max():
        best = int(lower.argmax())
        yield Learned(terms, -np.inf, float(cuts[best]), masses[best])
    else:
        best = int(upper.argmax())
        yield Learned(terms, float(cuts[best]), np.inf, masses[best])


def _cuts(ordered: list[Column]) -> tuple[Column, list[float | None]]:
    """Return where half-lines may begin, and the mass that each was chosen for (None: it is one of few values)."""
    few = _few_values(ordered)
    if few is not None:
        return few, [None] * len(few)
    places = [(world, mass, share) for world in ordered if len(world) for mass in MASSES for share in {mass, 1 - mass}]
    cuts = np.array([world[int(share * (len(world) - 1))] for world, _, share in places])
    return cuts, [mass for _, mass, _ in places]


def _few_values(ordered: list[Column]) -> Column | None:
    """Return the distinct values of both worlds where they are at most `SINGLE_VALUES`."""
    both: list[Column] = []
    for world in ordered:
        distinct = world[np.append(True, world[1:] != world[:-1])] if len(world) else world
        if len(distinct) > SINGLE_VALUES:
            return None
        both.append(distinct)
    return np.unique(np.concatenate(both))


def _promise(
    first: NDArray[np.int64], second: NDArray[np.int64], runs: tuple[int, int], claim: Claim
) -> NDArray[np.float64]:
    """Return an approximation of `strength` for many events at once: to propose by, not to choose by.

    The lower bound on ε is the log ratio less three standard errors, in either direction, of the event or of its
    complement; it comes before all events that only have standard errors to show.
    """
    bound = np.full(len(first), -np.inf)
    one, other, size = first / runs[0], second / runs[1], min(runs)
    for share, rest in ((one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one)):
        gain, cost = np.maximum(size * (share - claim.delta) + 0.5, 0.25), size * rest + 0.5
        bound = np.maximum(bound, np.log(gain / cost) - 3 * np.sqrt((size * share + 0.5) / gain**2 + 1 / cost))
    beyond = binomial.standard_errors_beyond(first, second, runs, claim)
    promise: NDArray[np.float64] = np.where(bound > claim.epsilon, size + bound, beyond)  # fewer errors than runs
    return promise


def _of_atoms(outcomes: Worlds) -> Iterator[OneOf]:
    """Give the most telling outcomes one by one, and the sets of those likelier in a world, and seen in it alone."""
    named: dict[Hashable, Any] = {}
    first, second = (_tally(world, named) for world in outcomes)
    apart = sorted(named, key=lambda one: (-abs(first[one] - second[one]), repr(named[one])))
    for one in apart[:FREQUENT]:
        if first[one] + second[one] > 1:
            yield OneOf((named[one],), by_type=True)
    for here, there in ((first, second), (second, first)):
        alone = [named[one] for one in here if one not in there]
        likelier = [named[one] for one, count in here.items() if count > there[one]]
        for chosen in (alone, likelier):
            if 1 < len(chosen) <= SEEN_MAX:
                yield OneOf(tuple(chosen), by_type=True)


def _tally(outcomes: Outcomes, named: dict[Hashable, Any]) -> Counter[Hashable]:
    """Count outcomes by their identity, and note in `named` whose it is."""
    if isinstance(outcomes, np.ndarray) and outcomes.ndim == 1 and outcomes.dtype.kind in "iuf":
        _, first, counts = np.unique(patterns(outcomes), return_index=True, return_counts=True)
        distinct = outcomes[first].tolist()
        keys = list(map(identity, distinct))
        found = Counter(dict(zip(keys, counts.tolist(), strict=True)))
    else:
        distinct = rows(outcomes)
        keys = list(map(identity, distinct))
        found = Counter(keys)
    named.update(zip(keys, distinct, strict=True))
    return found
