"""Evidence from every pair of a finite domain, in words, and the results that this version ships."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import floor
from pathlib import Path

from subnormal.audit.model import DomainEvidence, DomainVerdict
from subnormal.audit.report.form import read
from subnormal.audit.text import short

DIGITS = 7
FILE = Path(__file__).with_name("proved.json")  # written by `make prove`


@dataclass(frozen=True, slots=True)
class Proof:
    """A result that this version ships. seconds: of one processor."""

    evidence: DomainEvidence
    seconds: float


@cache
def known() -> tuple[Proof, ...]:
    """Return the results that this version ships, exact members first."""
    if not FILE.exists():
        return ()
    proofs: tuple[Proof, ...] = read(tuple[Proof, ...], json.loads(FILE.read_text("utf-8")), "proved.json")
    return proofs


def of(mechanism: str) -> DomainEvidence | None:
    """Return the result of this mechanism over most pairs on which its claim holds, or None."""
    found = [one.evidence for one in known() if one.evidence.mechanism == mechanism]
    held = [one for one in found if one.verdict is DomainVerdict.HOLDS]
    return max(held, key=_log10_pairs, default=None)


def pairs(evidence: DomainEvidence) -> str:
    """Return the number of ordered pairs of neighbours, as in "1,315,600" or, of boxes, "10^6477"."""
    return _count(evidence.pairs, None if evidence.boxes is None else evidence.boxes.log10_pairs)


def _count(number: int | None, log10: float | None) -> str:
    return f"{number:,}" if log10 is None else f"10^{floor(log10)}"


def _log10_pairs(evidence: DomainEvidence) -> float:
    return math.log10(evidence.pairs or 1) if evidence.boxes is None else evidence.boxes.log10_pairs


def promised(evidence: DomainEvidence) -> str:
    """Return the claim."""
    claim = evidence.claim
    return f"ε = {short(claim.epsilon, DIGITS)}" + (f", δ = {short(claim.delta, DIGITS)}" if claim.delta else "")


def text(evidence: DomainEvidence) -> str:
    """Return the evidence in a few lines."""
    lines = [
        f"{evidence.mechanism}: {evidence.verdict}",
        f"  domain   {evidence.domain}",
        f"  pairs    {pairs(evidence)} ordered pairs of {_data(evidence)} data{_looked_at(evidence)}",
        f"  claim    {promised(evidence)}",
        f"  largest  {largest(evidence)}",
    ]
    lines += [f"  left     {one}" for one in _left(evidence)]
    if evidence.worst is not None:
        lines += [f"  worst    {evidence.worst.in_}", f"           {evidence.worst.out}"]
    if evidence.symmetries:
        lines.append(f"  by       {', '.join(evidence.symmetries)}, and the exchange of the worlds")
    return "\n".join(lines)


def _data(evidence: DomainEvidence) -> str:
    return _count(evidence.data, None if evidence.boxes is None else evidence.boxes.log10_data)


def _looked_at(evidence: DomainEvidence) -> str:
    if evidence.boxes is None:
        return f", with {evidence.laws:,} laws"
    return f"; boxes bounded: {evidence.boxes.bounded:,}, pairs compared: {evidence.compared:,}"


def _left(evidence: DomainEvidence) -> Iterator[str]:
    """Yield what is left undecided."""
    boxes = evidence.boxes
    if evidence.unresolved or (evidence.verdict is DomainVerdict.UNRESOLVED and boxes is None):
        yield f"{evidence.unresolved:,} pairs that the bounds on their laws do not decide"
    if boxes is not None and boxes.left:
        worse = "a worse pair" if evidence.verdict is DomainVerdict.VIOLATED else "a pair beyond the claim"
        yield f"{boxes.left:,} boxes that may have {worse}, with a divergence of at most {short(boxes.delta)}"


def largest(evidence: DomainEvidence) -> str:
    """Return the largest loss of a pair, or, for a claim with δ, the largest divergence at its ε."""
    low, high = evidence.epsilon
    if evidence.claim.delta:
        return f"δ = {short(evidence.delta, DIGITS)}"
    digits = DIGITS
    while low > evidence.claim.epsilon and short(low, digits) == short(evidence.claim.epsilon, digits):
        digits += 1  # a small excess is shown, too
    sign = "=" if short(low, digits) == short(low if low == math.inf else high, digits) else "≥"
    return f"ε {sign} {short(low, digits)}" + (f", δ = {short(evidence.delta)}" if evidence.delta else "")
