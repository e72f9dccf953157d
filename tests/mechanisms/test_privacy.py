"""η, ε and claims: conversions are certified and round against the claim."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.mechanisms.numerics.mpfr import exp_bounds, log_bounds
from subnormal.mechanisms.privacy import (
    Claim,
    Eta,
    Zcdp,
    compose,
    noise_claim,
    noise_eta,
    selection_claim,
    selection_eta,
    with_failures,
)

BUDGETS = (1e-6, 0.001, 0.02, 0.25, 0.5, 1.0, math.pi, 18.5, 700.0)


@pytest.mark.parametrize("nats", BUDGETS)
@pytest.mark.parametrize("resolution", [24, 32, 53])
def test_from_epsilon_is_the_largest_rate_within_the_budget(nats: float, resolution: int) -> None:
    eta = Eta.from_epsilon(nats, resolution)
    low, high = exp_bounds(-Fraction(nats), 2000)
    assert eta.base >= high  # 2^−η ≥ e^−nats, so η·ln 2 ≤ nats
    assert Fraction(eta.x - 1, 1 << eta.y) < low  # and one step further is not


@pytest.mark.parametrize("epsilon", BUDGETS[:-1])
@pytest.mark.parametrize("sensitivity", [0.5, 1.0, 3.0])
def test_selection_at_a_budget_promises_no_more_than_the_budget(epsilon: float, sensitivity: float) -> None:
    assert selection_claim(selection_eta(epsilon, sensitivity), sensitivity).epsilon <= epsilon


def test_the_base_is_the_exact_dyadic() -> None:
    assert Eta(3, 2, 5).base == Fraction(3, 4) ** 5
    assert Eta(3, 2, 5).bits == pytest.approx(-5 * math.log2(0.75), rel=1e-15)


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 3.0, 37.0, 2000.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.3, 1.0])
def test_the_advantage_allowed_is_the_closed_form(epsilon: float, delta: float) -> None:
    growth = exp_bounds(Fraction(epsilon), 200)[0]
    expected = 1 - 2 * (1 - Fraction(delta)) / (1 + growth)
    assert Claim(epsilon, delta).advantage_allowed == pytest.approx(float(expected), rel=1e-14)


def test_every_conversion_rounds_up() -> None:
    for eta in (Eta(1, 1, 1), Eta(3, 2, 7), Eta(1023, 10, 1)):
        exactly = eta.z * log_bounds(Fraction(1 << eta.y, eta.x), 3000)[0]
        assert Fraction(eta.nats) >= exactly
        assert Fraction(selection_claim(eta, 3.0).epsilon) >= 6 * exactly


def test_zcdp_gives_the_published_epsilons() -> None:
    """OpenDP's page on thresholded noise, its sum of ρ and δ: the true ε lies below, by less than 1e-13 relative."""
    for rho, delta, published in (
        (0.5, 2.801398224505647e-09, 6.303576721634656),
        (0.5, 2.801398224505647e-09 - 2**-53, 6.3035767282855915),
        (0.01**2 / 2, 2.801398224505647e-09, 0.0499696834905211),
    ):
        assert Zcdp(rho).epsilon(delta) == pytest.approx(published, rel=1e-13)


@pytest.mark.parametrize("rho", [1e-9, 0.125, 0.5, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0, 20.0])
def test_a_zcdp_curve_lies_above_the_gaussians_own(rho: float, epsilon: float) -> None:
    """ρ = 1/(2σ²) of the Gaussian, whose δ(ε) is Φ(1/(2σ) − εσ) − e^ε·Φ(−1/(2σ) − εσ)."""
    sigma = (1 / (2 * rho)) ** 0.5
    log_second = epsilon + stats.norm.logcdf(-1 / (2 * sigma) - epsilon * sigma)
    gaussian = stats.norm.cdf(1 / (2 * sigma) - epsilon * sigma) - math.exp(log_second)
    assert Zcdp(rho).delta(epsilon) >= gaussian - 1e-12


