"""What members of the additive families share: public parameters, exact values, adjacency."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.family import (
    GAUSSIAN,
    LAPLACE,
    Data,
    GaussianParameters,
    LaplaceParameters,
    exact_values,
    gaussian_claim,
    laplace_claim,
)
from subnormal.mechanisms.privacy import Claim, Zcdp


def laplace(**given: Any) -> LaplaceParameters:
    return LaplaceParameters(**{"epsilon": 1.0} | given)


def gaussian(**given: Any) -> GaussianParameters:
    return GaussianParameters(**{"sigma": 1.0, "delta": 1e-6} | given)


ONE_RECORD = [1.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("data_in", "data_out", "parameters", "expected"),
    [
        (0, 1, laplace(), True),
        (2**60, 2**60 + 1, laplace(), True),
        (2**60, 2**60 + 2, laplace(), False),  # floats would not tell
        (0.1, 0.3, laplace(sensitivity=0.2), True),
        (0.2, 0.5, laplace(sensitivity=0.3), True),
        (0.0, math.nextafter(0.3, 1), laplace(sensitivity=0.3), False),
        (np.array([0.0, 0.0]), np.array([0.5, 0.5]), laplace(), True),
        (np.array([0.0, 0.0]), np.array([0.75, 0.5]), laplace(), False),
        (0.0, np.array([0.0]), laplace(), False),
        (np.array(ONE_RECORD), np.array([0.5, 0.5]), laplace(query="sum"), True),
        (np.array(ONE_RECORD), np.array([0.5, 2.0, 0.5]), laplace(query="sum"), True),
        (np.array(ONE_RECORD), np.array([0.5, 2.5, 0.5]), laplace(query="sum"), False),
        (np.array(ONE_RECORD), np.array([0.5]), laplace(query="sum"), False),
        (np.array(ONE_RECORD), np.array(ONE_RECORD[::-1]), laplace(query="sum"), True),
    ],
)
def test_adjacency_is_exact(data_in: Data, data_out: Data, parameters: LaplaceParameters, expected: bool) -> None:
    assert LAPLACE.adjacent(parameters, data_in, data_out) is expected
    assert LAPLACE.adjacent(parameters, data_out, data_in) is expected


def test_the_gaussian_family_measures_in_l2() -> None:
    data_in, data_out = np.array([0.0, 0.0]), np.array([0.75, 0.625])
    assert GAUSSIAN.adjacent(gaussian(), data_in, data_out)
    assert not LAPLACE.adjacent(laplace(), data_in, data_out)
    assert not GAUSSIAN.adjacent(gaussian(), data_in, np.array([0.75, 0.75]))


def test_a_float_pair_one_apart_by_subtraction_may_lie_further_apart() -> None:
    """0.3 − 0.1 is 0.2 in floats only; the rationals 0.3 and 0.1 are not 0.2 apart."""
    apart = Fraction(0.3) - Fraction(0.1)
    assert LAPLACE.adjacent(laplace(sensitivity=0.2), 0.1, 0.3) is (apart <= Fraction(0.2))


def test_sums_are_exact() -> None:
    tenths = np.full(10, 0.1)
    assert exact_values(tenths, "sum") == [10 * Fraction(0.1)] != [1]
    assert exact_values(np.array([2**62, 2**62, 2**62]), "sum") == [3 * 2**62]
    assert exact_values(np.array([1.0, 2.5]), "value") == [1, Fraction(5, 2)]


def test_the_scale_is_a_rational() -> None:
    assert laplace(epsilon=0.25, sensitivity=3.0).scale == 12


def test_claims() -> None:
    assert laplace_claim(laplace(epsilon=0.25), 0, 1) == Claim(0.25)
    assert gaussian_claim(gaussian(sigma=2.0), 0, 1) == Zcdp(0.125).claim(1e-6)  # ρ = 1/8
    assert gaussian_claim(gaussian(sigma=2.0, sensitivity=3.0), 0, 1) == Zcdp(1.125).claim(1e-6)


@pytest.mark.parametrize("given", [True, "1", None, math.nan, math.inf])
def test_data_must_be_finite_numbers(given: Any) -> None:
    with pytest.raises(ValueError, match="data must be a finite number"):
        exact_values(given, "value")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
        ({"sensitivity": -1.0}, "sensitivity must be positive and finite, got -1.0"),
        ({"query": "mean"}, "query must be 'value' or 'sum', got 'mean'"),
        ({"grid": 63}, "grid must be an integer from -1074 to 62, got 63"),
        ({"lower": 0.3}, "lower must be a multiple of 2\\^-4, and at most 2305843009213693952 of them, got 0.3"),
        ({"upper": math.inf}, "upper must be a finite number, got inf"),
        ({"lower": 2.0, "upper": 1.0}, "lower = 2.0 must not be above upper = 1.0"),
    ],
)
def test_bad_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        laplace(**given)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_a_gaussian_claim_needs_a_delta(delta: float) -> None:
    with pytest.raises(ValueError, match="delta must"):
        gaussian(delta=delta)
