"""The comparison of naive base e with exact base 2, and each attack on both twins."""

import dataclasses
import math
import re

import pytest
from rich.cells import cell_len

from docs import table
from subnormal.audit.model import ExactEvidence, Report, Verdict
from subnormal.audit.report import terminal, twins
from subnormal.mechanisms.privacy import Claim
from tests.audit.report.test_golden import printed
from tests.support.paths import ROOT
from tests.support.rows import blank_row

NUMBER = r"(?<![\w.])\d+(?:\.\d+)?(?:e-\d+)?"

# By derivation, or as the papers print them: the loss in base 2, and the advantages of both.
EXPECTED = {
    "zero-rounding": ("HOLDS 0.2472", 0.99, 1 / 100 - 1 / 99 + 0.0037),
    "truncated-addition": ("HOLDS 30.08", 0.999, 0.999),
    "truncated-addition@epsilon=1.0,outcomes=4096,float_type=float16": ("HOLDS 0.6903", 1 - math.exp(-0.5) / 2, 0.213),
    "truncated-addition@epsilon=8.5,outcomes=32768,float_type=float32": ("HOLDS 6.464", 0.8686, 0.8681),
    "truncated-addition-half": ("HOLDS 29.56", 1 - 0.6441, 0.3535),
}


def test_the_paper_s_attacks_break_base_e_and_not_base_2(report: Report) -> None:
    """False alarm: an interval leaves out its advantage with the report's α at most; the seed is fixed."""
    pairs = {one.broken.attack: one for one in twins.compared(report.rows)}
    assert list(pairs) == list(EXPECTED)
    for name, (held, naive, exact) in EXPECTED.items():
        pair = pairs[name]
        assert pair.exact is not None
        assert twins.cells(pair.broken)[1] == "VIOLATED ∞"
        assert twins.cells(pair.exact)[1] == held
        for row, advantage in ((pair.broken, naive), (pair.exact, exact)):
            assert row.sampled is not None
            assert row.sampled.advantage[0] <= advantage + 1e-3
            assert advantage - 1e-3 <= row.sampled.advantage[1]


def test_runs_separate_what_the_law_separates_where_they_can(report: Report) -> None:
    for one in twins.compared(report.rows):
        assert one.exact is not None
        naive, exact = twins.cells(one.broken), twins.cells(one.exact)
        decidable = one.broken.claim is not None and one.broken.claim.epsilon < 9
        assert naive[2].endswith("✗" if decidable else "–")
        assert exact[2].endswith("]" if decidable else "–")
        assert (naive[4] == "<1e-99") == (one.broken.claim is not None and one.broken.claim.epsilon <= 1)
        assert exact[4] == "1"


def test_each_attack_has_its_line_and_the_picture_of_the_documents_shows_the_same(report: Report) -> None:
    text = printed(terminal.overview(report))
    assert max(map(cell_len, text.splitlines())) <= terminal.WIDTH
    assert "…" not in text
    assert all(row.attack in text for row in report.rows)
    assert all(row.mechanism in text for one in twins.twins(report.rows) for row in one.others)
    assert table.to_svg(report).count("VIOLATED") == text.count("VIOLATED")


def test_the_readme_shows_the_comparison_as_it_is_printed(report: Report) -> None:
    """The intervals depend on how many rows share α, and so on which libraries are installed: by at most 0.002."""
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0].splitlines()
    made = printed(terminal.overview(report)).splitlines()[: len(shown)]
    assert shown
    for line, other in zip(shown, made, strict=True):
        assert re.sub(NUMBER, "#", line).split() == re.sub(NUMBER, "#", other).split()
        numbers = [[float(one) for one in re.findall(NUMBER, text)] for text in (line, other)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.002)


def test_the_summary_counts_attacks_and_twins(report: Report) -> None:
    every = twins.twins(report.rows)
    named = [one for one in every if one.broken.attack == "zero-rounding"]
    assert twins.summary(named) == "1 attack: 1 breaks a naive mechanism; of the exact twins 1 is proved to hold."
    alone = [twins.Twins(named[0].section, named[0].broken, None, ())]
    assert twins.summary(alone) == "1 attack: 1 breaks a naive mechanism; there is no exact twin."


@pytest.mark.parametrize("claim", [Claim(0.5), Claim(2.0, 0.01), Claim(8.0)], ids=str)
@pytest.mark.parametrize("inside", [0.0, 1e-6, 0.2, 0.5, 0.93, 1.0])
@pytest.mark.parametrize("outside", [0.0, 1.0])
def test_a_bar_marks_the_last_probability_that_the_claim_allows(claim: Claim, inside: float, outside: float) -> None:
    def excess(other: float) -> float:
        """By how much an event of these probabilities, or its complement, leaves the claim in either direction."""
        pairs = (inside, other), (other, inside), (1 - inside, 1 - other), (1 - other, 1 - inside)
        return max(p - math.exp(claim.epsilon) * q - claim.delta for p, q in pairs)

    proved = ExactEvidence(Verdict.HOLDS, 0.0, 0.0, 0.0, None, 0.0, (inside, inside), (outside, outside))
    bar = twins.bar(dataclasses.replace(blank_row(claim), exact=proved))
    assert bar is not None
    assert bar.allowed is not None
    allowed = bar.allowed
    assert min(inside, outside) <= allowed <= max(inside, outside) or inside == outside
    assert excess(allowed) <= 1e-12
    beyond = allowed + 1e-6 * (1 if outside > inside else -1)
    assert excess(beyond) > 0 or not 0 <= beyond <= 1 or inside == outside


def test_without_runs_there_is_nothing_to_compare(report: Report) -> None:
    rows = [dataclasses.replace(row, sampled=None) for row in report.rows]
    with pytest.raises(ValueError, match="no row to compare: it takes zero-rounding, truncated-addition, "):
        twins.to_latex(rows)
