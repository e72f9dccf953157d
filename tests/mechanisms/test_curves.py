"""The δ(ε) that a claim implies is never below that of a mechanism that keeps the claim."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

from subnormal.mechanisms import curves
from subnormal.mechanisms.curves import Gdp, Profile, Renyi, _largest, implied, points
from subnormal.mechanisms.privacy import Claim, Zcdp

EPSILONS = (0.0, 0.1, 1.0, 3.0)


def coin_divergence(p: float, q: float, alpha: float) -> float:
    """Return the Rényi divergence of two coins with 200 bits, rounded to a float."""
    with gmpy2.context(precision=200):
        one, other, order = gmpy2.mpfr(p), gmpy2.mpfr(q), gmpy2.mpfr(alpha)
        total = one**order * other ** (1 - order) + (1 - one) ** order * (1 - other) ** (1 - order)
        return float(gmpy2.log(total) / (order - 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("rho", [1e-4, 0.125, 8.0])
def test_a_zcdp_claim_allows_the_gaussian_that_keeps_it(rho: float, epsilon: float) -> None:
    gaussian = Gdp(math.sqrt(2 * rho)).delta(epsilon) - 2e-12
    assert gaussian <= implied(Zcdp(rho), epsilon).delta <= Zcdp(rho).delta(epsilon)


@pytest.mark.parametrize("alpha", [1 + 1e-12, 1 + 1e-6, 1.01, 2.0, 7.5, 1e3])
@pytest.mark.parametrize("bit", [0.6, 0.9, 1 - 1e-6])
def test_a_renyi_claim_allows_every_coin_that_keeps_it(alpha: float, bit: float) -> None:
    """Randomized response, and coins near certainty: the claim is their divergence, to 200 bits."""
    for other in (1 - bit, 1e-9):
        claim = Renyi(alpha, coin_divergence(bit, other, alpha))
        for epsilon in EPSILONS:
            assert implied(claim, epsilon).delta >= bit - math.exp(epsilon) * other


@pytest.mark.parametrize("claim", [Renyi(2.0, 0.5), Renyi(20.0, 1.0), Renyi(1.2, 0.05)])
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_the_largest_of_a_fine_grid_of_coins_is_reached_and_hardly_exceeded(claim: Renyi, epsilon: float) -> None:
    q = np.exp(np.linspace(-20, -1e-3, 1_000))[:, None]
    p = np.linspace(1e-4, 1 - 1e-4, 1_000)[None, :]
    a = claim.alpha
    total = p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)
    kept = np.log(total) / (a - 1) <= claim.epsilon
    best = float(np.max(np.where(kept, p - math.exp(epsilon) * q, 0.0)))
    found = implied(claim, epsilon).delta
    assert best <= found <= best + 8e-3


@pytest.mark.parametrize("grids", [1, 2, 3])
@pytest.mark.parametrize("claim", [Renyi(2.0, 0.5), Renyi(20.0, 1.0), Renyi(1.2, 0.05), Renyi(10.0, 8.0), Zcdp(0.5)])
def test_a_coarse_grid_of_coins_never_makes_a_claim_look_better(
    claim: Renyi | Zcdp, grids: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the points of the grid the lines bound the curve: with a coarse grid nothing else does."""
    epsilons = np.linspace(0.0, 1.5, 11).tolist()
    truth = [implied(claim, epsilon).delta for epsilon in epsilons]
    monkeypatch.setattr(curves, "GRIDS", grids)
    monkeypatch.setattr(curves, "_delta", curves._delta.__wrapped__)  # nothing is kept from before
    coarse = [implied(claim, epsilon).delta for epsilon in epsilons]
    assert all(one >= other - 2e-12 for one, other in zip(coarse, truth, strict=True))


def test_a_zcdp_claim_is_held_to_all_its_divergences() -> None:
    """The usual conversion alone allows an eighth more."""
    assert implied(Zcdp(0.5), 1.0).delta < 0.9 * Zcdp(0.5).delta(1.0)


