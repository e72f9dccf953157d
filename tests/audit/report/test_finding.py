"""What is claimed and what was found, as one pair: a violation is visible in it, and nothing else looks like one.

The golden files of `every_row` show the pair of each kind of evidence and verdict.
"""

import itertools

import pytest

from subnormal.audit.model import Report, Verdict
from subnormal.audit.report.finding import finding
from subnormal.mechanisms.privacy import Claim
from tests.audit.report.every_row import DELTA, HOLDS, PURE, UNRESOLVED, VIOLATED, exact, row_of


@pytest.mark.parametrize(("one", "other"), list(itertools.product([VIOLATED, HOLDS, UNRESOLVED], repeat=2)))
def test_the_pair_is_of_the_evidence_that_decides(one: Verdict, other: Verdict) -> None:
    shown = row_of(DELTA, exact=exact(one, 3.0, 1e-3), exhaustive=exact(other, 3.0, 1e-4))
    by = finding(shown).by
    assert shown.evidence[by].verdict is shown.verdict
    assert (by == "exhaustive") == (one is not shown.verdict)


@pytest.mark.parametrize("excess", [1e-3, 1e-6, 1e-9, 2.3e-16])
@pytest.mark.parametrize("claim", [Claim(1.0), Claim(0.01), Claim(1.0, 1e-9), Claim(3.0, 0.25)])
def test_a_violation_is_visible_however_small(claim: Claim, excess: float) -> None:
    above = Claim(claim.epsilon * (1 + excess), claim.delta * (1 + excess))
    pair = finding(row_of(claim, exact=exact(VIOLATED, above.epsilon, above.delta)))
    claimed, found = (text.split() for text in (pair.claimed, pair.found))
    assert claimed[0] == found[0] == ("δ" if claim.delta else "ε")
    assert float(found[1]) > float(claimed[1])


def test_a_violation_that_no_float_shows_is_said_to_be_above() -> None:
    assert finding(row_of(PURE, exact=exact(VIOLATED, 1.0, 1e-42))).found == "δ 1e-42"
    assert finding(row_of(DELTA, exact=exact(VIOLATED, 1.0, 1e-9))).found == "δ > 1e-09"
    assert finding(row_of(PURE, exact=exact(HOLDS, 1.0000000000000002))).found == "δ 0"


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
