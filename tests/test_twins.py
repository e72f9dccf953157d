"""Every attack breaks the twin it is for, and fails on every exact one: in the default report, row by row."""

import math
from typing import Any

import pytest

from attacks.attack import Attack
from attacks.catalogue import ATTACKS
from audit.report import ExactEvidence, Report, Row, SampledEvidence, Verdict
from mechanisms.families import family, member, members

Rows = dict[tuple[str, str], Row]


def exact(row: Row) -> ExactEvidence:
    assert row.exact is not None
    return row.exact


def sampled(row: Row) -> SampledEvidence:
    assert row.sampled is not None
    return row.sampled


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_breaks_the_naive_twin(attack: Attack[Any, Any, Any], rows: Rows) -> None:
    for name in attack.breaks:
        row = rows[attack.name, name]
        assert exact(row).verdict is Verdict.VIOLATED
        assert exact(row).epsilon == math.inf
        assert exact(row).advantage is not None
        assert sampled(row).advantage[0] <= (exact(row).advantage or 0) <= sampled(row).advantage[1]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_fails_on_the_exact_twins_and_on_the_fixes(attack: Attack[Any, Any, Any], rows: Rows) -> None:
    exact_twins = [one.name for one in members(family(attack.family)) if one.exact]
    assert exact_twins
    for name in (*exact_twins, *attack.fixes):
        row = rows[attack.name, name]
        assert exact(row).verdict is Verdict.HOLDS
        assert exact(row).within == 0
        assert row.sampled is None or row.sampled.verdict is not Verdict.VIOLATED


def test_every_sample_fits_its_law(report: Report) -> None:
    """The seed is fixed; at another, each of 30 p-values would be at most 0.001 with a probability of 0.001."""
    fits = [row.sampled.fit for row in report.rows if row.sampled is not None and row.sampled.fit is not None]
    assert len(fits) >= 15
    assert all(p > 0.001 for fit in fits for p in (fit.p_in, fit.p_out))


def test_zero_rounding(rows: Rows) -> None:
    naive, base2 = rows["zero-rounding", "exponential-naive-float64"], rows["zero-rounding", "exponential-base2"]
    assert naive.advantage_allowed == math.tanh(0.25)
    assert exact(naive).advantage == 0.99
    assert sampled(naive).verdict is Verdict.VIOLATED
    assert 0 < (exact(base2).advantage or 0) < math.tanh(0.25)
    assert sampled(base2).verdict is Verdict.NOT_REFUTED


def test_zero_rounding_on_two_outcomes(rows: Rows) -> None:
    naive = rows["zero-rounding-two-outcomes", "exponential-naive-float64"]
    assert (exact(naive).advantage, exact(naive).delta) == (1, 1)
    shifted = rows["zero-rounding-two-outcomes", "exponential-naive-shifted"]
    assert exact(shifted).advantage == pytest.approx(math.tanh(0.125), rel=1e-12)


def test_a_refusal_that_depends_on_alice(rows: Rows) -> None:
    row = rows["zero-rounding-refusal", "exponential-naive-positive"]
    assert exact(row).advantage == 1
    assert sampled(row).verdict is Verdict.VIOLATED


def test_truncated_addition(rows: Rows) -> None:
    for variant in ("float64", "shifted"):
        row = rows["truncated-addition", f"exponential-naive-{variant}"]
        assert exact(row).event_in == (1, 1)
        assert exact(row).event_out == pytest.approx((0.001, 0.001), rel=1e-9)
        assert sampled(row).verdict is Verdict.UNDERPOWERED


@pytest.mark.parametrize(("kind", "advantage", "allowed"), [("float16", 1 / 2, 0.01), ("float32", 1 / 3, 0.0005)])
def test_rounded_addition(rows: Rows, kind: str, advantage: float, allowed: float) -> None:
    naive = rows[f"rounded-addition-{kind}", f"exponential-naive-{kind}"]
    assert exact(naive).advantage == pytest.approx(advantage, abs=0.001)
    assert naive.advantage_allowed == pytest.approx(allowed, rel=1e-4)
    assert sampled(naive).verdict is Verdict.VIOLATED
    if kind == "float16":
        assert naive.exhaustive == naive.exact
    else:
        assert rows[f"rounded-addition-{kind}", "exponential-base2"].sampled is None


def test_a_member_declares_the_runs_it_can_take(report: Report) -> None:
    for row in report.rows:
        expected = {"exponential-base2": 4_000}.get(row.mechanism, 100_000)
        assert row.sampled is None or row.sampled.runs == expected


def test_alpha_is_shared_by_the_sampled_rows(report: Report) -> None:
    judged = [row.sampled for row in report.rows if row.sampled is not None]
    assert report.alpha_per_row == pytest.approx(report.alpha / len(judged))
    assert {evidence.confidence for evidence in judged} == {1 - report.alpha_per_row}


def test_members_are_found_by_name() -> None:
    assert member("exponential-naive-float16").family == "exponential"
    with pytest.raises(LookupError, match="unknown mechanism 'exponential-base-2'; did you mean 'exponential-base2'"):
        member("exponential-base-2")
