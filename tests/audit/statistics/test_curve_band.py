"""The whole curve δ(ε) from runs: sound for all ε at once.

False-alarm rate of the tests on sound code: at most ALPHA, the tail beyond the binomial quantile used.
"""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from subnormal.audit.statistics import binomial, curve_band

ALPHA = 1e-6
SEEDS = 200
POINTS = np.linspace(0, 3, 13)

Masses = NDArray[np.float64]


def gaussian(centre: float, sigma: float, bins: int = 41) -> Masses:
    """The Gaussian's masses over bins: rounding is post-processing, so zCDP with ρ = distance²/(2σ²) holds."""
    ends = np.linspace(-5, 6, bins - 1)
    return np.diff(stats.norm.cdf(ends, centre, sigma), prepend=0.0, append=1.0)


def true_curve(first: Masses, second: Masses) -> Masses:
    return np.array(
        [
            max(
                np.maximum(0, one - math.exp(epsilon) * other).sum()
                for one, other in ((first, second), (second, first))
            )
            for epsilon in POINTS
        ]
    )


def drawn(masses: tuple[Masses, Masses], runs: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    return rng.multinomial(runs, masses[0]), rng.multinomial(runs, masses[1])


def in_order(
    bins: tuple[NDArray[np.int64], NDArray[np.int64]], training: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bins from the least likely in the first world, against the second, as training runs have them."""
    order = np.argsort((training[0] + 0.5) / (training[1] + 0.5), kind="stable")
    return bins[0][order], bins[1][order]


def merged(found: NDArray[np.int64], masses: Masses) -> Masses:
    return np.bincount(found, weights=masses).astype(np.float64)


@pytest.mark.parametrize(
    "masses",
    [
        (gaussian(0, 1), gaussian(1, 1)),
        (np.array([0.75, 0.25]), np.array([0.25, 0.75])),
        (np.array([0.01, 0.99, 0.0]), np.array([0.0, 0.98, 0.02])),
    ],
    ids=["gaussian", "one-bit", "rare"],
)
def test_the_band_errs_anywhere_no_more_often_than_alpha(masses: tuple[Masses, Masses]) -> None:
    truth, wrong = true_curve(*masses), 0
    for seed in range(SEEDS):
        bins = in_order(drawn(masses, 2_000, seed), drawn(masses, 500, 1_000 + seed))
        shown = curve_band.band(bins, POINTS.tolist(), 0.05)
        wrong += bool((shown.lower > truth).any() or (shown.upper < truth).any())
        assert (shown.lower <= shown.observed + 1e-12).all()
    assert wrong <= stats.binom.ppf(1 - ALPHA, SEEDS, 0.05)


def test_a_reversed_order_shows_as_much_and_a_scrambled_one_no_more_than_is_true() -> None:
    masses = gaussian(0, 1), gaussian(1, 1)
    counts, order = drawn(masses, 50_000, 1), np.arange(41)
    forth, back, scrambled = (
        curve_band.band((counts[0][one], counts[1][one]), POINTS.tolist(), 0.05)
        for one in (order, order[::-1], np.random.default_rng(1).permutation(41))
    )
    assert forth.lower.tolist() == pytest.approx(back.lower.tolist())
    assert (scrambled.lower <= forth.lower + 0.01).all()
    assert forth.observed == pytest.approx(scrambled.observed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.0}, "alpha must be between 0 and 1, got 1.0"),
        ({"epsilons": []}, "epsilons must be finite and not negative"),
        ({"epsilons": [-1.0]}, "epsilons must be finite and not negative"),
        ({"bins": (np.array([1, 2]), np.array([1, 1]))}, "as many runs and bins in each world, got 3 and 2 runs"),
        ({"bins": (np.array([0]), np.array([0]))}, "runs must be at least 1, got 0"),
    ],
)
def test_bad_input_is_named_with_its_value(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "bins": (np.array([1, 2]), np.array([2, 1])),
        "epsilons": [1.0],
        "alpha": 0.05,
    }
    with pytest.raises(ValueError, match=message):
        curve_band.band(**given | change)


def test_merged_bins_are_ordered_by_the_law_and_keep_apart_what_one_world_alone_can_show() -> None:
    rng = np.random.default_rng(1)
    law = rng.dirichlet(np.ones(1_000)), rng.dirichlet(np.ones(1_000))
    law[0][:3], law[1][500:502], law[0][999], law[1][999] = 0.0, 0.0, 0.0, 0.0
    found = curve_band.groups(1_000, law)
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))
    assert found.max() < curve_band.GROUPS
    assert np.flatnonzero(found == 0).tolist() == [0, 1, 2]
    assert np.flatnonzero(found == found.max()).tolist() == [500, 501]
    possible = np.arange(3, 999)
    order = possible[np.argsort(np.log(law[0][possible] / np.maximum(law[1][possible], 1e-300)))]
    assert (np.diff(found[order]) >= 0).all()


def test_few_likelihood_ratios_lose_nothing_by_merging() -> None:
    """A hundred bins of two ratios are two groups, whose curve is that of the bins."""
    first, second = np.repeat([0.002, 0.018], 50), np.repeat([0.004, 0.016], 50)
    first, second = first / first.sum(), second / second.sum()
    found = curve_band.groups(100, (first, second))
    assert found.max() == 1
    assert true_curve(merged(found, first), merged(found, second)) == pytest.approx(true_curve(first, second))


def test_without_a_law_bins_keep_their_order() -> None:
    assert curve_band.groups(5, None).tolist() == [0, 1, 2, 3, 4]
    found = curve_band.groups(1_000, None)
    assert (found.min(), found.max()) == (0, curve_band.GROUPS - 1)
    assert set(np.diff(found).tolist()) == {0, 1}


@pytest.mark.parametrize("lawful", [True, False])
def test_a_drawn_band_errs_no_more_often_than_alpha(lawful: bool) -> None:
    rng = np.random.default_rng(2)
    law = rng.dirichlet(np.ones(300)), rng.dirichlet(np.ones(300))
    truth, found, wrong = true_curve(*law), curve_band.groups(300, law if lawful else None), 0
    coarse = true_curve(merged(found, law[0]), merged(found, law[1]))
    for seed in range(SEEDS):
        band = curve_band.chart_band(drawn(law, 2_000, seed), POINTS.tolist(), 0.05, law if lawful else None)
        wrong += bool((band.lower > truth).any() or (band.upper < coarse).any())
    assert wrong <= stats.binom.isf(ALPHA, SEEDS, 0.05)
    assert (band.lower.max() > 0.1) == lawful  # the law knows where to look, the order of these bins does not


def test_the_bounds_of_all_half_lines_share_alpha() -> None:
    """64 bins: 63 half-lines, four bounds each, and half of α for all of them."""
    random, bins, runs = np.random.default_rng(1), 64, 20_000
    first = random.multinomial(runs, np.full(bins, 1 / bins))
    second = random.multinomial(runs, np.linspace(0.5, 1.5, bins) / bins)
    shown = curve_band.band((first, second), [0.0, 0.1], 0.05).lower
    tail = 0.05 / 2 / (4 * (bins - 1))
    ends = [
        [binomial.clopper_pearson(int(seen), runs, tail) for seen in np.cumsum(world)[:-1]] for world in (first, second)
    ]
    expected = max(low - high for (low, _), (_, high) in zip(*ends, strict=True))
    assert shown[0] == pytest.approx(expected, rel=1e-9)
    assert expected > 0.05


def test_the_upper_end_allows_for_every_event_of_both_worlds() -> None:
    """3 bins: 2^3 events in each of two worlds, half of α for all; Hoeffding's t in both shares."""
    runs, alpha, points = 10_000, 0.05, [0.0, 0.5]
    shown = curve_band.band((np.array([5_000, 3_000, 2_000]), np.array([4_000, 3_500, 2_500])), points, alpha)
    margin = math.sqrt(math.log(2 * 2**3 / (alpha / 2)) / (2 * runs))
    expected = [seen + margin * (1 + math.exp(point)) for seen, point in zip(shown.observed, points, strict=True)]
    assert shown.upper == pytest.approx(expected, rel=1e-9)


def test_ratios_that_differ_by_a_hair_are_groups_of_their_own() -> None:
    assert len(set(curve_band.groups(3, (np.array([0.24, 0.26, 0.5]), np.array([0.25, 0.25, 0.5]))).tolist())) == 3
