"""Formulas against independent computations, and against scipy where scipy has them."""

import itertools
import math
from typing import Any

import gmpy2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from subnormal.audit.statistics import binomial
from subnormal.mechanisms.privacy import Claim


@pytest.mark.parametrize(("count", "runs"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 100_000), (99_999, 100_000)])
@pytest.mark.parametrize("tail", [0.0125, 1e-4, 1e-9])
def test_clopper_pearson_has_exactly_its_tails(count: int, runs: int, tail: float) -> None:
    low, high = binomial.clopper_pearson(count, runs, tail)
    assert low == 0 if count == 0 else stats.binom.sf(count - 1, runs, low) == pytest.approx(tail, rel=1e-6)
    assert high == 1 if count == runs else stats.binom.cdf(count, runs, high) == pytest.approx(tail, rel=1e-6)


def at_least(count: int, runs: int, chance: Any, other: Any) -> Any:
    """P(X ≥ count) of a binomial law: its first term by MPFR, the others by their ratios; other: 1 − chance."""
    log = gmpy2.lngamma(gmpy2.mpfr(runs + 1)) - gmpy2.lngamma(gmpy2.mpfr(runs - count + 1))
    log += count * gmpy2.log(chance) + (runs - count) * gmpy2.log(other) - gmpy2.lngamma(gmpy2.mpfr(count + 1))
    places = np.arange(count, min(runs, count + 4_000), dtype=np.longdouble)
    terms = np.cumprod((runs - places) / (places + 1) * np.longdouble(float(chance / other)))
    assert len(terms) == runs - count or terms[-1] < 1e-15 * terms.sum()
    return gmpy2.exp(log) * gmpy2.mpfr(float(1 + terms.sum()))


def assert_ends(counts: NDArray[np.int64], runs: int, tail: float) -> None:
    """No end errs with more than its tail, nor would it with less on the next float inwards."""
    lows, highs = binomial.clopper_pearson_all(counts, runs, tail)
    assert (lows <= counts / runs).all()
    assert (counts / runs <= highs).all()
    with gmpy2.context(gmpy2.get_context(), precision=120):
        for count, low, high in zip(counts.tolist(), lows.tolist(), highs.tolist(), strict=True):
            ends = [(count, low, 1.0, False), (runs - count, high, 0.0, True)]
            for seen, end, inwards, mirrored in ends:
                chances = [gmpy2.mpfr(place) for place in (end, math.nextafter(end, inwards))]
                pairs = [(1 - chance, chance) if mirrored else (chance, 1 - chance) for chance in chances]
                if end not in (0, 1):
                    assert at_least(seen, runs, *pairs[0]) <= tail * (1 + 2e-9), (count, runs, tail, end)
                if seen > 0:
                    assert at_least(seen, runs, *pairs[1]) >= tail * (1 - 2e-9), (count, runs, tail, end)


@pytest.mark.parametrize("tail", [0.0125, 2.5e-7, 1e-300])
@pytest.mark.parametrize("runs", [2_000, 10**8, 150_000_000, 10**9, 10**10])
def test_clopper_pearson_where_scipys_inverse_fails(runs: int, tail: float) -> None:
    counts = np.array([0, 1, 2, 5, *range(990, 1_011)])
    assert_ends(np.concatenate([counts, runs - counts]), runs, tail)


@pytest.mark.parametrize("mirrored", [False, True])
def test_small_counts_of_many_runs(mirrored: bool) -> None:
    counts = np.concatenate([np.arange(64), np.arange(64, 3_001, 29)])
    assert_ends(10**9 - counts if mirrored else counts, 10**9, 0.0125)


def test_one_count_has_the_ends_that_many_have() -> None:
    counts = np.array([0, 3, 1_000, 10**9])
    lows, highs = binomial.clopper_pearson_all(counts, 10**9, 1e-8)
    each = [binomial.clopper_pearson(count, 10**9, 1e-8) for count in counts.tolist()]
    assert each == list(zip(lows.tolist(), highs.tolist(), strict=True))


