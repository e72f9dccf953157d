"""Auditors are called false by a test of its stated size, and a flaw that is not public is not named."""

import math

import numpy as np
import pytest

from benchmarks.auditors.__main__ import CHANCE, PAGE, Cell, is_false, text
from benchmarks.auditors.mechanisms import DELTA, MECHANISMS, discrete_laplace, response, sampled

TRUTH = MECHANISMS[0].epsilon[1]  # identical worlds


def cell(auditor: str, false: int, made: int = 100, mechanism: int = 0) -> Cell:
    bounds = (TRUTH + 1.0,) * false + (0.0,) * (made - false)
    return Cell("jax_privacy", auditor, False, mechanism, bounds)


def test_an_auditor_is_false_where_one_of_its_mechanisms_shows_it() -> None:
    assert cell("a", 0).chance == 1
    assert cell("a", 14).chance < CHANCE < cell("a", 13).chance
    assert is_false([cell("a", 14)])
    assert not is_false([cell("a", 14), cell("a", 5), cell("a", 5)])  # which share the chance
    assert is_false([cell("a", 5), cell("a", 20), cell("a", 5)])


def test_a_bound_at_the_truth_is_not_false() -> None:
    mechanism = MECHANISMS[9]
    truth = mechanism.epsilon[1]
    assert Cell("subnormal", "a", False, 9, (truth, truth * (1 + 1e-7), truth * 1.001, 0.0)).false == 1


def test_what_is_not_public_is_not_named() -> None:
    page = text([cell("epsilon_from_gdp", 90), cell("secret", 90), cell("sound", 3)], 100, 2.0)
    assert "secret" not in page
    assert "Rows may be withheld" in page
    assert "| epsilon_from_gdp | 1 | 100 | 90 | 90 of 100: identical worlds; 50 | **FALSE** |" in page
    assert "| sound | 1 | 100 | 3 | 3 of 100: identical worlds; 50 | not refuted |" in page


def test_the_truth_of_counted_mechanisms() -> None:
    low, up = response(1.0, 50).epsilon
    assert math.exp(1) - math.exp(low) >= DELTA * (1 + math.exp(1)) >= math.exp(1) - math.exp(up)
    places = np.arange(-60, 62)
    masses = [np.exp(-np.abs(places - one)) * math.tanh(0.5) for one in (1, 0)]
    low, up = discrete_laplace(1.0, 50).epsilon
    shown = [np.maximum(0, masses[0] - math.exp(one) * masses[1]).sum() for one in (low - 1e-9, up + 1e-9)]
    assert shown[0] > DELTA > shown[1]


@pytest.mark.parametrize("mechanism", [discrete_laplace(1.0, 40_000), response(1.0, 40_000), sampled(4, 0.1, 40_000)])
def test_scores_are_drawn_as_stated(mechanism: object) -> None:
    """False-alarm rate: 10^-6 for each, by Hoeffding."""
    scores, included = mechanism.scores(1, 5)  # type: ignore[attr-defined]
    margin = math.sqrt(math.log(4 / 1e-6) / 2 / 19_000)
    high, low = ((scores[0][isin] >= 1).mean() for isin in (included[0], ~included[0]))
    stated = {"integer": (1 / (1 + math.exp(-1)), math.exp(-1) / (1 + math.exp(-1))), "randomized": (0.731, 0.269)}
    normal = 0.5 * math.erfc(1 / math.sqrt(2)), 0.5 * math.erfc(-3 / math.sqrt(2))
    expected = stated.get(mechanism.name.split()[0], (0.9 * normal[0] + 0.1 * normal[1], normal[0]))  # type: ignore[attr-defined]
    assert abs(high - expected[0]) < margin
    assert abs(low - expected[1]) < margin


def test_the_page_finds_the_public_flaw_and_none_of_ours() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    verdicts = {tuple(row.split(" | ")[:2]): row.endswith("**FALSE** |") for row in rows if row.count("|") == 8}
    assert verdicts["| jax-privacy==2.0.0", "epsilon_from_gdp (G)"]
    ours = [false for (package, _), false in verdicts.items() if package == "| subnormal"]
    assert ours == [False] * 5
