"""The kinds of event that an attacker can look for: vectorised predicates that are JSON objects too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mechanisms.interface import Outcomes, Refused


class Event(Protocol):
    """What an attacker looks for: marks outcomes, shape (outcomes,), and describes itself as a JSON object."""

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        """Return for each outcome whether the event has happened. A refusal is an outcome too."""

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object; "portable" says whether another language can evaluate it."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """The outcome is one of these."""

    outcomes: tuple[Any, ...]

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        if isinstance(outcomes, range):
            return np.isin(np.arange(outcomes.start, outcomes.stop, outcomes.step), self.outcomes)
        if isinstance(outcomes, np.ndarray):
            return np.isin(outcomes, self.outcomes)
        wanted = set(self.outcomes)
        return np.array([outcome in wanted for outcome in outcomes], dtype=np.bool_)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "one-of", "outcomes": list(self.outcomes), "portable": True}


@dataclass(frozen=True, slots=True)
class Refuses:
    """The mechanism raises instead of answering."""

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        if isinstance(outcomes, range | np.ndarray):
            return np.zeros(len(outcomes), dtype=np.bool_)
        return np.array([isinstance(outcome, Refused) for outcome in outcomes], dtype=np.bool_)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "refuses", "portable": True}


@dataclass(frozen=True, slots=True)
class Between:
    """The outcome is a number from `low` to `high`, both included; −∞ and ∞ leave a side open."""

    low: float
    high: float

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        values = numbers(outcomes)
        return (values >= self.low) & (values <= self.high)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        low, high = (value if np.isfinite(value) else str(value) for value in (self.low, self.high))
        return {"kind": "between", "low": low, "high": high, "portable": True}


@dataclass(frozen=True, slots=True)
class OffGrid:
    """The outcome is a number that is no multiple of 2^grid."""

    grid: int

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        # Scaling by a power of two is exact, but for what it lifts beyond the largest float: a multiple, for certain.
        with np.errstate(over="ignore"):
            scaled = np.ldexp(numbers(outcomes), -self.grid)
        off: NDArray[np.bool_] = np.isfinite(scaled) & (np.floor(scaled) != scaled)
        return off

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "off-grid", "grid": self.grid, "portable": True}


def numbers(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return outcomes that are numbers as float64, shape (outcomes,): NaN for a refusal, a tuple's first number."""
    if isinstance(outcomes, range):
        return np.arange(outcomes.start, outcomes.stop, outcomes.step, dtype=np.float64)
    if isinstance(outcomes, np.ndarray):
        first = outcomes if outcomes.ndim == 1 else outcomes[:, 0]
        return first.astype(np.float64, copy=False)
    parts = (outcome[0] if isinstance(outcome, tuple) else outcome for outcome in outcomes)
    return np.array([np.nan if isinstance(part, Refused) else part for part in parts], dtype=np.float64)
