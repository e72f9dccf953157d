"""Formulas against independent computations, and against scipy where scipy has them."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import statistics


@pytest.mark.parametrize(("count", "runs"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 100_000), (99_999, 100_000)])
@pytest.mark.parametrize("tail", [0.0125, 1e-4, 1e-9])
def test_clopper_pearson_has_exactly_its_tails(count: int, runs: int, tail: float) -> None:
    low, high = statistics.clopper_pearson(count, runs, tail)
    assert low == 0 if count == 0 else stats.binom.sf(count - 1, runs, low) == pytest.approx(tail, rel=1e-6)
    assert high == 1 if count == runs else stats.binom.cdf(count, runs, high) == pytest.approx(tail, rel=1e-6)


def test_clopper_pearson_is_scipys() -> None:
    expected = stats.binomtest(5, 100).proportion_ci(0.95, method="exact")
    assert statistics.clopper_pearson(5, 100, 0.025) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_the_bound_on_epsilon_uses_both_directions_and_the_complement() -> None:
    fifth, tenth = (0.2, 0.2), (0.1, 0.1)
    assert statistics.epsilon_lower(fifth, tenth, 0.0) == pytest.approx(math.log(2))
    assert statistics.epsilon_lower(tenth, fifth, 0.0) == pytest.approx(math.log(2))
    assert statistics.epsilon_lower((0.8, 0.8), (0.9, 0.9), 0.0) == pytest.approx(math.log(2))
    assert statistics.epsilon_lower(fifth, tenth, 0.1) == 0
    assert statistics.epsilon_lower((0.1, 0.3), (0.2, 0.4), 0.0) == 0


@pytest.mark.parametrize(("runs", "boundary"), [(100_000, 10.0353), (10_000, 7.7325)])
def test_underpowered_begins_where_a_perfect_distinguisher_ends(runs: int, boundary: float) -> None:
    assert not statistics.underpowered(runs, 0.05, boundary - 0.001, 0.0)
    assert statistics.underpowered(runs, 0.05, boundary + 0.001, 0.0)
    best = statistics.epsilon_lower(
        statistics.clopper_pearson(runs, runs, 0.05 / 4), statistics.clopper_pearson(0, runs, 0.05 / 4), 0.0
    )
    assert best == pytest.approx(boundary, abs=0.001)


def test_a_delta_near_one_cannot_be_refuted() -> None:
    assert statistics.underpowered(100, 0.05, 0.0, 0.99)


def test_the_margin_of_the_distance_is_dkw_for_two_samples() -> None:
    assert statistics.dkw_margin(100_000, 0.05) == pytest.approx(2 * math.sqrt(math.log(80) / 200_000), rel=1e-15)


def test_the_ks_distance_is_scipys_on_samples() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 20, 500), rng.integers(3, 23, 500)
    cells = [np.bincount(sample, minlength=23) / 500 for sample in (first, second)]
    assert statistics.ks_distance(cells[0], cells[1]) == pytest.approx(stats.ks_2samp(first, second).statistic)


def test_p_values_of_the_fit_are_not_too_small_under_the_law() -> None:
    """False alarms: P(p ≤ 0.05) ≤ 0.05 for each of 200 samples of the law; quantile 1 − 1e-6 of Binomial(200, 0.05)."""
    law = np.array([0.9, 0.05, 0.03, 0.02, 0.0])
    rng = np.random.default_rng(2)
    counts = [rng.multinomial(300, law) for _ in range(200)]
    rejected = sum(statistics.monte_carlo_fit(sample, law, seed)[1] <= 0.05 for seed, sample in enumerate(counts))
    assert rejected <= stats.binom.ppf(1 - 1e-6, 200, 0.05)


def test_a_wrong_law_is_found() -> None:
    counts = np.random.default_rng(3).multinomial(10_000, [0.5, 0.3, 0.2])
    assert statistics.monte_carlo_fit(counts, np.array([0.5, 0.2, 0.3]), 1)[1] == 0.001
    impossible = statistics.monte_carlo_fit(np.array([50, 50]), np.array([1.0, 0.0]), 1)
    assert impossible == (0.5, 0.001)
