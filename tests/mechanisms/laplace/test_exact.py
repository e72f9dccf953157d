"""The clamped discrete Laplace: region sums, laws against the code, and what rounding to the grid costs."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Eta, Verdict, member
from subnormal.audit.evidence import exact
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.laplace import exact as laplace_exact
from tests.support.region_sums import get_sum
from tests.support.walks import assert_within_the_law, law_of

AnyMechanism = Mechanism[Any, Any, Any]


@pytest.mark.parametrize("eta", [Eta(1, 1), Eta(3, 2), Eta(7, 4, 2)])
def test_the_law_is_that_of_region_sums(eta: Eta) -> None:
    """Outside the bounds the sum of all that is clamped to them, inside the single term; for every value within."""
    for value in range(-3, 5):
        law = laplace_exact.law(value, eta, lower=-3, upper=4)
        for outcome in range(-3, 5):
            low = None if outcome == -3 else outcome - value
            high = None if outcome == 4 else outcome - value
            expected = get_sum(eta.base, low, high) / (1 + eta.base)
            assert law.probability(outcome) == (expected, expected)


def check_law(mechanism: AnyMechanism) -> None:
    for data, epsilon in ((0, 0.5), (1, 2.0), (-3.25, 1.0), (np.array([0.5, 0.75]), 1.0)):
        parameters = LaplaceParameters(
            epsilon=epsilon, grid=-1, lower=-2.0, upper=3.0, query="sum" if np.ndim(data) else "value"
        )
        assert_within_the_law(mechanism, data, parameters, rest=0.02)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 7.0])
@pytest.mark.parametrize("name", ["laplace-exact", "laplace-exact-base-e"])
def test_the_promise_is_kept_exactly(name: str, epsilon: float) -> None:
    mechanism = member(name)
    parameters = LaplaceParameters(epsilon=epsilon, sensitivity=1.3, grid=-3, lower=-16, upper=16)
    worst = 0.0
    for data_in, data_out in ((0.0, 1.3), (-15.9, -16.5), (15.3, 16.5), (0.05, 1.345)):
        law_in, law_out = law_of(mechanism, data_in, parameters), law_of(mechanism, data_out, parameters)
        evidence = exact.compare(law_in, law_out, mechanism.claim(parameters, data_in, data_out))
        assert evidence.verdict is Verdict.HOLDS
        assert evidence.within == 0
        worst = max(worst, evidence.epsilon)
    assert worst <= epsilon
    assert worst == pytest.approx(epsilon, rel=1e-4)  # no factor of 2 is lost


def test_base_e_attains_its_claim_with_equality_and_one_unit_less_is_violated() -> None:
    options: dict[str, Any] = {"grid": 0, "lower": -20, "upper": 20}
    law_in, law_out = (laplace_exact.law(value, Fraction(2), **options) for value in (0, 1))
    evidence = exact.compare(law_in, law_out, Claim(0.5))
    assert (evidence.verdict, evidence.within, evidence.epsilon) == (Verdict.HOLDS, 0, 0.5)
    assert exact.compare(law_in, law_out, Claim(math.nextafter(0.5, 0))).verdict is Verdict.VIOLATED
    enclosure_only = Law(law_in.atoms, law_in.ends, law_in.low, law_in.high, law_in.denominator, law_in.rest)
    assert exact.compare(enclosure_only, law_out, Claim(0.5)).within != 0  # no enclosure could have said so


def test_rounding_costs_what_the_claim_says() -> None:
    """At γ = 1 and Δ = 1.25 inputs may land 2 apart: the claim doubles, and the loss with it."""
    options: dict[str, Any] = {"lower": -9, "upper": 9}
    law_in, law_out = (laplace_exact.law(value, 2.0, **options) for value in (0.49, 1.74))
    assert laplace_exact.claim(2.0, 1.25) == Claim(1.0)
    assert exact.compare(law_in, law_out, Claim(1.0)).verdict is Verdict.HOLDS
    assert exact.compare(law_in, law_out, Claim(0.99)).verdict is Verdict.VIOLATED


def test_outcomes_are_integers_on_whole_grids_and_floats_below() -> None:
    assert laplace_exact.sample(10, 4.0, seeded_bits(1), 9, grid=2).dtype == np.int64
    assert set((laplace_exact.sample(10, 4.0, seeded_bits(1), 99, grid=2) % 4).tolist()) == {0}
    tiny = laplace_exact.sample(0.1, 1e-300, seeded_bits(1), 99, grid=-1040, lower=-1e-299, upper=1e-299)
    assert tiny.dtype == np.float64
    assert np.abs(tiny).max() == pytest.approx(1e-299)


def test_large_integers_are_not_rounded() -> None:
    drawn = laplace_exact.sample(2**60 + 129, 1.0, seeded_bits(1), 1000)
    assert {1, 2, 3} <= {int(value) - (2**60 + 129) for value in drawn}


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64])
def test_numbers_of_numpy_are_taken_for_what_they_are(kind: Any) -> None:
    """numpy's integers wrap around in silence: 15 shifted by 4 bits is −16 in 8 of them."""
    for value in (15, np.array(15)):
        expected = laplace_exact.sample(15, 1.0, seeded_bits(1), 9, grid=-4).tolist()
        assert laplace_exact.sample(kind(value), kind(1), seeded_bits(1), 9, grid=-4).tolist() == expected
    assert laplace_exact.claim(2.0, kind(16), grid=-4) == Claim(8.0)
    parameters = LaplaceParameters(epsilon=kind(1), sensitivity=kind(20))
    for name in ("laplace-exact", "laplace-exact-base-e"):
        mechanism = member(name)
        law_in, law_out = law_of(mechanism, 0, parameters), law_of(mechanism, 20, parameters)
        assert exact.compare(law_in, law_out, mechanism.claim(parameters, 0, 20)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", ["laplace-exact", "laplace-exact-base-e"])
def test_no_size_of_the_data_is_refused(name: str) -> None:
    """A refusal that depends on the data would tell: beyond the bounds every value is the bound."""
    parameters = LaplaceParameters(epsilon=1.0, grid=-1, lower=-8.0, upper=8.0)
    expected = np.asarray(member(name).sample(8, parameters, seeded_bits(1), 20)).tolist()
    for data in (9, 2**61 + 1, 2**1024 - 1, 1e308, 8.25):
        assert np.asarray(member(name).sample(data, parameters, seeded_bits(1), 20)).tolist() == expected


@pytest.mark.parametrize("grid", [1, 4, 40])
def test_coarse_grids_stay_within_64_bits(grid: int) -> None:
    drawn = laplace_exact.sample(2**64, 2.0**grid, seeded_bits(1), 200, grid=grid)
    assert drawn.min() > 0
    assert drawn.max() <= 2**61
    assert set((drawn % 2**grid).tolist()) == {0}


def test_a_large_epsilon_has_a_law_too() -> None:
    mechanism = member("laplace-exact-base-e")
    parameters = LaplaceParameters(epsilon=1000.0)
    evidence = exact.compare(law_of(mechanism, 0, parameters), law_of(mechanism, 1, parameters), Claim(1000.0))
    assert (evidence.verdict, evidence.epsilon) == (Verdict.HOLDS, 1000.0)