@pytest.mark.parametrize("rho", [1e-6, 0.5, 100.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-9, 0.1])
def test_epsilon_and_delta_are_inverse_and_err_on_the_safe_side(rho: float, delta: float) -> None:
    epsilon = Zcdp(rho).epsilon(delta)
    assert Zcdp(rho).delta(epsilon) <= delta * (1 + 1e-9)  # two minimisations, each stopped a little off the best order
    assert epsilon == 0 or Zcdp(rho).delta(epsilon) == pytest.approx(delta, rel=1e-6)
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))  # Bun and Steinke's bound, which this one improves
    assert epsilon <= simple


def test_zcdp_at_its_ends() -> None:
    assert Zcdp(0.0).epsilon(1e-9) == Zcdp(0.5).epsilon(1.0) == 0.0
    assert Zcdp(0.0).delta(0.0) == 0.0
    assert Zcdp(1e6).delta(1.0) == 1.0
    assert 0 < Zcdp(1e-6).delta(50.0) <= 5e-324


@pytest.mark.parametrize(
    "epsilon", [np.float32(0.5), np.float64(0.5), np.longdouble(0.5), Decimal("0.5"), Fraction(1, 2)]
)
def test_a_claim_holds_numbers_of_every_type_exactly_as_python_s_own(epsilon: Any) -> None:
    claim = Claim(epsilon, epsilon)
    assert (claim, type(claim.epsilon), type(claim.delta)) == (Claim(0.5, 0.5), float, float)
    whole: Any = np.int64(1)
    assert type(Claim(whole, whole).delta) is int


def test_claims_add_and_round_up() -> None:
    assert compose(Claim(0.1, 1e-9), Claim(0.2)).epsilon >= Fraction(0.1) + Fraction(0.2)
    assert compose(Claim(1.0, 0.7), Claim(1.0, 0.7)) == Claim(2.0, 1.0)
    assert compose() == Claim(0.0)
    assert (Zcdp(0.1) + Zcdp(0.2)).rho >= Fraction(0.1) + Fraction(0.2)


def test_noise_keeps_its_budget_without_a_factor_of_two() -> None:
    eta = noise_eta(0.5, steps=16)
    assert noise_claim(eta, 16).epsilon <= 0.5 < noise_claim(Eta(eta.x - 1, eta.y), 16).epsilon
    assert noise_claim(Eta(1, 1), 0).epsilon == 0


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 0.7, 1.0, 2.0, 2.1, 3.0, 10.0, 40.0, 710.0])
def test_less_than_a_billionth_of_a_budget_is_left_unused(epsilon: float) -> None:
    spent = log_bounds(1 / noise_eta(epsilon).base)
    assert (1 - Fraction(1, 1 << 30)) * Fraction(epsilon) < spent[0] < spent[1] <= Fraction(epsilon)


def test_failures_of_either_world_cost_delta() -> None:
    """P' fails with p, and Q' may have p less than Q, which counts e^ε times."""
    worse = with_failures(Claim(1.0, 1e-9), Fraction(1, 1_000))
    assert (worse.epsilon, worse.delta) == (1.0, pytest.approx(1e-9 + (1 + math.e) / 1_000, rel=1e-12))


def test_an_implied_delta_is_never_below_the_curve_and_is_the_claims_own_at_its_epsilon() -> None:
    """δ₀ + (1 − δ₀)·(e^ε₀ − e^ε)/(e^ε₀ + 1) to 128 bits. To the nearest float, every second one would be below it."""
    for place in range(1, 200):
        claim, epsilon = Claim(0.037 * place, place * 1e-4), 0.029 * place
        low, high = (exp_bounds(Fraction(one)) for one in (claim.epsilon, epsilon))
        share = (low[0] - high[1]) / (low[1] + 1)
        least = Fraction(claim.delta) + (1 - Fraction(claim.delta)) * share
        implied = Fraction(claim.implied_delta(epsilon))
        assert least <= implied <= least * (1 + Fraction(1, 1 << 48))
    assert Claim(1.0, 0.0).implied_delta(1.0) == 0.0
    assert Claim(1.0, 0.25).implied_delta(2.0) == 0.25
    assert Claim(1.0, 1.0).implied_delta(0.0) == 1.0
