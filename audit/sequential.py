"""Runs until a claim is decided: the e-process of `audit.betting`, looked at after every batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from attacks.attack import Attack
from audit import betting, learning
from audit.betting import PairCounts, State
from audit.report import SequentialEvidence, Verdict
from audit.sampled import BATCH
from mechanisms.bits import seeded_bits
from mechanisms.interface import Mechanism

FIRST = 64  # runs of the first batch, which bets nothing; each batch is as large as all before it, up to a largest size
SLACK = 1e-6  # nats of wealth beyond 1/α that are asked for: more than the rounding errors of all sums
TRAINING = 1 << 16  # runs of each world to learn an event on, at the most, and an eighth of all at the most

AnyAttack = Attack[Any, Any, Any]
AnyMechanism = Mechanism[Any, Any, Any]


def until_decided(
    mechanism: AnyMechanism,
    attack: AnyAttack,
    *,
    seed: int,
    runs_max: int,
    alpha: float,
    batch: int = BATCH,
    look: Callable[[SequentialEvidence], None] = lambda evidence: None,
) -> SequentialEvidence:
    """Run the mechanism in both worlds until the claim is refuted, or `runs_max` runs of each world are spent.

    An attack without an event has one learned first, on at most an eighth of runs_max, and on runs that judge nothing.
    batch: the largest. look(evidence) is called after every batch with what is known by then.
    VIOLATED: the e-value reached 1/α. UNDERPOWERED: with so many runs even a perfect distinguisher would not have.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")
    if runs_max < 1:
        raise ValueError(f"runs_max must be at least 1, got {runs_max}")
    training = 0
    if attack.event is None:
        training = min(TRAINING, max(2, runs_max // 8))
        attack = learning.with_event(mechanism, attack, seed=seed, runs=training)
    if runs_max <= training:
        raise ValueError(f"runs_max must leave a run to judge by, got {runs_max}")
    claim = mechanism.claim(attack.parameters, *attack.worlds())
    state, looks = State(claim), [(0, 0.0)]
    for number, size in enumerate(batches(runs_max - training, batch)):
        state = betting.update(state, count_pairs(mechanism, attack, seed, number, size))
        looks.append((state.seen.runs, state.log_e_value))
        evidence = _evidence(state, attack, alpha, (runs_max, training, batch), looks)
        look(evidence)
        if evidence.verdict is Verdict.VIOLATED:
            break
    return evidence


def batches(runs: int, largest: int) -> Iterator[int]:
    """Give the sizes of the batches of so many runs: 64, then as many as before, up to the largest.

    >>> list(batches(1000, 256))
    [64, 64, 128, 256, 256, 232]
    """
    done = 0
    while done < runs:
        size = min(max(FIRST, done), largest, runs - done)
        yield size
        done += size


def count_pairs(mechanism: AnyMechanism, attack: AnyAttack, seed: int, number: int, runs: int) -> PairCounts:
    """Return the counts of one batch: a pure function of its arguments for a seeded mechanism."""
    if attack.event is None:
        raise ValueError(f"attack {attack.name!r} names no event")
    happened = []
    for world, data in zip(("pairs-in", "pairs-out"), attack.worlds(), strict=True):
        bits = seeded_bits(seed, attack.name, mechanism.name, world, number)
        outcomes = mechanism.sample(data, attack.parameters, bits, runs)
        if len(outcomes) != runs:
            raise ValueError(f"{mechanism.name} returned {len(outcomes)} outcomes, not {runs}")
        happened.append(attack.event(outcomes))
    one, other = happened
    both, only_in, only_out = int((one & other).sum()), int((one & ~other).sum()), int((~one & other).sum())
    return PairCounts(both, only_in, only_out, runs - both - only_in - only_out)


def _evidence(
    state: State, attack: AnyAttack, alpha: float, plan: tuple[int, int, int], looks: list[tuple[int, float]]
) -> SequentialEvidence:
    runs_max, training, batch = plan
    needed = -math.log(alpha) + SLACK
    best = betting.reachable(runs_max - training - min(FIRST, batch), state.claim)  # the first batch bets nothing
    if state.log_e_value >= needed:
        verdict = Verdict.VIOLATED
    else:
        verdict = Verdict.UNDERPOWERED if best < needed else Verdict.NOT_REFUTED
    return SequentialEvidence(
        verdict=verdict,
        claim=state.claim,
        alpha=alpha,
        runs=state.seen.runs,
        runs_max=runs_max,
        training=training,
        log_e_value=state.log_e_value,
        event_in=state.seen.both + state.seen.only_in,
        event_out=state.seen.both + state.seen.only_out,
        event={} if attack.event is None else attack.event.to_json(),
        looks=tuple(looks),
    )
