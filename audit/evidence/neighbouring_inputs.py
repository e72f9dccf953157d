"""Search for neighbouring inputs: a screening of common pairs chooses the one whose outcomes differ most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.outcome_features import first_value
from subnormal.audit.evidence import event_search
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.input_patterns import Neighbours
from subnormal.mechanisms.core.mechanism import AnyMechanism

SCREENING = 1 / 4  # the share of the training runs for all pairs equally; the rest is for the pair chosen

Adjacent = Callable[[Any, Any], bool]


def among(pairs: Sequence[Neighbours], adjacent: Adjacent) -> tuple[Neighbours, ...]:
    """Return the pairs that a claim covers, in their order."""
    return tuple(pair for pair in pairs if adjacent(pair.data_in, pair.data_out))


@dataclass(frozen=True, slots=True)
class Screened:
    """Results of one pair's training runs, for the event learned on half of them.

    beyond: by how much the lower bound on ε exceeds the claim, and by how many standard errors the shares do.
    """

    pair: str
    runs: int
    beyond: float
    standard_errors: float


def learn_attack(
    mechanism: AnyMechanism, parameters: Any, pairs: Sequence[Neighbours], *, seed: int, runs: int
) -> tuple[AnyAttack, tuple[Screened, ...]]:
    """Return an attack with the pair whose outcomes differ most and its learned event, and the ranking of the pairs.

    runs: training runs of each world in all, at the most. A quarter is shared equally by the pairs, the rest goes to
    the pair chosen. The verdict needs fresh runs, so α is spent on one pair and one event, however many were tried.
    The pairs must be covered by the claim (see `among`).
    Raises ValueError where there are no pairs, or too few runs for them.
    """
    if not pairs:
        raise ValueError("pairs must not be empty: none of the patterns is covered by the claim")
    budget = int(SCREENING * runs) // len(pairs)
    if budget < 4:
        raise ValueError(f"runs must be at least {4 * len(pairs) / SCREENING:.0f} for {len(pairs)} pairs, got {runs}")
    attacks = [_attack(mechanism, parameters, pair) for pair in pairs]
    screened = [_screen(mechanism, attack, pair, seed, budget) for attack, pair in zip(attacks, pairs, strict=True)]
    best = max(range(len(pairs)), key=lambda place: (screened[place].beyond, screened[place].standard_errors))
    left = runs - budget * len(pairs)
    return event_search.with_event(mechanism, attacks[best], seed=seed, runs=left), tuple(screened)


def _screen(mechanism: AnyMechanism, attack: AnyAttack, pair: Neighbours, seed: int, runs: int) -> Screened:
    learned = event_search.with_event(mechanism, attack, seed=seed, runs=runs // 2, label="screen-learn", regress=False)
    assert learned.event is not None
    counts, size = [], runs - runs // 2
    for world, data in zip(("in", "out"), attack.worlds(), strict=True):
        bits = seeded_bits(seed, attack.name, mechanism.name, f"screen-{world}")
        counts.append(int(learned.event(mechanism.sample(data, attack.parameters, bits, size)).sum()))
    claim = mechanism.claim(attack.parameters, *attack.worlds())
    beyond, errors = event_search.strength(np.array(counts[:1]), np.array(counts[1:]), (size, size), claim)
    return Screened(pair.name, runs, float(beyond[0]), float(errors[0]))


def _attack(mechanism: AnyMechanism, parameters: Any, pair: Neighbours) -> AnyAttack:
    return Attack(
        name=f"neighbours@{pair.name}",
        family=mechanism.family,
        worlds=lambda: (pair.data_in, pair.data_out),
        parameters=parameters,
        event=None,
        statistic=first_value,
        breaks=(),
        source="Ding, Wang, Wang, Zhang, Kifer 2018 (CCS): patterns of neighbouring inputs",
        description=f"{pair.name}, with an event learned on runs that judge nothing",
        axis="first number of the outcome",
    )
