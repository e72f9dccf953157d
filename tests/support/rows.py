"""What runs show, as a row shows it."""

from typing import Any
from unittest.mock import patch

from subnormal.attacks.core.attack import Attack
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.evidence import batches
from subnormal.audit.model import Row, SampledEvidence, SequentialEvidence
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.privacy import Claim


def blank_row(claim: Claim | None) -> Row:
    """Return a row without any evidence."""
    return Row(
        attack="attack",
        description="told",
        source="source",
        family="family",
        mechanism="member",
        parameters={},
        event=None,
        claim=claim,
        advantage_allowed=0.46,
        reproducible=True,
    )


def distinguish(
    mechanism: Mechanism[Any, Any, Any],
    attack: Attack[Any, Any, Any],
    *,
    seed: int = 1,
    runs: int = 100_000,
    alpha: float = 0.05,
) -> SampledEvidence:
    """Return the sampled evidence of the row. Raises ValueError with what went wrong in it."""
    row = examine(Crossing(attack, mechanism), seed=seed, runs=runs, alpha=alpha)
    if row.sampled is None:
        raise ValueError(row.error)
    return row.sampled


def until_decided(
    mechanism: Mechanism[Any, Any, Any],
    attack: Attack[Any, Any, Any],
    *,
    seed: int = 1,
    runs: int = 20_000,
    alpha: float = 0.05,
    batch: int = batches.BATCH,
) -> SequentialEvidence:
    """Return the sequential evidence of the row. batch: the largest. Raises ValueError with what went wrong in it."""
    with patch.object(batches, "BATCH", batch):
        row = examine(Crossing(attack, mechanism), seed=seed, runs=runs, alpha=alpha, until_decided=True)
    if row.sequential is None:
        raise ValueError(row.error)
    return row.sequential
