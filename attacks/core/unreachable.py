"""The event that a member, by its law, cannot release the outcome for given data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.outcome_paths import rows
from subnormal.mechanisms.core.mechanism import Outcomes
from subnormal.mechanisms.core.outcome_identity import are_numeric, ascend, identity, labels_at
from subnormal.mechanisms.families import member


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The member cannot release the outcome for these data: no atom of its law equals the outcome. −0 is 0.

    mechanism: the name of a member whose law of these data names every outcome (rest 0). When it is called, raises
    LookupError for an unknown or absent member, ValueError for one that never has a law, NoLawError for such data.
    """

    mechanism: str
    data: Any
    parameters: Any

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        of = member(self.mechanism)
        if of.law is None:
            raise ValueError(f"mechanism must have a law, and {self.mechanism} has none")
        atoms = of.law(self.data, self.parameters).atoms
        if outcomes is atoms:
            return np.zeros(len(outcomes), dtype=np.bool_)
        if not are_numeric(outcomes, atoms):
            possible = set(map(identity, rows(atoms)))
            return np.array([identity(outcome) not in possible for outcome in rows(outcomes)], dtype=np.bool_)
        distinct, inverse = np.asarray(outcomes) + 0, None  # −0 is 0
        if not ascend(distinct):
            distinct, inverse = np.unique(distinct, return_inverse=True)
        missing = ~labels_at(distinct, np.asarray(atoms), np.ones(len(atoms), dtype=np.bool_))
        return missing if inverse is None else np.asarray(missing[inverse])

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object: it depends on the member's arithmetic to the last bit."""
        data = np.asarray(self.data).tolist()
        return {"kind": "unreachable", "mechanism": self.mechanism, "data": data, "portable": False}
