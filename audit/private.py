"""An assertion for other people's test suites: a release is tried in two worlds, and accused only with evidence.

Paste this into a test suite, with your own release in place of `noisy_count`:

>>> import random
>>> from audit import assert_private
>>> def noisy_count(records):
...     noise = random.expovariate(1.0) - random.expovariate(1.0)  # Laplace noise of scale 1
...     return round(len(records) + noise, 3)
>>> assert_private(noisy_count, [1, 1], [1], epsilon=1.0, runs=2_000)

The two inputs must be neighbours: they may differ by no more than what the claim protects, one record, say.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from attacks.events import Event
from audit import counting, learning, sampled, statistics
from audit.outcomes import as_outcome, refused
from audit.report import SampledEvidence, Verdict
from mechanisms.interface import Outcomes, Refused
from mechanisms.privacy import Claim

TRAINING = 1 / 4  # runs to learn an event on, for each run that judges
TRAINING_LEAST = 200
CHUNK = 1 << 14  # outcomes held at a time


class NotPrivateError(AssertionError):
    """A claim is violated. evidence: counts and bounds, at the confidence they state; event: what was looked for."""

    def __init__(self, message: str, evidence: SampledEvidence, event: Event) -> None:
        super().__init__(message)
        self.evidence = evidence
        self.event = event


@dataclass(frozen=True, slots=True)
class Predicate:
    """An event given as a function of one outcome."""

    holds: Callable[[Any], bool]

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        return np.array([bool(self.holds(outcome)) for outcome in outcomes], dtype=np.bool_)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object: its name is all that can be written down."""
        return {"kind": "predicate", "name": getattr(self.holds, "__qualname__", repr(self.holds)), "portable": False}


def assert_private(
    release: Callable[[Any], Any],
    data_in: Any,
    data_out: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int = 100_000,
    alpha: float = 1e-6,
    event: Event | Callable[[Any], bool] | None = None,
) -> None:
    """Raise NotPrivateError, an AssertionError, where release(data) is seen to break (ε, δ)-privacy on this pair.

    release(data) returns one outcome, with fresh randomness at each call; calls must be independent and alike, so no
    budget, cache or counter may carry over from one to the next. It is called `runs` times on each input, in turn, and,
    where no event is given, a quarter as often again to learn one, on runs that judge nothing. An outcome may be a
    number, a string, None, or a tuple, list, set, array or mapping of such. An exception is an outcome too: it may
    leak. event: what the attacker looks for, an event of `attacks.events` or a function of one outcome, which sees
    lists, arrays and sets as tuples, mappings as sorted tuples of items, and exceptions as `Refused`.

    alpha: the probability, at the most, that a release that keeps its promise is accused. No error means that nothing
    was found on this pair with so many runs, not that the release is private.

    Raises ValueError where a verdict is impossible: fewer runs than could show more than the claim (it says how many
    are needed), or a release that only raises, the same in both worlds.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    claim, runs = Claim(epsilon, delta), operator.index(runs)
    needed = statistics.runs_needed(alpha, epsilon, delta)
    if runs < needed:
        raise ValueError(
            f"runs = {runs:,} cannot refute epsilon = {epsilon:g}, delta = {delta:g} at alpha = {alpha:g}: "
            f"not even a perfect attack could; at least {needed:,} runs are needed"
        )
    training = 0
    if event is None:
        training = max(TRAINING_LEAST, int(TRAINING * runs))
        trained = list(_pairs(release, (data_in, data_out), training))
        event = learning.learn(([one for one, _ in trained], [other for _, other in trained]), claim)
    looked_for = cast("Event", event) if hasattr(event, "to_json") else Predicate(event)
    counts, error = _counted(release, (data_in, data_out), looked_for, runs)
    evidence = sampled.judge(counts, claim, alpha, None, seed=0)
    if evidence.verdict is Verdict.VIOLATED:
        seen = counts[0].event, counts[1].event
        raise NotPrivateError(_message(evidence, claim, alpha, looked_for, seen, training), evidence, looked_for)
    if error is not None:
        raise ValueError(f"release raised in every run on both inputs, so nothing was tried; the last: {error.error}")


def _pairs(release: Callable[[Any], Any], data: tuple[Any, Any], runs: int) -> Iterator[tuple[Hashable, Hashable]]:
    """Give (in, out) outcomes. Which world is called first is a coin of its own for each pair: what drifts with the
    number of calls, a counter or a budget, falls on both worlds alike."""
    coin = random.Random()
    for _ in range(runs):
        first = coin.getrandbits(1)
        one, other = _outcome(release, data[first]), _outcome(release, data[1 - first])
        yield (other, one) if first else (one, other)


def _outcome(release: Callable[[Any], Any], data: Any) -> Hashable:
    try:
        released = release(data)
    except (Exception, SystemExit) as error:  # an outcome, because it may depend on the data
        return refused(error)
    return as_outcome(released)


def _counted(
    release: Callable[[Any], Any], data: tuple[Any, Any], event: Event, runs: int
) -> tuple[tuple[counting.Counts, counting.Counts], Refused | None]:
    """Return how often the event happened in each world, and the last exception where every run raised one."""
    happened, refused, last = [0, 0], 0, None
    pairs = _pairs(release, data, runs)
    while chunk := list(islice(pairs, CHUNK)):
        for world in (0, 1):
            outcomes = [pair[world] for pair in chunk]
            happened[world] += int(event(outcomes).sum())
            errors = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
            refused, last = refused + len(errors), errors[-1] if errors else last
    one, other = (counting.Counts(count, np.array([runs])) for count in happened)  # one cell: no test but the event
    return (one, other), last if refused == 2 * runs else None


def _message(
    evidence: SampledEvidence, claim: Claim, alpha: float, event: Event, seen: tuple[int, int], training: int
) -> str:
    learned = f", learned on {training:,} other runs of each" if training else ""
    return (
        f"the release is not (epsilon = {claim.epsilon:g}, delta = {claim.delta:g})-private on this pair of inputs.\n"
        f"  seen: the event below in {seen[0]:,} of {evidence.runs:,} runs on data_in "
        f"and in {seen[1]:,} of {evidence.runs:,} on data_out\n"
        f"  event: {event.to_json()}{learned}\n"
        f"  shown: epsilon is at least {evidence.epsilon_lower:.3g} at this delta, with confidence 1 - {alpha:g}\n"
        f"  probability of the event, in and out: {_interval(evidence.event_in)}, {_interval(evidence.event_out)}"
    )


def _interval(bounds: tuple[float, float]) -> str:
    return f"[{bounds[0]:.4g}, {bounds[1]:.4g}]"
