"""Hold what somebody says against certified bounds, over parameters that Hypothesis draws and shrinks."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from subnormal.audit.check.search import repeatable
from subnormal.audit.claims import TOLERANCE
from subnormal.audit.claims.kind import Bounds, Kind

Answer = Callable[..., float]


class RefusedError(Exception):
    """The library gives no number for these parameters."""


@dataclass(frozen=True, slots=True)
class Said:
    """One answer beside the bounds on the truth. Below 0 it is judged as 0.

    An answer below 0 claims more than 0 does, which may be true: events of all probability are worth δ > 0.
    """

    parameters: Mapping[str, Any]
    said: float
    low: float
    up: float

    @property
    def shortfall(self) -> float:
        """The share of the lower bound that is missing: 0 where nothing is, 1 below a bound of ∞."""
        judged = max(0.0, self.said)
        if judged >= self.low:
            return 0.0
        return 1.0 if self.low == math.inf else (self.low - judged) / self.low

    @property
    def factor(self) -> float:
        """How many times the upper bound was said; NaN where that means nothing."""
        if self.said == math.inf:
            return math.inf if self.up < math.inf else math.nan
        return max(0.0, self.said) / self.up if 0 < self.up < math.inf else math.nan


@dataclass(slots=True)
class Held:
    """What was found of one accountant and one kind of claim.

    kind: its name. examples: sets of parameters that were answered with a number. refused: those that were not; why:
    the last reason. violated: the smallest counterexample; None where there is none. rounded: answers that lie below
    the lower bound by no more than the tolerance: false too, and counted apart. shortest: the one that misses most.
    """

    accountant: str
    kind: str
    examples: int = 0
    refused: int = 0
    why: str = ""
    violated: Said | None = None
    rounded: int = 0
    shortest: Said | None = None
    factors: list[float] = field(default_factory=list)
    loosest: Said | None = None

    @property
    def verdict(self) -> str:
        """VIOLATED, or ROUNDED where all false answers are within the tolerance, NOT REFUTED, NO ANSWER."""
        if self.violated is not None:
            return "VIOLATED"
        return "ROUNDED" if self.rounded else "NOT REFUTED" if self.examples else "NO ANSWER"

    @property
    def factor(self) -> float | None:
        """The median of the factors by which answers lie above the upper bound, at least 1; None without any."""
        return statistics.median(max(1.0, one) for one in self.factors) if self.factors else None


class _ViolatedError(Exception):
    """An answer lies below the bound: Hypothesis shrinks what raises."""


class _StoppedError(BaseException):
    """The time is over: no Exception, because Hypothesis would shrink one."""


@lru_cache(maxsize=1 << 15)
def _bounds(kind: Kind, items: tuple[tuple[str, Any], ...]) -> Bounds:
    return kind.bounds(**dict(items))


def hold(
    accountant: str,
    answer: Answer,
    kind: Kind,
    *,
    examples: int = 100,
    seconds: float = math.inf,
    seed: int = 1,
    tolerance: float = TOLERANCE,
    least_delta: float = 0.0,
    most_epsilon: float = math.inf,
) -> Held:
    """Ask for the answers to one kind of claim, until one is violated.

    Args:
        accountant: the name of what answers.
        answer: a function of the kind's parameters that returns a number, or raises RefusedError.
        kind: the kind of claim.
        examples: sets of parameters, at most.
        seconds: no further set is tried after so long; a counterexample is not shrunk any further.
        seed: of the parameters.
        tolerance: the share of the lower bound that an answer may miss and be counted as rounded, not as a violation.
        least_delta: no smaller δ is a parameter.
        most_epsilon: no larger ε is a parameter, nor the true answer to what is asked.

    Returns:
        What was found. Without a violation, no set of parameters that was tried shows one; that is no proof.
    """
    import hypothesis

    held, ends = Held(accountant, kind.name), time.monotonic() + seconds
    known: dict[tuple[tuple[str, Any], ...], Said | None] = {}

    def looked(parameters: dict[str, Any]) -> Said | None:
        key = tuple(sorted(parameters.items()))
        if key not in known:
            if time.monotonic() >= ends:
                raise _StoppedError
            hypothesis.assume(not kind.asks.startswith("ε") or _bounds(kind, key)[0] <= most_epsilon)
            try:
                known[key] = said = Said(dict(key), answer(**dict(key)), *_bounds(kind, key))
            except RefusedError as error:
                known[key], held.refused, held.why = None, held.refused + 1, str(error)
            else:
                _count(held, said, tolerance)
        return known[key]

    @repeatable(seed, examples)
    @hypothesis.given(kind.strategy(least_delta, most_epsilon))
    def test(parameters: dict[str, Any]) -> None:
        said = looked(parameters)
        if said is not None and said.shortfall > tolerance:
            held.violated = said  # the last one that raises is the smallest
            raise _ViolatedError

    with suppress(_ViolatedError, _StoppedError):
        test()
    return held


def _count(held: Held, said: Said, tolerance: float) -> None:
    """Count one answer."""
    held.examples += 1
    if 0 < said.shortfall <= tolerance:
        held.rounded += 1
        if held.shortest is None or said.shortfall > held.shortest.shortfall:
            held.shortest = said
    if not math.isnan(said.factor):
        held.factors.append(said.factor)
        if held.loosest is None or said.factor > held.loosest.factor:
            held.loosest = said
