"""An attack: two adjacent worlds, the public parameters, and the event that distinguishes the worlds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Event, numbers
from subnormal.attacks.core.outcome_paths import rows
from subnormal.mechanisms.core.mechanism import D, O, Outcomes, P

OUTCOMES_MAX = 1 << 24  # of a selection: the worlds, their weights and their law take a gigabyte
Channel = Literal["tries", "bits", "steps", "time"]  # a field of a Trace, or the clock


def number_statistic(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return outcomes that are numbers as floats, a tuple's first number, and −∞ for a refusal."""
    values = numbers(outcomes)
    return values if isinstance(outcomes, np.ndarray) else np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Attack(Generic[D, P, O]):
    """A description of an attack. It runs no mechanism.

    name: unique. worlds: builds the adjacent data (in, out) at each call. breaks: names of the members that the attack
    must break. fixes: names of variants that are proposed as a fix and resist the attack. Exact members must resist it.
    statistic: maps outcomes to floats, one each, for Kolmogorov-Smirnov distances and charts; numbers are themselves.
    axis: the label of the statistic in charts; empty: outcomes, or the channel's counts.
    channel: the side channel that the attacker sees together with the outcome; None: no channel. With a channel, event
    and statistic are functions of pairs (outcome, count), and exact members that `breaks` names need not resist.
    slow: a row takes seconds. With --quick, slow attacks run only if they are named.
    """

    name: str
    family: str
    worlds: Callable[[], tuple[D, D]]
    parameters: P
    event: Event | None  # None: an event is learned
    breaks: tuple[str, ...]
    source: str
    description: str  # one line for a reader without context: the two worlds, and what distinguishes them
    statistic: Callable[[Outcomes], NDArray[np.float64]] = number_statistic
    fixes: tuple[str, ...] = ()
    slow: bool = False
    channel: Channel | None = None
    axis: str = ""


AnyAttack = Attack[Any, Any, Any]


def given(worlds: tuple[D, D]) -> tuple[D, D]:
    """Return these worlds. A partial of this function can be pickled, unlike a lambda."""
    return worlds


def require_outcomes(outcomes: int, least: int = 2) -> None:
    """Raise ValueError if there are too few outcomes for the worlds to differ, or more than a row may take."""
    if outcomes < least:
        raise ValueError(f"outcomes must be at least {least}, got {outcomes}")
    if outcomes > OUTCOMES_MAX:
        raise ValueError(f"outcomes must be at most {OUTCOMES_MAX}, got {outcomes}")


FIRST_POSITIVE = "answers ⊥ before the first ⊤"  # its axis


def first_positive(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return the number of answers 0 before the first 1 of each outcome; −1 for a refusal."""
    listed = rows(outcomes)
    begun = {one: (*one, 1).index(1) if isinstance(one, tuple) else -1 for one in set(listed)}
    return np.array([begun[one] for one in listed], dtype=np.float64)


def index_statistic(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return indices as floats, and −1 for a refusal."""
    values = numbers(outcomes)
    return np.where(np.isnan(values), -1.0, values)


def count_statistic(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return the counts of pairs (outcome, count) as floats."""
    return np.array([count for _, count in outcomes], dtype=np.float64)
