"""The evidence of a check by runs."""

from subnormal.audit.check.result import Result
from subnormal.audit.model import SequentialEvidence


def sequential_of(result: Result) -> SequentialEvidence:
    """Return the one piece of evidence of a result, which runs gave."""
    (evidence,) = result.evidence.values()
    assert isinstance(evidence, SequentialEvidence)
    return evidence
