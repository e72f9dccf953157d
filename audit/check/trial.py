"""One pair of inputs is tried: runs of a release on both judge its claim.

Two numbers may stand for all numbers as far apart. Then their distance and zero are tried too: see `distance_and_zero`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from subnormal.attacks.core.events import Event
from subnormal.audit.check.function import Function, OverTimeError, are_early, stopped_answering
from subnormal.audit.check.judge import judge
from subnormal.audit.check.result import Result
from subnormal.audit.check.score import Candidate, Runs
from subnormal.audit.check.search import Pair
from subnormal.audit.model import Verdict
from subnormal.audit.targets.outcome_notes import event_notes
from subnormal.audit.text import short
from subnormal.audit.values.outcome_details import is_detail
from subnormal.audit.values.outcomes import as_outcome, refused
from subnormal.mechanisms.curves import AnyClaim
from subnormal.mechanisms.numerics.mpfr import float_up
from subnormal.mechanisms.privacy import Claim

TRAINING = 1 / 4  # runs to learn an event on, for each run that judges
TRAINING_LEAST, TRAINING_MOST = 200, 1 << 16
SEED = 1  # of the global generators while a release is tried, so that a test has the same result each time


class Watched:
    """A release, with what is known of its outcomes: how many were no exceptions, whether all were finite floats, and
    the last value and the last exception."""

    def __init__(self, release: Callable[[Any], Any]) -> None:
        self._release = release
        self.answers, self.only_floats = 0, True
        self.error: BaseException | None = None
        self.last: Any = None

    def __call__(self, data: Any) -> Any:
        try:
            released = self._release(data)
        except BaseException as error:
            self.error, self.only_floats = error, False
            raise
        self.answers, self.last = self.answers + 1, released
        if self.only_floats:
            with suppress(TypeError):  # `Function` raises it
                self.only_floats = _is_of_floats(as_outcome(released))
        return released


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried on one pair of inputs. alpha: this pair's own share. event: None, to be learned.

    deadline: on the monotonic clock.
    """

    function: Function
    pair: Pair
    claim: AnyClaim
    alpha: float
    runs: int
    event: Event | None
    deadline: float

    def result(self, release: Watched, *, at_zero: str | None = None) -> Result | None:
        """Return what `runs` runs of each world show.

        at_zero: a note, where the pair stands for another one: then runs are spent only on an event that promises to
        be decided by them, and the result is None without one.

        Raises ValueError where the time is over before these runs are made, and those that were show no violation.
        """
        started = time.monotonic()
        function = replace(self.function, function=release, runs=0, seconds=0.0, deadline=self.deadline)
        tried = Runs(function, lambda data_in, data_out: self.claim, SEED)
        planned = training = min(TRAINING_MOST, max(TRAINING_LEAST, int(TRAINING * self.runs)))
        if self.event is not None and isinstance(self.claim, Claim):
            planned, training, candidate = 0, 0, Candidate(self.claim, self.event, 0.0)
        else:
            try:
                with function.within(function.left() / 2):
                    candidate = tried.candidate(self.pair, planned, event=self.event, reserve=0.0)
            except OverTimeError:
                raise self._over_time(0, planned, function, started) from None
            training = function.runs // 2
        promised = candidate.growth * self.runs >= -math.log(self.alpha)
        if at_zero is not None and not (promised and release.only_floats):
            return None
        evidence = judge(tried, self.pair, candidate, self.alpha, training, most=self.runs)
        if evidence.verdict is not Verdict.VIOLATED:
            stopped = are_early(release.answers, function.last_answer, function.runs)
            if stopped and release.error is not None and at_zero is None:
                raise ValueError(stopped_answering(function, refused(release.error)))
            if evidence.runs < self.runs:
                raise self._over_time(evidence.runs, planned, function, started)
        zero = [] if at_zero is None else [at_zero]
        some = [as_outcome(release.last), *([] if release.error is None else [refused(release.error)])]
        seen = event_notes(evidence.event, some) if evidence.verdict is Verdict.VIOLATED else []
        return Result(
            verdict=evidence.verdict,
            function=function.name,
            claim=self.claim,
            point=candidate.point,
            stage="runs",
            worlds=self.pair,
            event=evidence.event,
            evidence={"sequential": evidence},
            error=None,
            notes=(*zero, *seen),
            examples=1,
            runs=function.runs,
            seconds=time.monotonic() - started,
            seed=SEED,
            place=function.place,
            fresh=function.fresh,
            grid=function.grid,
        )

    def _over_time(self, made: int, training: int, function: Function, started: float) -> ValueError:
        """Return the error where so many runs that judge were made. training: runs that were to learn an event."""
        a_run = (time.monotonic() - started) / max(1, function.runs)
        needed = math.ceil(2 * a_run * 2 * (self.runs + training))  # twice as many: the next time is no shorter
        return ValueError(
            f"the seconds are over after {made:,} of {self.runs:,} runs on each input that judge the claim, which show "
            f"no violation: one run takes {short(a_run, 2)} s, so give {function.name} seconds={needed}, or fewer runs"
        )


def tried_at_zero(trial: Trial, release: Callable[[Any], Any], asked: Pair) -> Result | None:
    """Return the result of the distance and zero; None where outcomes there are no finite floats."""
    watched = Watched(release)
    note = f"these inputs are as far apart as the {asked[0]!r} and {asked[1]!r} asked for"
    try:
        result = trial.result(watched, at_zero=note)
    except TypeError:  # an outcome that cannot be compared
        return None
    return result if watched.only_floats else None


def distance_and_zero(data_in: Any, data_out: Any) -> Pair | None:
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


def _is_of_floats(outcome: Any) -> bool:
    """Return whether an outcome is a finite float, or a tuple of such, with integers and names beside them."""
    if not isinstance(outcome, tuple):
        return isinstance(outcome, float) and isfinite(outcome)
    parts = [part for part in outcome if type(part) not in (int, str) and not is_detail(part)]
    return len(parts) > 0 and all(map(_is_of_floats, parts))
