"""How severe a violation is, by the event and its loss: a fact of the evidence, not an opinion."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.evidence import CheckEvidence, FollowedEvidence, ModelledEvidence
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.statistics import binomial
from subnormal.audit.targets.outcome_notes import reads_bits

if TYPE_CHECKING:
    from subnormal.audit.check.result import Result

LARGE = 2.0  # times the claimed ε, from which on a loss is large: it would break twice the claim
TAIL = 0.01  # of the intervals of an event's probabilities


class Severity(StrEnum):
    """DETERMINISTIC: in all runs, the outcome tells which of the two inputs it is of. LARGE_LOSS: the loss of the event
    is at least twice the claimed ε. NEAR_THE_CLAIM: less. LAST_BITS: the event reads the last bits of floats.
    """

    DETERMINISTIC = "deterministic"
    LARGE_LOSS = "large loss"
    NEAR_THE_CLAIM = "loss near the claim"
    LAST_BITS = "last bits"


def severity(result: Result) -> Severity | None:
    """Return how severe the violation is; None without one, and for a law or a bound that is not kept."""
    if result.verdict is not Verdict.VIOLATED or result.point is None:
        return None
    if of_last_bits(result.event):
        return Severity.LAST_BITS
    if any(_tells_always(one) for one in result.evidence.values()):
        return Severity.DETERMINISTIC
    loss = max((_loss(one, result.point.delta) for one in result.evidence.values()), default=0.0)
    return Severity.LARGE_LOSS if loss >= LARGE * result.point.epsilon else Severity.NEAR_THE_CLAIM


def of_last_bits(event: Mapping[str, Any] | None) -> bool:
    """Return whether an event, as JSON, reads nothing but the last bits of floats."""
    return event is not None and reads_bits(event)


def _tells_always(evidence: CheckEvidence) -> bool:
    if isinstance(evidence, FollowedEvidence):
        return {evidence.event_in, evidence.event_out} == {(0.0, 0.0), (1.0, 1.0)}
    if not isinstance(evidence, SequentialEvidence):
        return False
    return {evidence.event_in, evidence.event_out} == {0, evidence.runs}


def _loss(evidence: CheckEvidence, delta: float) -> float:
    """Return the least loss that the evidence shows, in nats."""
    if isinstance(evidence, FollowedEvidence | ModelledEvidence):
        return evidence.epsilon
    if not isinstance(evidence, SequentialEvidence):
        return 0.0
    ends = [binomial.clopper_pearson(count, evidence.runs, TAIL) for count in (evidence.event_in, evidence.event_out)]
    return binomial.epsilon_lower(ends[0], ends[1], delta)
