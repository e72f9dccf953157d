"""An assertion for other people's test suites: a release is tried in two worlds, and accused only with evidence.

Paste this into a test suite, with your own release in place of `noisy_count`:

>>> import random
>>> from subnormal import assert_private
>>> def noisy_count(records):
...     noise = random.expovariate(1.0) - random.expovariate(1.0)  # Laplace noise of scale 1
...     return round(len(records) + noise, 3)
>>> assert_private(noisy_count, [1, 1], [1], epsilon=1.0, runs=2_000)

The two inputs must be neighbours: they may differ by no more than what the claim protects, one record, say.
"""

from __future__ import annotations

import dataclasses
import operator
import random
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Event
from subnormal.audit.evidence import batches, event_search, sampled
from subnormal.audit.model import SampledEvidence, Verdict
from subnormal.audit.statistics import binomial
from subnormal.audit.targets.outcomes import as_outcome, refused
from subnormal.audit.text import given, interval, short
from subnormal.mechanisms.core.mechanism import Outcomes, Refused
from subnormal.mechanisms.numerics.mpfr import float_up
from subnormal.mechanisms.privacy import Claim

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


class _OutsideError(Exception):
    """A release gives no finite float for inputs that its user did not name: it need not be made for them."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A claim that is tried on one pair of inputs. draw(data) returns an outcome; alpha: this pair's own share."""

    draw: Callable[[Any], Hashable]
    data: tuple[Any, Any]
    claim: Claim
    alpha: float
    runs: int

    @property
    def training(self) -> int:
        """Runs to learn an event on, which judge nothing."""
        return max(TRAINING_LEAST, int(TRAINING * self.runs))

    def pairs(self, runs: int) -> Iterator[tuple[Hashable, Hashable]]:
        """Give (in, out) outcomes. Which world is called first is a coin of its own for each pair: what drifts with the
        number of calls, a counter or a budget, falls on both worlds alike."""
        coin = random.Random()
        for _ in range(runs):
            first = coin.getrandbits(1)
            one, other = self.draw(self.data[first]), self.draw(self.data[1 - first])
            yield (other, one) if first else (one, other)

    def counted(self, event: Event) -> tuple[tuple[int, int], Refused | None]:
        """Return how often the event happened in each world, and the last exception where every run raised one."""
        happened, refusals, last = [0, 0], 0, None
        pairs = self.pairs(self.runs)
        while chunk := list(islice(pairs, CHUNK)):
            for world in (0, 1):
                outcomes = [pair[world] for pair in chunk]
                happened[world] += int(event(outcomes).sum())
                errors = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
                refusals, last = refusals + len(errors), errors[-1] if errors else last
        return (happened[0], happened[1]), last if refusals == 2 * self.runs else None

    def judge(self, event: Event, learned_on: int, where: str) -> Refused | None:
        """Raise NotPrivateError where the event convicts; return the last exception where every run raised one."""
        seen, error = self.counted(event)
        one, other = (batches.Counts(count, np.array([self.runs])) for count in seen)  # one bin: the event alone
        evidence = sampled.judge((one, other), self.claim, self.alpha, None, seed=0)
        if evidence.verdict is Verdict.VIOLATED:
            raise NotPrivateError(_message(evidence, self, event, seen, learned_on, where), evidence, event)
        return error


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
    """Raise NotPrivateError where release(data) is seen to break (ε, δ)-differential privacy on this pair of inputs.

    No error means that so many runs showed no violation. It does not mean that the release is private.

    Two plain numbers stand for all numbers as far apart: the claim is taken to cover those as well. Floats are finest
    at zero, so rounding shows best there: 1 + noise and 0 + noise can be told apart where 6 + noise and 5 + noise
    hardly can. Where no event is given, neither number is zero and outcomes hold floats, release is therefore called on
    their distance and on zero too: a quarter of `runs` times each, and `runs` times each on top only where these runs
    speak against the claim. At zero it is not accused of refusing, nor of outcomes that are not finite floats: zero may
    lie outside its domain. Where inputs are not neighbours by their distance, wrap them:
    `assert_private(lambda data: release(data[0]), [101.0], [100.0], ...)` tries this pair alone.

    Args:
        release: a function of the data that returns one outcome, with fresh randomness at each call. Calls must be
            independent: no budget, cache or counter may carry over from one call to the next. An outcome is a number,
            a string, None, a date, or a tuple, list, set, array, tensor, series, frame, mapping or dataclass of such
            (`targets.outcomes`). An exception is an outcome too, because it may leak.
        data_in: one input.
        data_out: a neighbouring input: it differs by no more than the claim protects, as one record.
        epsilon: the claimed ε, in nats.
        delta: the claimed δ.
        runs: calls on each input that judge the claim. Without an event, a quarter as many come on top to learn one.
        alpha: the chance that a release that keeps its claim is accused, at the most. Where two pairs of inputs are
            tried, each has half of it.
        event: what the attacker looks for: an event of `attacks.core.events`, or a function of one outcome that returns
            a bool. That function sees lists, arrays and sets as tuples, mappings as sorted tuples of items, and
            exceptions as `Refused`. None: an event is learned from runs of its own.

    Raises:
        NotPrivateError: the claim is violated. It is an AssertionError, and holds the evidence and the event.
        ValueError: no verdict is possible: an argument is out of range, there are fewer runs than could show a
            violation (the message says how many are needed), or release raised in every run on both inputs.
        TypeError: an outcome cannot be compared for certain, as an object of a class of your own or a generator.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    claim, runs = Claim(epsilon, delta), operator.index(runs)
    at_zero = _at_zero(data_in, data_out) if event is None else None
    share = alpha if at_zero is None else alpha / 2
    needed = binomial.runs_needed(share, epsilon, delta)
    if runs < needed:
        raise ValueError(
            f"runs = {runs:,} cannot refute epsilon = {given(epsilon)}, delta = {given(delta)} "
            f"at alpha = {given(share)}: not even a perfect attack could; at least {needed:,} runs are needed"
        )
    trial, learned_on, floats = _Trial(partial(_outcome, release), (data_in, data_out), claim, share, runs), 0, False
    if event is None:
        trained, learned_on = list(trial.pairs(trial.training)), trial.training
        event, floats = _learned(trained, claim), all(_is_of_floats(outcome) for pair in trained for outcome in pair)
    looked_for = cast("Event", event) if hasattr(event, "to_json") else Predicate(event)
    error = trial.judge(looked_for, learned_on, "this pair of inputs")
    if error is not None:
        raise ValueError(f"release raised in every run on both inputs, so nothing was tried; the last: {error.error}")
    if at_zero is not None and floats:
        with suppress(_OutsideError):
            _try_at_zero(dataclasses.replace(trial, draw=partial(_inside, release), data=at_zero), trial.data)


def _try_at_zero(trial: _Trial, asked: tuple[Any, Any]) -> None:
    """Judge the trial if it is worth the runs: if an event learned on half of the training speaks against the claim on
    the other half. Raises NotPrivateError, or _OutsideError."""
    trained = list(trial.pairs(trial.training))
    half = len(trained) // 2
    event, fresh = _learned(trained[:half], trial.claim), trained[half:]
    counts = [np.array([event([pair[world] for pair in fresh]).sum()]) for world in (0, 1)]
    if event_search.strength(counts[0], counts[1], (len(fresh), len(fresh)), trial.claim)[0][0] > 0:
        (one, other), (first, second) = trial.data, asked
        where = f"data_in = {one!r}, data_out = {other!r}, as far apart as the {first!r} and {second!r} asked for"
        trial.judge(event, half, where)


def _at_zero(data_in: Any, data_out: Any) -> tuple[Any, Any] | None:
    """Return the distance of two numbers and zero, in their order; None where one of them is zero already, they are
    the same, or they are no plain numbers. A distance of floats is rounded down, so that the claim covers it."""
    given = [one.item() if isinstance(one, np.generic) else one for one in (data_in, data_out)]
    if any(type(one) is not int and not (isinstance(one, float) and isfinite(one)) for one in given):
        return None
    one, other = map(Fraction, given)
    if one == other or 0 in (one, other):
        return None
    whole = all(type(one) is int for one in given)
    distance, zero = (int(abs(one - other)), 0) if whole else (-float_up(-abs(one - other)), 0.0)
    return (distance, zero) if one > other else (zero, distance)


def _learned(trained: list[tuple[Hashable, Hashable]], claim: Claim) -> Event:
    return event_search.learn(([one for one, _ in trained], [other for _, other in trained]), claim)


def _outcome(release: Callable[[Any], Any], data: Any) -> Hashable:
    try:
        released = release(data)
    except (Exception, SystemExit) as error:  # an outcome, because it may depend on the data
        return refused(error)
    return as_outcome(released)


def _inside(release: Callable[[Any], Any], data: Any) -> Hashable:
    """Return the outcome. Raises _OutsideError where it holds no floats, or one that is not finite."""
    try:
        outcome = _outcome(release, data)
    except TypeError:  # nothing that could be told apart
        raise _OutsideError from None
    if not _is_of_floats(outcome):
        raise _OutsideError
    return outcome


def _is_of_floats(outcome: Any) -> bool:
    """Return whether an outcome is a finite float, or a tuple of such, with integers and names beside them."""
    if not isinstance(outcome, tuple):
        return isinstance(outcome, float) and isfinite(outcome)
    parts = [part for part in outcome if type(part) not in (int, str)]
    return len(parts) > 0 and all(map(_is_of_floats, parts))


def _message(
    evidence: SampledEvidence, trial: _Trial, event: Event, seen: tuple[int, int], learned_on: int, where: str
) -> str:
    claim, learned = trial.claim, f", learned on {learned_on:,} other runs of each" if learned_on else ""
    return (
        f"the release is not (epsilon = {given(claim.epsilon)}, delta = {given(claim.delta)})-private on {where}.\n"
        f"  seen: the event below in {seen[0]:,} of {evidence.runs:,} runs on data_in "
        f"and in {seen[1]:,} of {evidence.runs:,} on data_out\n"
        f"  event: {event.to_json()}{learned}\n"
        f"  shown: epsilon is at least {short(evidence.epsilon_lower, 3)} at this delta, "
        f"with confidence 1 - {given(trial.alpha)}\n"
        f"  probability of the event, in and out: {interval(evidence.event_in)}, {interval(evidence.event_out)}"
    )
