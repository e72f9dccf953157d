"""Laws of functions that draw by scipy's `rvs`, against the laws of its distributions."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy import stats

from subnormal.audit.laws.draws import scipy_draws
from subnormal.audit.laws.followed import law
from subnormal.audit.laws.path import NotFollowedError


class Own(stats.rv_continuous):  # type: ignore[misc]
    """A distribution with the name of another one."""

    def _rvs(self, *args: Any, size: Any = None, random_state: Any = None) -> Any:
        return random_state.uniform(5, 6, size)


RNG = np.random.default_rng()
CONTINUOUS: dict[str, tuple[Callable[[], Any], Any]] = {
    "laplace": (lambda: stats.laplace.rvs(0.5, 2.0), stats.laplace(0.5, 2.0)),
    "logistic, frozen": (stats.logistic(scale=2.0).rvs, stats.logistic(scale=2.0)),
    "uniform": (lambda: stats.uniform.rvs(loc=-3, scale=7), stats.uniform(-3, 7)),
    "exponential": (lambda: stats.expon.rvs(scale=2.0), stats.expon(scale=2.0)),
    "normal of a generator": (lambda: stats.norm.rvs(scale=2.0, random_state=RNG), stats.norm(scale=2.0)),
    "the first of three": (lambda: np.asarray(stats.laplace.rvs(size=3))[0], stats.laplace()),
}
DISCRETE: dict[str, tuple[Callable[[], Any], Any]] = {
    "bernoulli": (lambda: stats.bernoulli.rvs(0.3), stats.bernoulli(0.3)),
    "binomial": (lambda: stats.binom.rvs(5, 0.3, loc=2), stats.binom(5, 0.3, loc=2)),
    "geometric": (lambda: stats.geom.rvs(0.25), stats.geom(0.25)),
    "discrete Laplace": (lambda: int(stats.dlaplace.rvs(0.5)), stats.dlaplace(0.5)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_threshold_has_the_probability_of_the_distribution(name: str) -> None:
    draw, distribution = CONTINUOUS[name]
    found = law(lambda cut: bool(draw() < cut), 0.75)
    low, high = found.probability(True)
    assert float(low) - 1e-9 <= distribution.cdf(0.75) <= float(high) + 1e-9
    assert high - low < 1e-9


@pytest.mark.parametrize("name", DISCRETE)
def test_numbers_have_the_probabilities_of_the_distribution(name: str) -> None:
    draw, distribution = DISCRETE[name]
    found = law(lambda _: draw(), None, seconds=20.0, rest=1e-6)
    for outcome in range(-2, 8):
        low, high = map(float, found.probability(outcome))
        assert low - 1e-9 <= distribution.pmf(outcome) <= high + 1e-9
        assert high - low < 1e-5


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: stats.cauchy.rvs(), "cauchy.rvs is not known"),
        (lambda: stats.norm.rvs(), "norm.rvs is not known"),
        (
            lambda: stats.laplace.rvs(scale=[1.0, 2.0]),
            "laplace.rvs with these arguments",
        ),
        (lambda: stats.laplace.rvs(0, 1, 2, 3), "laplace.rvs with these arguments"),
        (lambda: stats.laplace.rvs(random_state=3), "laplace.rvs with these arguments"),
        (lambda: stats.laplace.rvs(scale=-1), "laplace.rvs with these arguments"),  # raises
        (lambda: stats.binom.rvs(5, 0.3, loc=0.5, random_state=RNG), "binom.rvs with these arguments"),  # is rounded
        (lambda: Own(name="laplace").rvs(random_state=RNG), "laplace.rvs is not known"),
        (lambda: stats.geom.rvs(), "geom.rvs with these arguments"),
    ],
)
def test_what_is_not_known_is_refused(draw: Callable[[], Any], message: str) -> None:
    with pytest.raises(NotFollowedError, match=message):
        law(lambda _: draw() > 0, None)


def test_a_scipy_that_draws_otherwise_is_not_followed() -> None:
    scipy_draws._agrees.cache_clear()
    try:
        with (
            patch.dict(scipy_draws.STANDARD, {"laplace": lambda draw: -draw("laplace")}),
            pytest.raises(NotFollowedError, match=r"laplace\.rvs is not known"),
        ):
            law(lambda _: stats.laplace.rvs() > 0, None)
    finally:
        scipy_draws._agrees.cache_clear()
