"""What the loops of both libraries share: data, parameters, and what a case is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from subnormal.audit.training.sampling import Sampler, SamplerName
from subnormal.audit.training.training import Relation

RATE, EXPECTED, CLIP, MULTIPLIER, STEPS, DELTA = 0.1, 12, 1.0, 1.1, 200, 1e-5
RECORDS = 120  # EXPECTED / RATE


@dataclass(frozen=True, slots=True)
class Case:
    """A loop, and the stage that a check must name: None where it is correct.

    epsilon_share: of the certified ε that the loop's owner claims.
    """

    pitfall: str
    train: Callable[[Any, int], Any]
    stage: str | None
    sampler: SamplerName = "poisson"
    relation: Relation = "add-or-remove"
    epsilon_share: float = 1.0
    clip: float = CLIP

    @property
    def assumed(self) -> Sampler:
        """The sampler that the accountant assumes."""
        return Sampler(self.sampler, RATE) if self.sampler == "poisson" else Sampler(self.sampler, size=EXPECTED)


def drawn() -> tuple[Any, Any]:
    """Return features, shape (records, 6), and labels 0 and 1."""
    generator = np.random.default_rng(7)
    features = generator.normal(size=(RECORDS, 6)).astype(np.float32)
    return features, (features[:, 0] + features[:, 1] > 0).astype(np.int64)
