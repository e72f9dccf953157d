"""The other accountants are what their sources say, and never below the certified lower bound."""

import math
from itertools import product

import pytest

from subnormal.audit.composition import other_accountants
from subnormal.mechanisms.composition.closed_forms import gaussian, laplace, randomized_response


@pytest.mark.parametrize("runs", [1, 2, 5, 8])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_kairouz_oh_viswanath_is_the_worst_mechanism_enumerated(runs: int, delta: float) -> None:
    epsilon = 0.4
    truth = (1 - delta) / (1 + math.exp(-epsilon))
    p, q = (delta, truth, 1 - delta - truth, 0.0), (0.0, 1 - delta - truth, truth, delta)
    for at in (0.0, 0.1, 0.4, 0.9, runs * epsilon):
        worst = sum(
            max(0.0, math.prod(p[i] for i in told) - math.exp(at) * math.prod(q[i] for i in told))
            for told in product(range(4), repeat=runs)
        )
        found = other_accountants.kairouz_oh_viswanath(epsilon, delta, runs, at)
        assert found == pytest.approx(worst, abs=1e-12)


def test_nothing_spent_is_nothing_lost() -> None:
    assert other_accountants.kairouz_oh_viswanath(0.0, 0.0, 100, 0.0) == 0
    assert other_accountants.kairouz_oh_viswanath_epsilon(0.5, 1e-3, 100, 1e-2) == math.inf


@pytest.mark.parametrize("runs", [1, 16, 1_000])
@pytest.mark.parametrize(
    "one", [gaussian(5.0), laplace(10.0), laplace(10.0, truncation=300.0), randomized_response(0.2)]
)
def test_the_moments_accountant_lies_above_what_is_certain(one, runs: int) -> None:  # type: ignore[no-untyped-def]
    composed = one.compose(runs)
    for delta in (1e-3, 1e-8):
        assert other_accountants.renyi_epsilon(one, runs, delta) >= composed.epsilon(delta)[0]
    for epsilon in (0.0, 0.1, 1.0):
        assert other_accountants.renyi(one, runs, epsilon) >= composed.delta(epsilon)[0]


def test_the_moments_of_a_gaussian_are_known() -> None:
    """D_α = α/(2σ²), so that with λ = α − 1 the exponent is r·λ(λ+1)/(2σ²) − λε: with a million orders, by hand."""
    sigma, runs, epsilon = 4.0, 64, 6.0
    best = min(
        runs * tilt * (tilt + 1) / (2 * sigma**2)
        - tilt * epsilon
        + tilt * math.log(tilt / (1 + tilt))
        - math.log1p(tilt)
        for tilt in (step / 1_000 for step in range(1, 20_000))
    )
    assert other_accountants.renyi(gaussian(sigma), runs, epsilon) == pytest.approx(math.exp(best), rel=1e-2)


@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_both_ways_to_ask_agree(delta: float) -> None:
    one, runs = laplace(10.0), 64
    epsilon = other_accountants.renyi_epsilon(one, runs, delta)
    assert other_accountants.renyi(one, runs, epsilon) == pytest.approx(delta, rel=1e-9)
    epsilon = other_accountants.kairouz_oh_viswanath_epsilon(0.1, 0.0, runs, delta)
    assert other_accountants.kairouz_oh_viswanath(0.1, 0.0, runs, epsilon) == pytest.approx(delta, rel=1e-9)
