"""Evidence by an e-process (`e_process`) that is inspected after every batch, until the claim is decided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.core.events import Event
from subnormal.audit.evidence.batches import Batch
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import PairCounts, State
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import AnyMechanism, Outcomes
from subnormal.mechanisms.privacy import Claim

FIRST = 64  # runs of the first batch, which bets nothing; each later batch doubles the runs, up to a largest size
SLACK = 1e-6  # nats of wealth required beyond 1/α: more than the rounding errors of all sums
LEARNING_MAX, LEARNING_SHARE = 1 << 16, 1 / 8  # runs of each world to learn an event on, and the share of all


class SequentialTest:
    """The test of a claim so far. Batches are counted in any order and inspected in the order of their numbers."""

    __slots__ = ("_alpha", "_event", "_looks", "_plan", "_state", "_waiting", "pairs")

    def __init__(self, claim: Claim, attack: AnyAttack, alpha: float, plan: tuple[int, int, int]) -> None:
        """plan: the largest number of runs, those that learned the event among them, and the largest batch.

        Raises ValueError for an α that is not between 0 and 1.
        """
        if not 0 < alpha < 1:
            raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
        self._alpha, self._plan = alpha, plan
        self._event = {} if attack.event is None else attack.event.to_json()
        self._state, self._looks = State(claim), [(0, 0.0)]
        self._waiting: dict[int, PairCounts] = {}  # counted batches whose predecessors are not counted yet
        self.pairs: list[PairCounts] = []  # of the batches inspected

    def todo(self) -> Iterator[Batch]:
        """Yield the batches that are not counted yet."""
        runs_max, training, largest = self._plan
        known = len(self.pairs)
        return (
            (number, size)
            for number, size in enumerate(batches(runs_max - training, largest))
            if number >= known and number not in self._waiting
        )

    def add(self, span: Sequence[Batch], counted: Sequence[PairCounts]) -> None:
        """Add the counts of some batches, and inspect them in order until the claim is decided."""
        self._waiting.update((number, pairs) for (number, _), pairs in zip(span, counted, strict=True))
        while not self.complete and len(self.pairs) in self._waiting:
            pairs = self._waiting.pop(len(self.pairs))
            self.pairs.append(pairs)
            self._state = e_process.update(self._state, pairs)
            self._looks.append((self._state.seen.runs, self._state.log_e_value))

    def reached(self, number: int) -> bool:
        """Whether all batches before this one have been inspected."""
        return len(self.pairs) >= number

    def to_json(self) -> dict[str, Any]:
        """Return the counts of the batches inspected, for `restore`."""
        return {"pairs": [[one.both, one.only_in, one.only_out, one.neither] for one in self.pairs]}

    def restore(self, stored: dict[str, Any]) -> None:
        """Inspect the counts that `to_json` returned for this row. Raises ValueError if they are of another row."""
        pairs = [PairCounts(*one) for one in stored["pairs"]]
        span = list(islice(self.todo(), len(pairs)))
        if [size for _, size in span] != [one.runs for one in pairs]:
            raise ValueError("the stored counts are not of this row")
        self.add(span, pairs)

    @property
    def counted(self) -> int:
        """Runs of each world that have been inspected."""
        return self._state.seen.runs

    @property
    def complete(self) -> bool:
        """Whether the claim is refuted, or all runs are spent."""
        spent = self.counted == self._plan[0] - self._plan[1]
        return spent or self.refuted

    @property
    def refuted(self) -> bool:
        """Whether the e-value has reached 1/α."""
        return self._state.log_e_value >= -math.log(self._alpha) + SLACK

    @property
    def evidence(self) -> SequentialEvidence:
        """The evidence of the batches so far."""
        runs_max, training, batch = self._plan
        betting = runs_max - training - min(FIRST, batch)  # the first batch bets nothing
        return evidence_of(
            self._state,
            self._looks,
            needed=-math.log(self._alpha) + SLACK,
            betting=betting,
            alpha=self._alpha,
            runs_max=runs_max,
            training=training,
            event=self._event,
        )


def evidence_of(
    state: State, looks: Sequence[tuple[int, float]], *, needed: float, betting: int, **of_the_test: Any
) -> SequentialEvidence:
    """Return the evidence of a test as it stands.

    VIOLATED: its wealth is at least `needed` (nats). UNDERPOWERED: as many bets as `betting`, from the wealth of the
    first look on, could not have shown it.
    of_the_test: the fields of the evidence that do not follow from its state.
    """
    reachable = looks[0][1] + e_process.reachable(betting, state.claim)
    weak = Verdict.UNDERPOWERED if reachable < needed else Verdict.NOT_REFUTED
    return SequentialEvidence(
        verdict=Verdict.VIOLATED if state.log_e_value >= needed else weak,
        runs=state.seen.runs,
        log_e_value=state.log_e_value,
        event_in=state.seen.both + state.seen.only_in,
        event_out=state.seen.both + state.seen.only_out,
        looks=tuple(looks),
        **of_the_test,
    )


def batches(runs: int, largest: int) -> Iterator[int]:
    """Yield the sizes of the batches: 64, then the sum of all before, up to the largest.

    >>> list(batches(1000, 256))
    [64, 64, 128, 256, 256, 232]
    """
    done = 0
    while done < runs:
        size = min(max(FIRST, done), largest, runs - done)
        yield size
        done += size


def count_pairs(mechanism: AnyMechanism, attack: AnyAttack, seed: int, number: int, runs: int) -> PairCounts:
    """Return the counts of one batch: a pure function of its arguments for a seeded mechanism.

    Raises ValueError if the attack has no event, or if the mechanism returns another number of outcomes.
    """
    if attack.event is None:
        raise ValueError(f"attack {attack.name!r} names no event")
    drawn = []
    for world, data in zip(("pairs-in", "pairs-out"), attack.worlds(), strict=True):
        bits = seeded_bits(seed, attack.name, mechanism.name, world, number)
        outcomes = mechanism.sample(data, attack.parameters, bits, runs)
        if len(outcomes) != runs:
            raise ValueError(f"{mechanism.name} returned {len(outcomes)} outcomes, not {runs}")
        drawn.append(outcomes)
    return pair_counts(attack.event, (drawn[0], drawn[1]))


def pair_counts(event: Event, drawn: tuple[Outcomes, Outcomes]) -> PairCounts:
    """Return how often an event happened in both worlds, in one of them, and in neither, of outcomes in pairs."""
    one, other = event(drawn[0]), event(drawn[1])
    both, only_in, only_out = int((one & other).sum()), int((one & ~other).sum()), int((~one & other).sum())
    return PairCounts(both, only_in, only_out, len(one) - both - only_in - only_out)
