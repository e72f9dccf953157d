"""All kinds of claims, by name."""

from __future__ import annotations

from subnormal.audit.claims.allocation_kinds import ALLOCATION_KINDS
from subnormal.audit.claims.conversion_kinds import CONVERSION_KINDS
from subnormal.audit.claims.discrete_kinds import DISCRETE_KINDS
from subnormal.audit.claims.fixed_sample_kinds import FIXED_SAMPLE_KINDS
from subnormal.audit.claims.kind import Kind
from subnormal.audit.claims.matrix_kinds import MATRIX_KINDS
from subnormal.audit.claims.noise_kinds import NOISE_KINDS
from subnormal.audit.claims.sampling_kinds import SAMPLING_KINDS
from subnormal.audit.claims.selection_kinds import SELECTION_KINDS
from subnormal.audit.claims.shuffling_kinds import SHUFFLING_KINDS
from subnormal.audit.claims.truncated_kinds import TRUNCATED_KINDS

KINDS = (
    *NOISE_KINDS,
    *DISCRETE_KINDS,
    *SAMPLING_KINDS,
    *FIXED_SAMPLE_KINDS,
    *ALLOCATION_KINDS,
    *TRUNCATED_KINDS,
    *CONVERSION_KINDS,
    *SELECTION_KINDS,
    *SHUFFLING_KINDS,
    *MATRIX_KINDS,
)


def kind(name: str) -> Kind:
    """Return a kind. Raises LookupError, with the names, for one that is not there."""
    for one in KINDS:
        if one.name == name:
            return one
    raise LookupError(f"{name!r} is none of {', '.join(one.name for one in KINDS)}")
