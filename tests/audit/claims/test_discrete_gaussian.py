"""Discrete Gaussian noise: the bounds are sums over all outcomes."""

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import strategies as st

from subnormal.audit.claims.discrete_kinds import _noise
from subnormal.audit.claims.holding import hold
from subnormal.audit.claims.kinds import kind

NOISE, ACCURACY = kind("discrete-gaussian"), kind("discrete-gaussian-accuracy")


def chances(sigma: float) -> dict[int, float]:
    reach = math.ceil(14 * sigma) + 2
    terms = {x: math.exp(-(x**2) / (2 * sigma**2)) for x in range(-reach, reach + 1)}
    return {x: term / math.fsum(terms.values()) for x, term in terms.items()}


def leak(sigma: float, steps: int, epsilon: float) -> float:
    """Return δ(ε) over all outcomes of so many releases of 1 against 0."""
    of = chances(sigma)
    inside = [x for x in of if x - 1 in of]
    return math.fsum(
        max(0.0, math.prod(of[x - 1] for x in every) - math.exp(epsilon) * math.prod(of[x] for x in every))
        for every in product(inside, repeat=steps)
    )


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.7])
@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6])
def test_one_release_is_the_sum_over_its_outcomes(sigma: float, delta: float) -> None:
    low, up = NOISE.bounds(sigma=sigma, steps=1, delta=delta)
    assert up == pytest.approx(low, rel=1e-12)
    if up == 0:
        assert leak(sigma, 1, 0.0) <= delta
    else:
        assert leak(sigma, 1, low) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(("sigma", "steps"), [(0.4, 2), (1.5, 2), (0.6, 3)])
def test_several_releases_lie_between_the_bounds(sigma: float, steps: int) -> None:
    for delta in (0.05, 1e-4):
        low, up = NOISE.bounds(sigma=sigma, steps=steps, delta=delta)
        assert leak(sigma, steps, low - 1e-6) >= delta * (1 - 1e-9)
        assert leak(sigma, steps, up + 1e-6) <= delta * (1 + 1e-9)
        assert up - low <= 0.02 * (1 + up)


@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0, 10.0, 100.0])
def test_the_bounds_are_near_after_very_many_releases(sigma: float) -> None:
    for steps, delta in ((10**6, 1e-3), (10**9, 1e-5)):
        low, up = NOISE.bounds(sigma=sigma, steps=steps, delta=delta)
        assert low <= up <= 1.05 * low


def test_the_loss_of_a_usual_sum_is_proved_at_small_noise_too() -> None:
    """Of half of all outcomes the noise is not negative, and the loss is at least 1/2σ² for each release."""
    for steps, delta in ((1, 0.3), (2, 0.3), (2, 0.49)):
        low, _ = NOISE.bounds(sigma=0.3, steps=steps, delta=delta)
        assert leak(0.3, steps, low - 1e-6) >= delta * (1 - 1e-9)
        assert low >= steps / (2 * 0.3**2) + math.log(1 - 2 * delta) - 1e-9


def test_tails_are_those_of_the_sums() -> None:
    of = chances(2.5)
    noise = _noise(2.5)
    for place in (-3, 0, 1, 7, 20):
        tail = math.fsum(chance for x, chance in of.items() if x >= place)
        assert float(noise.tail(place).low) == pytest.approx(tail, rel=1e-10)
    assert noise.tail(10_000).low == 0 < noise.tail(10_000).high < 1e-300
    assert float(noise.exactly[3].high) == pytest.approx(of[3], rel=1e-12)


def test_an_accuracy_is_the_first_integer_that_is_rarely_reached() -> None:
    for sigma, alpha in ((1.0, 0.05), (2.5, 0.5), (0.3, 1e-6), (1.0, 1.0)):
        of = chances(sigma)
        first = next(m for m in range(100) if math.fsum(c for x, c in of.items() if abs(x) >= m) <= alpha * (1 + 1e-12))
        assert ACCURACY.bounds(sigma=sigma, alpha=alpha) == (max(0, first - 1), first)


def test_continuous_noise_promises_too_little_of_discrete_noise() -> None:
    gaussian = kind("gaussian")

    def said(**of: float) -> float:
        return gaussian.bounds(**of)[1]

    few = replace(NOISE, parameters={**NOISE.parameters, "sigma": st.sampled_from([1.0, 2.0])})
    found = hold("own", said, few, examples=30).violated
    assert found is not None
    assert found.said < found.low
    assert hold("own", lambda **of: NOISE.bounds(**of)[1], few, examples=10).violated is None
