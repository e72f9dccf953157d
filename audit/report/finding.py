"""The claim of a row and its result as one comparable pair, for the terminal, the page and JUnit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from subnormal.audit.model import (
    MEASURED,
    Evidence,
    ExactEvidence,
    Interval,
    Row,
    SampledEvidence,
    SequentialEvidence,
    Verdict,
)
from subnormal.audit.report import sentences
from subnormal.audit.text import short, short_apart
from subnormal.mechanisms.privacy import Claim

DIGITS = 4  # of a number in a table


@dataclass(frozen=True, slots=True)
class Finding:
    """The same quantity twice: as claimed, and as found. by: the kind of evidence, "–" without any.

    excess: the found number divided by the claimed one, to sort by; None without two numbers.
    A found ε is the loss at the claimed δ, a found δ the divergence at the claimed ε; "≥" marks lower bounds of runs.
    A found distance is that of the worlds' distribution functions; claimed is the largest that the claim allows.
    """

    claimed: str
    found: str
    by: str
    excess: float | None = None

    def __str__(self) -> str:
        return f"claims {self.claimed} · found {self.found}"


def finding(row: Row) -> Finding:
    """Return the pair of numbers that shows the row's verdict, from the evidence that decides it.

    For an error, `found` is its message.
    """
    plain = "–" if row.claim is None else f"ε {short(row.claim.epsilon)}"
    if row.error is not None:
        return Finding(plain, row.error, "–")
    kind = next(iter(sentences.kinds(row)), None)
    if row.claim is None or kind is None:
        return Finding(plain, "nothing", "–")
    claimed, found, excess = _compared(row.evidence[kind], row.claim)
    return Finding(claimed, found, kind, excess)


def found(row: Row) -> str:
    """Return what was found, or nothing where the verdict says all."""
    says_all = sentences.verdict(row) in (sentences.ERROR, sentences.NO_VERDICT, Verdict.UNDERPOWERED, MEASURED)
    return "" if says_all else finding(row).found


def allowed_in(out: Interval, claim: Claim) -> Interval:
    """Return the probabilities of an event in one world that the claim allows for its probabilities in the other.

    The claim holds for the event and for its complement, in both directions. out: the nearest floats of probabilities,
    which may be rounded: 1 may stand for 1 − 10^−17, and a claim of ε = 38 distinguishes them.

    >>> allowed_in((0.0, 0.0), Claim(1.0, 0.125))
    (0.0, 0.125)
    """
    ratio, delta = math.exp(min(claim.epsilon, 700.0)), claim.delta
    low, high = math.nextafter(out[0], 0), math.nextafter(out[1], 1)
    most = min(1.0, ratio * high + delta, 1 - (1 - high - delta) / ratio)
    least = max(0.0, (low - delta) / ratio, 1 - ratio * (1 - low) - delta)
    return least, max(least, most)


def _compared(evidence: Evidence, claim: Claim) -> tuple[str, str, float | None]:
    if isinstance(evidence, ExactEvidence):
        return _proved(evidence, claim)
    if evidence.verdict is Verdict.UNDERPOWERED:
        return f"ε {short(claim.epsilon)}", "too few runs", None
    if isinstance(evidence, SampledEvidence) and evidence.convicted_by == "distance":
        return _pair("distance", evidence.ks.allowed, evidence.ks.statistic - evidence.ks.margin, "≥ ")
    if isinstance(evidence, SampledEvidence):
        return _pair("ε", claim.epsilon, evidence.epsilon_lower, "≥ ")
    alpha = evidence.alpha if isinstance(evidence, SequentialEvidence) else 1 - evidence.confidence
    e_value = math.exp(min(700.0, evidence.log_e_value))
    return f"e-value < {short(1 / alpha)}", f"e-value {short(e_value, 3)}", e_value * alpha


def _proved(evidence: ExactEvidence, claim: Claim) -> tuple[str, str, float | None]:
    """Return ε and the loss if the claim has no δ, otherwise δ and the divergence at the claimed ε."""
    if evidence.verdict is Verdict.UNRESOLVED:
        most = claim.delta + (evidence.within or 0.0)
        return f"δ {short(claim.delta)}", f"δ {short(evidence.delta)} to {short(most)}", None
    broken = evidence.verdict is Verdict.VIOLATED
    if claim.delta == 0 and (evidence.epsilon > claim.epsilon) == broken:
        return _pair("ε", claim.epsilon, evidence.epsilon)
    if (evidence.delta > claim.delta) == broken:
        return _pair("δ", claim.delta, evidence.delta)
    sign = ">" if broken else "≤"  # no float shows the difference
    return f"δ {short(claim.delta)}", f"δ {sign} {short(claim.delta)}", 1.0


def _pair(name: str, claimed: float, found: float, sign: str = "") -> tuple[str, str, float]:
    """Return both numbers, with enough digits to show that one above the claim is above it."""
    both = short_apart(claimed, found, DIGITS) if found > claimed else (short(claimed, DIGITS), short(found, DIGITS))
    excess = found / claimed if claimed else math.inf if found else 1.0
    return f"{name} {both[0]}", f"{name} {sign}{both[1]}", excess
