"""A threshold on a release makes two events, whose probabilities in the two worlds a replay bounds."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from subnormal import Claim, Gdp
from subnormal.audit.check.replay import modelled
from subnormal.audit.check.replay.readable import hoped_for
from subnormal.audit.check.replay.recorder import Release, Run
from subnormal.audit.check.result import ModelledLoss
from tests.support.replays import Pair, accused, laplace


def laplace_of(scale: float) -> float:
    return -scale * laplace() / -1.0


@pytest.mark.parametrize(("kind", "law"), [("Laplace", laplace_law), ("Gaussian", norm)])
@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.5, 3.0)])
@pytest.mark.parametrize("threshold", [-3.0, 0.4, 1.0, 7.0])
@pytest.mark.parametrize("width", [0.0, 0.1])
def test_the_events_of_a_threshold_have_bounds_for_all_places_in_its_interval(
    kind: str, law: Any, scales: tuple[float, float], threshold: float, width: float
) -> None:
    one, other = (Release(0, float(at), scale, 9.0) for at, scale in enumerate(scales))
    interval = threshold - width, threshold + width
    events = modelled._events(kind, interval, one, other)
    for event, tail in zip(events, (law.logsf, law.logcdf), strict=True):
        chances = [[tail(at, here.location, here.scale) for at in interval] for here in (one, other)]
        assert event[0] == pytest.approx((min(chances[0]), max(chances[1])))
        assert event[1] == pytest.approx((min(chances[1]), max(chances[0])))


def test_noise_that_is_neither_laplace_nor_gaussian_has_no_events() -> None:
    moved = {(0, 0): ModelledLoss("a primitive", "bounded", "mine.py:3", 0.0, 9.0, 1.0, 9.0)}
    claim = Claim(0.1)
    assert modelled._exceeded(moved, hoped_for(moved, claim), (Run(), Run()), claim) is None


@pytest.mark.parametrize("low", [-0.1, -30.0, -math.inf])
@pytest.mark.parametrize("other_high", [-0.2, -40.0, -1000.0, -math.inf])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 900.0])
def test_an_event_exceeds_a_claim_by_its_chances(low: float, other_high: float, epsilon: float) -> None:
    excess = math.exp(low) - math.exp(epsilon + other_high) if epsilon + other_high < 700 else -math.inf
    assert modelled._excess(low, other_high, epsilon) == pytest.approx(max(0.0, excess), abs=1e-15)
    assert modelled._loss(low, other_high) == (max(0.0, low - other_high) if low > -math.inf else 0.0)


@pytest.mark.parametrize("mu", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 100.0])
@pytest.mark.parametrize("resolution", [1e-3, 0.1])
def test_a_divergence_of_gaussian_noise_is_that_of_the_worst_event_near_the_best_one(
    mu: float, epsilon: float, resolution: float
) -> None:
    def above(t: float) -> float:
        return float(norm.sf(t - mu) - math.exp(epsilon + norm.logsf(t)))

    best = epsilon / mu + mu / 2
    ends = above(best - resolution), above(best + resolution)
    assert modelled._gaussian(mu, epsilon, resolution) == pytest.approx(min(ends), abs=1e-12)
    assert min(ends) <= above(best)


def test_an_infinite_loss_is_a_divergence_of_1() -> None:
    assert modelled._gaussian(math.inf, 5.0, 0.1) == 1.0


def majority(x: list[float]) -> bool:
    return sum(x) + laplace(5.0) > len(x) / 2


def taken_away_from_its_release(x: list[float]) -> bool:
    return (sum(x) + laplace()) - sum(x) > 3


def steps_from_the_data(x: list[float]) -> int:
    return round((sum(x) + laplace() - sum(x)) / 5)


def clamped_mean(x: list[float]) -> float:
    return min(1.05, max(0.95, round((sum(x) + laplace(10.0)) / len(x), 2)))


ONES = [1.0] * 6, [1.0] * 7


@pytest.mark.parametrize(
    ("function", "pair", "kept", "broken"),
    [
        (majority, ONES, Claim(0.1), None),  # sum − n/2 moves by 1/2
        (taken_away_from_its_release, ONES, Claim(0.0, 1e-12), None),
        (steps_from_the_data, ONES, Claim(0.0, 1e-12), None),
        (clamped_mean, ([1.0] * 400, [1.0] * 399), Claim(0.09), None),
        (lambda x: sum(x) + laplace(5.0) > 3.5, ONES, Claim(0.2), Claim(0.199)),
        (lambda x: bool(2 * x + laplace(1.0 + x) < -3), (0.0, 1.0), Claim(0.5), Claim(0.49)),
        (lambda x: round(x + random.gauss(0.0, -10.0), 1), (0.0, 1.0), Gdp(0.1), Gdp(0.09)),
        (lambda x: round(x + laplace_of(-10.0), 1), (0.0, 1.0), Claim(0.1), Claim(0.0999)),
        (lambda x: min(5.0, max(-5.0, x + random.gauss(0.0, 1.0))), (0.0, 0.01), Claim(0.052), Claim(0.051)),
    ],
)
def test_data_that_a_function_looks_at_again_move_its_thresholds(
    function: Callable[[Any], Any], pair: Pair, kept: Claim, broken: Claim | None
) -> None:
    assert not accused(function, kept, pair)
    assert broken is None or accused(function, broken, pair)