@pytest.mark.parametrize("loss", [600.0, 690.0, 700.0, 1e3, 4e4])
@pytest.mark.parametrize("alpha", [1.5, 2.0, 30.0])
def test_a_renyi_claim_of_a_large_loss_allows_a_coin_whose_chance_is_no_float(alpha: float, loss: float) -> None:
    """Heads with 1/2 in one world and e^−loss/2 in the other: α·ln(1/2) + (1 − α)·ln q, over α − 1, and hardly more."""
    claim = Renyi(alpha, loss + math.log(2) - alpha / (alpha - 1) * math.log(2) + 1e-3)
    for share in (0.0, 0.5, 0.9):
        assert implied(claim, share * loss).delta >= 0.49 * (1 - math.exp(-(1 - share) * loss))
    assert implied(claim, 2 * loss + 100).delta < 1e-9


@pytest.mark.parametrize("claim", [Zcdp(0.0), Gdp(0.0), Renyi(2.0, 0.0)])
def test_a_claim_of_no_loss_allows_hardly_any_difference(claim: Zcdp | Gdp | Renyi) -> None:
    assert implied(claim, 0.0).delta < 1e-6
    assert implied(claim, 5.0).delta < 1e-6


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 50.0, 699.0, 1e4, 1e5])
@pytest.mark.parametrize("claim", [Zcdp(1e-300), Zcdp(1e300), Gdp(1e-300), Gdp(1e4), Renyi(1e12, 1.0), Renyi(2.0, 1e5)])
def test_extreme_claims_have_a_probability(claim: Zcdp | Gdp | Renyi, epsilon: float) -> None:
    assert 0 <= implied(claim, epsilon).delta <= 1


@pytest.mark.parametrize("mu", [1e-3, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 20.0, 800.0])
def test_a_gaussian_claim_is_its_formula_rounded_up(mu: float, epsilon: float) -> None:
    with gmpy2.context(precision=200):
        m, e = gmpy2.mpfr(mu), gmpy2.mpfr(epsilon)

        def below(x: Any) -> Any:
            return gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2))) / 2

        exact = below(-e / m + m / 2) - gmpy2.exp(e) * below(-e / m - m / 2)
        assert exact <= Gdp(mu).delta(epsilon) <= exact + 2e-12


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.9, 2.0, 5.0])
def test_below_its_own_epsilon_a_claim_allows_the_worst_pair(epsilon: float) -> None:
    """Randomized response that tells all with chance δ."""
    claim = Claim(2.0, 0.1)
    yes, no = (1 / (1 + math.exp(-2.0)), 1 / (1 + math.exp(2.0)))
    worst = 0.1 + 0.9 * max(0.0, yes - math.exp(epsilon) * no)
    assert worst - 1e-15 <= implied(claim, epsilon).delta <= worst + 2e-12


def test_points_are_implied_by_the_claim_and_none_is_too_small_to_be_refuted() -> None:
    for claim in (Zcdp(0.5), Gdp(1.0), Renyi(2.0, 0.5), Profile(lambda epsilon: math.exp(-1 - epsilon))):
        found = points(claim)
        assert found[0].epsilon == 0
        assert len(found) > 5
        assert all(point == implied(claim, point.epsilon) for point in found)
        assert all(point.delta > 1e-7 for point in found[1:])


@pytest.mark.parametrize("alpha", [1 + 1e-14, 1 + 1e-12, 1 + 1e-9, 1.001, 2.0, 50.0])
def test_the_largest_coin_of_a_bound_is_never_rounded_below_the_true_one(alpha: float) -> None:
    for p in np.linspace(0.05, 0.95, 19):
        for share in (0.1, 0.5, 0.9):
            bound = coin_divergence(float(p), float(share * p), alpha)
            assert _largest(np.log([share * p]), np.array([[alpha]]), np.array([[bound]]))[0] >= p


@pytest.mark.parametrize("number", [np.float32(1.5), np.longdouble(1.5), Decimal("1.5"), Fraction(3, 2)])
def test_claims_of_every_kind_hold_numbers_of_other_types_exactly(number: Any) -> None:
    for claim, same in ((Gdp(number), Gdp(1.5)), (Zcdp(number), Zcdp(1.5)), (Renyi(number, number), Renyi(1.5, 1.5))):
        assert repr(claim) == repr(same)
        assert points(claim) == points(same)
