"""A release convicts by one event, above each kind of claim and not at it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal import Claim, Gdp, Renyi, Zcdp
from subnormal.audit.check.replay.proof import LAWS, LEAST, PROBABILITIES, SHARE, Beyond, exceeded, off
from subnormal.audit.check.words import evidence_words
from tests.support.replays import PAIR, RUNS, Pair, accused, laplace, shown, suspected

RNG = np.random.default_rng(5)


def gaussian(x: list[float], deviation: float = 2.0) -> float:
    return sum(x) + random.gauss(0.0, deviation)


def single(x: list[float]) -> float:
    return sum(x) + laplace(0.5)


def convicted(*of: Any) -> Beyond:
    beyond = suspected(*of)
    assert beyond is not None
    return beyond


@pytest.mark.parametrize(("kind", "law"), [("Laplace", stats.laplace), ("Gaussian", stats.norm)])
def test_a_law_has_the_tail_of_its_name(kind: str, law: Any) -> None:
    x = np.linspace(-9, 9, 101)
    assert LAWS[kind].tail(x) == pytest.approx(law.sf(x), rel=1e-9)
    assert LAWS[kind].inverse(PROBABILITIES) == pytest.approx(law.isf(PROBABILITIES), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("function", "kept", "broken"),
    [
        (single, Claim(2.0), Claim(1.7)),
        (single, Claim(1.0, 1 - math.exp(-0.5)), Claim(1.0, 0.85 * (1 - math.exp(-0.5)))),
        (lambda x: laplace(0.01) + sum(x), Claim(100.0), Claim(99.98)),
        (gaussian, Gdp(0.5), Gdp(0.44)),
        (gaussian, Zcdp(1 / 8), Zcdp(0.05)),
        (gaussian, Renyi(2.0, 0.25), Renyi(2.0, 0.1)),
        (gaussian, Claim(1.0, Gdp(0.5).delta(1.0)), Claim(0.0, 0.9 * Gdp(0.5).delta(0.0))),
        (gaussian, Claim(0.0, 1.0), Claim(0.1)),
    ],
)
def test_a_loss_that_equals_the_claim_is_kept_and_a_larger_one_convicts(
    function: Callable[[Any], Any], kept: Any, broken: Any
) -> None:
    for pair in (PAIR, PAIR[::-1]):
        assert suspected(function, kept, pair) is None
        assert suspected(function, broken, pair) is not None


@pytest.mark.parametrize(("epsilon", "is_seen"), [(4.0, True), (5.0, False)])
def test_a_share_of_the_runs_is_added_to_the_other_world_where_runs_can_see_it(epsilon: float, is_seen: bool) -> None:
    """e^4 times 1 % is less than 1: so the loss of 4.2 is not enough. e^5 times 1 % is more: so that of 5.2 is."""
    beyond = suspected(lambda x: sum(x) + laplace(1 / (epsilon + 0.2)), Claim(epsilon))
    assert (beyond is None) is is_seen


def test_the_excess_of_an_event_is_what_its_probabilities_leave_of_the_claim() -> None:
    beyond = convicted(gaussian, Claim(0.0, 0.1))
    toward = (beyond.threshold - beyond.release.locations[beyond.world]) * beyond.sign / 2
    away = (beyond.threshold - beyond.release.locations[1 - beyond.world]) * beyond.sign / 2
    assert beyond.likely == pytest.approx(stats.norm.sf(toward))
    assert beyond.other == pytest.approx(stats.norm.sf(away))
    assert beyond.excess == pytest.approx((1 - SHARE) * beyond.likely - beyond.other - SHARE - 0.1)
    best = stats.norm.cdf(0.25) - stats.norm.cdf(-0.25)  # at a threshold in the middle
    assert beyond.likely - beyond.other == pytest.approx(best, abs=0.001)


@pytest.mark.parametrize("digits", [None, 2])
def test_the_event_holds_on_outcomes_wherever_the_release_lies_beyond(digits: int | None) -> None:
    def released(x: float) -> float:
        noisy = x + laplace()
        return noisy if digits is None else round(noisy, digits)

    for pair in ((0.0, 1.0), (1.0, 0.0)):
        beyond = convicted(released, Claim(0.5), pair)
        values = beyond.drawn(np.linspace(1e-9, 1, 99))
        assert ((values - beyond.threshold) * beyond.sign >= -1e-9).all()
        rounded = values if digits is None else values.round(digits)
        assert beyond.event()(rounded).all()
        assert beyond.event()(np.array([beyond.threshold - 0.9 * beyond.sign * beyond.release.rounding])).all()
        before = beyond.threshold - 2.01 * beyond.sign * beyond.release.rounding
        assert not beyond.event()(np.array([before if digits is None else round(before, digits)])).any()


def test_a_loss_of_a_rounded_release_is_that_of_two_roundings_less() -> None:
    exact = convicted(lambda x: x + laplace(), Claim(0.5), (0.0, 1.0))
    rounded = convicted(lambda x: round(x + laplace(), 2), Claim(0.5), (0.0, 1.0))
    assert rounded.release.rounding == pytest.approx(0.03, rel=0.01)
    assert exact.excess - rounded.excess == pytest.approx(rounded.other * math.exp(0.5) * 0.06, rel=0.1)


@pytest.mark.parametrize("draw", [random.gauss, np.random.laplace])
@pytest.mark.parametrize(("moved", "scale"), [(1.0, math.inf), (5e-324, 1e308), (1e-300, 1e10)])
def test_noise_that_hides_all_of_what_moves_has_no_loss(
    draw: Callable[[float, float], float], moved: float, scale: float
) -> None:
    def both(records: list[float]) -> tuple[float, float]:
        return draw(records[0] * moved, scale), draw(records[0], 1.0)

    seen: Any = shown(both, ([0.0], [1.0]))
    assert sum(one.loss for one in seen.releases) == pytest.approx(1.0)
    assert suspected(both, Claim(1.5, 0.1), ([0.0], [1.0])) is None


def test_what_rounding_makes_of_a_location_is_no_loss() -> None:
    def function(x: list[float]) -> float:
        return sum(one / sum(x) for one in x) + random.gauss(0.0, 1.0)  # 1, up to rounding

    pair = [0.1] * 6, [0.3] * 5
    sums = [sum(one / sum(x) for one in x) for x in pair]
    assert sums[0] != sums[1]
    seen: Any = shown(function, pair)
    assert [one.loss for one in seen.releases] == [0.0]


def test_gaussian_noise_under_a_pure_claim_convicts_by_events_that_floats_can_show() -> None:
    """μ is 4. At a probability of 10^-9, 6 deviations beyond the location, the loss is 4·6 + 8 = 32."""
    assert suspected(lambda x: gaussian(x, 0.25), Claim(33.0)) is None
    assert convicted(lambda x: gaussian(x, 0.25), Claim(31.0)).likely >= LEAST * (1 - 1e-9)


def test_noise_of_no_known_law_convicts_nobody() -> None:
    seen: Any = shown(lambda x: sum(x) + RNG.gumbel(0.0, 0.1))
    assert exceeded(seen.releases, Claim(0.1), 0.0) is None


@pytest.mark.parametrize(("pair", "scales"), [((1.0, 0.0), "4 in, 1 out"), ((0.0, 1.0), "1 in, 4 out")])
@pytest.mark.parametrize("digits", [2, 15])
def test_the_scale_of_each_world_is_said_and_what_noise_is_added_to(pair: Pair, scales: str, digits: int) -> None:
    different = convicted(lambda x: round(10 * x + laplace(1 + 3 * x), digits), Claim(1.0), pair)
    same = convicted(lambda x: round(10 * x + laplace(4.0), digits), Claim(1.0), pair)
    locations = f"{10 * pair[0]:g} in, {10 * pair[1]:g} out"
    scaled = f"numpy.random.laplace of the scales {scales} is added to {locations}: epsilon"
    assert scaled in evidence_words(different.evidence(RUNS))
    assert f"numpy.random.laplace of scale 4 is added to {locations}: epsilon" in evidence_words(same.evidence(RUNS))


def test_values_of_the_release_lie_as_far_off_as_their_distribution_function_does() -> None:
    beyond = convicted(lambda x: x + laplace(), Claim(0.5), (0.0, 1.0))
    quantiles = stats.laplace.ppf((np.arange(1000) + 0.5) / 1000, 1.0)
    assert off(beyond.release, 1, quantiles) == pytest.approx(0.0005, abs=1e-6)
    assert off(beyond.release, 0, quantiles) == pytest.approx(1 - math.exp(-0.5), abs=0.001)


def test_an_event_promises_what_runs_would_have() -> None:
    release = convicted(lambda x: x + laplace(), Claim(0.5), (0.0, 1.0)).release
    for likely, other, growth in ((1.0, 0.0, math.log1p(math.exp(-0.5))), (0.5, 0.5 * math.exp(-0.5), 0.0)):
        found = Beyond(release, Claim(0.5), 0, 1, 0.0, likely, other, 0.1).growth()
        assert found == pytest.approx(growth, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("function", [single, gaussian, lambda x: [sum(x) - laplace(0.5), 3.0]])
def test_what_runs_agree_with_convicts(function: Callable[[Any], Any]) -> None:
    assert accused(function, Claim(0.0, 0.05), seeds=[1])
