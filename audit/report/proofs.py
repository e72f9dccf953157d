"""Evidence from every pair of a finite domain, in words."""

from __future__ import annotations

from subnormal.audit.model import DomainEvidence, Verdict
from subnormal.audit.text import given, short

DIGITS = 7


def text(evidence: DomainEvidence) -> str:
    """Return the evidence in a few lines."""
    claim = evidence.claim
    promised = f"ε = {given(claim.epsilon)}" + (f", δ = {given(claim.delta)}" if claim.delta else "")
    lines = [
        f"{evidence.mechanism}: {evidence.verdict}",
        f"  domain   {evidence.domain}",
        f"  pairs    {evidence.pairs:,} ordered pairs of {evidence.data:,} data, with {evidence.laws:,} laws",
        f"  claim    {promised}",
        f"  largest  {largest(evidence)}",
    ]
    if evidence.verdict is Verdict.UNRESOLVED:
        lines.append(f"  left     {evidence.unresolved:,} pairs that the bounds on their laws do not decide")
    if evidence.worst is not None:
        lines += [f"  worst    {evidence.worst.in_}", f"           {evidence.worst.out}"]
    if evidence.symmetries:
        lines.append(f"  by       {', '.join(evidence.symmetries)}, and the exchange of the worlds")
    return "\n".join(lines)


def largest(evidence: DomainEvidence) -> str:
    """Return the largest loss of a pair, or, for a claim with δ, the largest divergence at its ε."""
    low, high = evidence.epsilon
    if evidence.claim.delta:
        return f"δ = {short(evidence.delta, DIGITS)}"
    sign = "=" if high is not None and short(low, DIGITS) == short(high, DIGITS) else "≥"
    return f"ε {sign} {short(low, DIGITS)}" + (f", δ = {short(evidence.delta)}" if evidence.delta else "")