@pytest.mark.parametrize(
    ("count", "runs", "tail", "message"),
    [
        (11, 10, 0.1, "counts must lie between 0 and runs = 10, got 11 to 11"),
        (-1, 10, 0.1, "counts must lie between 0 and runs = 10, got -1 to -1"),
        (0, 0, 0.1, "counts must lie between 0 and runs = 0, got 0 to 0"),
        (1, 10, 0.6, "tail must be positive and at most 1/2, got 0.6"),
        (1, 10, 0.0, "tail must be positive and at most 1/2, got 0.0"),
    ],
)
def test_an_interval_of_nothing_is_refused(count: int, runs: int, tail: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        binomial.clopper_pearson(count, runs, tail)


def test_the_bound_on_epsilon_uses_both_directions_and_the_complement() -> None:
    fifth, tenth = (0.2, 0.2), (0.1, 0.1)
    assert binomial.epsilon_lower(fifth, tenth, 0.0) == pytest.approx(math.log(2))
    assert binomial.epsilon_lower(tenth, fifth, 0.0) == pytest.approx(math.log(2))
    assert binomial.epsilon_lower((0.8, 0.8), (0.9, 0.9), 0.0) == pytest.approx(math.log(2))
    assert binomial.epsilon_lower(fifth, tenth, 0.1) == 0
    assert binomial.epsilon_lower((0.1, 0.3), (0.2, 0.4), 0.0) == 0


@pytest.mark.parametrize(("runs", "boundary"), [(100_000, 10.0353), (10_000, 7.7325)])
def test_underpowered_begins_where_a_perfect_distinguisher_ends(runs: int, boundary: float) -> None:
    assert not binomial.underpowered(runs, 0.05, boundary - 0.001, 0.0)
    assert binomial.underpowered(runs, 0.05, boundary + 0.001, 0.0)
    best = binomial.epsilon_lower(
        binomial.clopper_pearson(runs, runs, 0.05 / 4), binomial.clopper_pearson(0, runs, 0.05 / 4), 0.0
    )
    assert best == pytest.approx(boundary, abs=0.001)


def test_where_the_event_cannot_convict_no_distance_can() -> None:
    """With as much of α for each, a distance of 1 exceeds what the claim allows by more than its margin no sooner."""
    for alpha, epsilon, delta in itertools.product((0.9, 0.025, 1e-9), (0.0, 1e-3, 1.0, 9.0), (0.0, 1e-6, 0.5, 0.99)):
        runs = binomial.runs_needed(alpha, epsilon, delta) - 1
        if runs > 0:
            assert 1 - binomial.dkw_margin(runs, alpha) <= Claim(epsilon, delta).advantage_allowed


def test_the_margin_of_the_distance_is_dkw_for_two_samples() -> None:
    assert binomial.dkw_margin(100_000, 0.05) == pytest.approx(2 * math.sqrt(math.log(80) / 200_000), rel=1e-15)


def test_the_ks_distance_is_scipys_on_samples() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 20, 500), rng.integers(3, 23, 500)
    bins = [np.bincount(sample, minlength=23) / 500 for sample in (first, second)]
    assert binomial.ks_distance(bins[0], bins[1]) == pytest.approx(stats.ks_2samp(first, second).statistic)


def test_p_values_of_the_fit_are_not_too_small_under_the_law() -> None:
    """False alarms: P(p ≤ 0.05) ≤ 0.05 for each of 200 samples of the law; quantile 1 − 1e-6 of Binomial(200, 0.05)."""
    law = np.array([0.9, 0.05, 0.03, 0.02, 0.0])
    rng = np.random.default_rng(2)
    counts = [rng.multinomial(300, law) for _ in range(200)]
    rejected = sum(binomial.monte_carlo_fit(sample, law, seed)[1] <= 0.05 for seed, sample in enumerate(counts))
    assert rejected <= stats.binom.ppf(1 - 1e-6, 200, 0.05)


def test_the_p_value_is_the_share_of_the_simulations_before_the_last_needed_one() -> None:
    """Of one stream of samples: 20/l where the l-th is the 20th at least as far away, else the rank among 999."""
    law, runs, found = np.array([0.5, 0.3, 0.15, 0.05]), 200, set()
    for seed, counts in enumerate(np.random.default_rng(4).multinomial(runs, [0.52, 0.3, 0.13, 0.05], size=60)):
        samples = np.random.default_rng(seed).multinomial(runs, law, size=999)
        observed = np.abs(np.cumsum(counts / runs - law)).max()
        as_far = np.abs(np.cumsum(samples / runs - law, axis=1)).max(axis=1) >= observed - 1e-12
        expected = 20 / (np.flatnonzero(as_far)[19] + 1) if as_far.sum() >= 20 else (1 + as_far.sum()) / 1000
        assert binomial.monte_carlo_fit(counts, law, seed)[1] == expected
        found.add(bool(as_far.sum() >= 20))
    assert found == {False, True}


def test_a_wrong_law_is_found() -> None:
    counts = np.random.default_rng(3).multinomial(10_000, [0.5, 0.3, 0.2])
    assert binomial.monte_carlo_fit(counts, np.array([0.5, 0.2, 0.3]), 1)[1] == 0.001
    impossible = binomial.monte_carlo_fit(np.array([50, 50]), np.array([1.0, 0.0]), 1)
    assert impossible == (0.5, 0.001)
