"""Evidence about all pairs of neighbours of a finite domain, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from subnormal.audit.model.evidence import Nonnegative, Probability, Worlds
from subnormal.mechanisms.privacy import Claim, Range


class DomainVerdict(StrEnum):
    """The result for one claim on all pairs of neighbours of a finite domain."""

    VIOLATED = "VIOLATED"
    HOLDS = "HOLDS ON THE DOMAIN"
    UNRESOLVED = "UNRESOLVED"


@dataclass(frozen=True, slots=True)
class BoxEvidence:
    """A search over boxes of pairs of a domain whose pairs are too many to list.

    log10_data: the logarithm to base 10 of the number of data of the domain.
    log10_pairs: the same of the number of ordered pairs of neighbours.
    bounded: boxes with certified bounds on all of their pairs.
    left: boxes that are not decided: in a VIOLATED domain, those that may have a worse pair.
    delta: an upper bound on the divergence in all boxes that are left; 0 if there are none.
    """

    log10_data: Nonnegative
    log10_pairs: Nonnegative
    bounded: Annotated[int, Range(1)]
    left: Annotated[int, Range(0)]
    delta: Probability


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainEvidence:
    """Evidence from the laws of all data of a finite domain: every pair of neighbours, none sampled.

    verdict: VIOLATED, on the worst pair; HOLDS ON THE DOMAIN: on every pair; UNRESOLVED: the bounds leave some pairs.
    data: of the domain; null where they are too many to list, as are the pairs.
    pairs: ordered pairs of neighbours, those included for which a symmetry lets another pair stand.
    boxes: the search over boxes of pairs; null where the pairs are listed.
    laws: distinct ones; of a search over boxes, all that it built.
    compared: pairs that floats with proved error bounds left to integers, those with the largest loss included; of a
        search over boxes, the pairs that it chose.
    symmetries: of the member, that were used.
    epsilon: [low, high] of the largest loss of a pair, in nats; high is null where it is not known.
    delta: the largest hockey-stick divergence of a pair at the claimed ε, a certified lower bound.
    unresolved: pairs that the bounds do not decide.
    worst: the worlds of the pair with the largest divergence, or, where all is within a pure claim, the largest loss.
        Of a search with boxes left, the worst of the pairs that it compared.
    """

    mechanism: str
    domain: str
    claim: Claim
    verdict: DomainVerdict
    data: Annotated[int, Range(1)] | None
    pairs: Annotated[int, Range(1)] | None
    boxes: BoxEvidence | None
    laws: Annotated[int, Range(1)]
    compared: Annotated[int, Range(0)]
    symmetries: tuple[str, ...]
    epsilon: tuple[Nonnegative, Nonnegative | None]
    delta: Probability
    unresolved: Annotated[int, Range(0)]
    worst: Worlds | None
    pair: tuple[Any, Any] | None = field(default=None, compare=False)  # the data of the worst pair, not saved
