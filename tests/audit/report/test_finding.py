"""What is claimed and what was found, as one pair: a violation is visible in it, and nothing else looks like one."""

import dataclasses
import itertools
import math
from typing import Literal

import pytest

from subnormal.audit.model import (
    Evidence,
    ExactEvidence,
    KolmogorovSmirnov,
    Report,
    Row,
    SampledEvidence,
    SequentialEvidence,
    TimingEvidence,
    Verdict,
)
from subnormal.audit.report.finding import Finding, finding
from subnormal.mechanisms.privacy import Claim
from tests.support.rows import blank_row

PURE, DELTA = Claim(1.0), Claim(1.0, 1e-9)


def row(claim: Claim | None, **evidence: Evidence) -> Row:
    return dataclasses.replace(blank_row(claim), **evidence)  # type: ignore[arg-type]  # by kind


def exact(verdict: Verdict, epsilon: float = 0.5, delta: float = 0.0, within: float | None = None) -> ExactEvidence:
    return ExactEvidence(verdict, epsilon, delta, within, None, 0.5, None, None, None)


def sampled(verdict: Verdict, epsilon: float = 0.5, by: Literal["event", "distance"] | None = None) -> SampledEvidence:
    distance = KolmogorovSmirnov(0.9, 0.46, 0.01)
    shown = (0.0, 0.1), (0.5, 0.6), (0.4, 0.6)
    return SampledEvidence(verdict, 1_000, 0.95, epsilon, *shown, distance, None, convicted_by=by)


def bet(verdict: Verdict, log_e_value: float) -> SequentialEvidence:
    return SequentialEvidence(verdict, 512, 1_000, 0, 0.05, log_e_value, {}, 9, 300, ((0, 0.0),))


def clock(verdict: Verdict, log_e_value: float) -> TimingEvidence:
    numbers = {field.name: 0.0 for field in dataclasses.fields(TimingEvidence)}
    known = {"verdict": verdict, "confidence": 0.95, "measurements": 500, "log_e_value": log_e_value}
    return TimingEvidence(**(numbers | known))  # type: ignore[arg-type]


VIOLATED, HOLDS, UNRESOLVED = Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED
NOT_REFUTED, UNDERPOWERED = Verdict.NOT_REFUTED, Verdict.UNDERPOWERED


@pytest.mark.parametrize(
    ("shown", "claimed", "found", "by"),
    [
        (row(PURE, exact=exact(VIOLATED, math.inf, 0.9)), "ε 1", "ε ∞", "exact"),
        (row(PURE, exact=exact(HOLDS)), "ε 1", "ε 0.5", "exact"),
        (row(PURE, exhaustive=exact(HOLDS)), "ε 1", "ε 0.5", "exhaustive"),
        (row(PURE, exact=exact(UNRESOLVED, within=1e-5)), "δ 0", "δ 0 to 1e-05", "exact"),
        (row(DELTA, exact=exact(VIOLATED, math.inf, 3e-8)), "δ 1e-09", "δ 3e-08", "exact"),
        (row(DELTA, exact=exact(HOLDS, math.inf, 2e-10)), "δ 1e-09", "δ 2e-10", "exact"),
        (row(PURE, sampled=sampled(VIOLATED, 1.5, "event")), "ε 1", "ε ≥ 1.5", "sampled"),
        (row(DELTA, sampled=sampled(VIOLATED, 1.5, "event")), "ε 1", "ε ≥ 1.5", "sampled"),
        (row(DELTA, sampled=sampled(VIOLATED, 1.5, "distance")), "distance 0.46", "distance ≥ 0.89", "sampled"),
        (row(PURE, sampled=sampled(NOT_REFUTED)), "ε 1", "ε ≥ 0.5", "sampled"),
        (row(PURE, sampled=sampled(UNDERPOWERED)), "ε 1", "too few runs", "sampled"),
        (row(PURE, sequential=bet(VIOLATED, 10.0)), "e-value < 20", "e-value 2.2e+04", "sequential"),
        (row(PURE, sequential=bet(NOT_REFUTED, 0.0)), "e-value < 20", "e-value 1", "sequential"),
        (row(PURE, sequential=bet(UNDERPOWERED, 0.0)), "ε 1", "too few runs", "sequential"),
        (row(PURE, timing=clock(VIOLATED, 10.0)), "e-value < 20", "e-value 2.2e+04", "timing"),
        (row(PURE, timing=clock(NOT_REFUTED, 0.0)), "e-value < 20", "e-value 1", "timing"),
        (row(PURE, timing=clock(UNDERPOWERED, 0.0)), "ε 1", "too few runs", "timing"),
        (row(PURE), "ε 1", "nothing", "–"),
        (row(None), "–", "nothing", "–"),
        (dataclasses.replace(row(None), error="ValueError: no"), "–", "ValueError: no", "–"),
        (dataclasses.replace(row(PURE), error="ValueError: no"), "ε 1", "ValueError: no", "–"),
    ],
)
def test_every_kind_of_evidence_and_verdict_has_a_pair(shown: Row, claimed: str, found: str, by: str) -> None:
    assert dataclasses.replace(finding(shown), excess=None) == Finding(claimed, found, by)
    assert str(finding(shown)) == f"claims {claimed} · found {found}"


@pytest.mark.parametrize(("one", "other"), list(itertools.product([VIOLATED, HOLDS, UNRESOLVED], repeat=2)))
def test_the_pair_is_of_the_evidence_that_decides(one: Verdict, other: Verdict) -> None:
    shown = row(DELTA, exact=exact(one, 3.0, 1e-3, 1e-3), exhaustive=exact(other, 3.0, 1e-4, 1e-3))
    by = finding(shown).by
    assert shown.evidence[by].verdict is shown.verdict
    assert (by == "exhaustive") == (one is not shown.verdict)


@pytest.mark.parametrize("excess", [1e-3, 1e-6, 1e-9, 2.3e-16])
@pytest.mark.parametrize("claim", [Claim(1.0), Claim(0.01), Claim(1.0, 1e-9), Claim(3.0, 0.25)])
def test_a_violation_is_visible_however_small(claim: Claim, excess: float) -> None:
    above = Claim(claim.epsilon * (1 + excess), claim.delta * (1 + excess))
    pair = finding(row(claim, exact=exact(VIOLATED, above.epsilon, above.delta)))
    claimed, found = (text.split() for text in (pair.claimed, pair.found))
    assert claimed[0] == found[0] == ("δ" if claim.delta else "ε")
    assert float(found[1]) > float(claimed[1])


def test_a_violation_that_no_float_shows_is_said_to_be_above() -> None:
    assert finding(row(PURE, exact=exact(VIOLATED, 1.0, 1e-42))).found == "δ 1e-42"
    assert finding(row(DELTA, exact=exact(VIOLATED, 1.0, 1e-9))).found == "δ > 1e-09"
    assert finding(row(PURE, exact=exact(HOLDS, 1.0000000000000002))).found == "δ 0"


def test_what_holds_never_looks_broken(report: Report) -> None:
    judged = 0
    for one in report.rows:
        pair = finding(one)
        if pair.by not in ("exact", "exhaustive", "sampled") or "too few" in pair.found:
            continue
        numbers = (text.rpartition(" ")[2].replace("∞", "inf") for text in (pair.claimed, pair.found))
        claimed, found = (float(text) if "−" not in text else 1 - float(text[2:]) for text in numbers)
        assert pair.claimed[0] == pair.found[0]
        assert (found > claimed) == one.violated
        assert pair.excess is not None
        assert (pair.excess > 1) == one.violated
        judged += 1
    assert judged > 100
