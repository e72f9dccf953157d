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
from subnormal.audit.claims.kind import Bounds, Kind

ROUNDING = 1e-4  # relative: what lies below the bound by less is counted apart, as errors of floats and of transforms

Answer = Callable[..., float]


class RefusedError(Exception):
    """The library gives no number for these parameters."""


@dataclass(frozen=True, slots=True)
class Said:
    """One answer beside the bounds on the truth."""

    parameters: Mapping[str, Any]
    said: float
    low: float
    up: float

    @property
    def factor(self) -> float:
        """How many times the upper bound was said; NaN where that means nothing."""
        if self.said == math.inf:
            return math.inf if self.up < math.inf else math.nan
        return self.said / self.up if 0 < self.up < math.inf else math.nan


@dataclass(slots=True)
class Held:
    """What was found of one accountant and one kind of claim.

    examples: sets of parameters that were answered with a number. refused: those that were not; why: the last reason.
    violated: the smallest counterexample; None where there is none. rounded: answers that lie below the lower bound by
    no more than ROUNDING.
    """

    accountant: str
    kind: Kind
    examples: int = 0
    refused: int = 0
    why: str = ""
    violated: Said | None = None
    rounded: int = 0
    factors: list[float] = field(default_factory=list)
    loosest: Said | None = None

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
    accountant: str, answer: Answer, kind: Kind, *, examples: int = 100, seconds: float = math.inf, seed: int = 1
) -> Held:
    """Ask for the answers to one kind of claim, until one is violated.

    Args:
        accountant: the name of what answers.
        answer: a function of the kind's parameters that returns a number, or raises RefusedError.
        kind: the kind of claim.
        examples: sets of parameters, at the most.
        seconds: no further set is tried after so long; a counterexample is not shrunk any further.
        seed: of the parameters.

    Returns:
        What was found. Without a violation, no set of parameters that was tried shows one; that is no proof.
    """
    import hypothesis

    held, ends = Held(accountant, kind), time.monotonic() + seconds
    known: dict[tuple[tuple[str, Any], ...], Said | None] = {}

    def looked(parameters: dict[str, Any]) -> Said | None:
        key = tuple(sorted(parameters.items()))
        if key not in known:
            if time.monotonic() >= ends:
                raise _StoppedError
            known[key] = _said(held, answer, kind, key)
        return known[key]

    @repeatable(seed, examples)
    @hypothesis.given(kind.strategy())
    def test(parameters: dict[str, Any]) -> None:
        said = looked(parameters)
        if said is not None and is_violated(said):
            held.violated = said  # the last one that raises is the smallest
            raise _ViolatedError

    with suppress(_ViolatedError, _StoppedError):
        test()
    return held


def is_violated(said: Said) -> bool:
    """Return whether an answer lies below the lower bound by more than rounding."""
    return said.said < said.low * (1 - ROUNDING)


def _said(held: Held, answer: Answer, kind: Kind, key: tuple[tuple[str, Any], ...]) -> Said | None:
    try:
        number = answer(**dict(key))
    except RefusedError as error:
        held.refused += 1
        held.why = str(error)
        return None
    # Below 0 an answer claims more than 0 does, which may be true: events of all probability are worth δ > 0.
    said = Said(dict(key), max(0.0, number), *_bounds(kind, key))
    held.examples += 1
    held.rounded += said.said < said.low and not is_violated(said)
    if not math.isnan(said.factor):
        held.factors.append(said.factor)
        if held.loosest is None or said.factor > held.loosest.factor:
            held.loosest = said
    return said
