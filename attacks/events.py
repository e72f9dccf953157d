"""The kinds of event that an attacker can look for: vectorised predicates that are JSON objects too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.interface import Outcomes, Refused


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


Event: TypeAlias = OneOf | Refuses
