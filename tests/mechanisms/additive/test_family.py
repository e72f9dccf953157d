"""What members of the additive families share: public parameters, exact values, adjacency."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Zcdp, within
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
from subnormal.mechanisms.additive.float_sums import sequential
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import AnyMechanism, NoLawError
from subnormal.mechanisms.families import family, members
from tests.mechanisms.gaussian import test_exact as test_gaussian_exact
from tests.mechanisms.gaussian import test_low_precision, test_ziggurat
from tests.mechanisms.laplace import test_bernoulli_trials as test_laplace_bernoulli_trials
from tests.mechanisms.laplace import test_correctly_rounded, test_snapping
from tests.mechanisms.laplace import test_exact as test_laplace_exact
from tests.mechanisms.laplace import test_naive as test_laplace_naive
from tests.mechanisms.libraries import test_jax, test_ml_dtypes, test_torch
from tests.support.family_cases import EPSILON, GRID_POINTS, FamilyCases, decades


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


def test_sums_are_exact() -> None:
    tenths = np.full(10, 0.1)
    assert exact_values(tenths, "sum") == [10 * Fraction(0.1)] != [1]
    assert exact_values(np.array([2**62, 2**62, 2**62]), "sum") == [3 * 2**62]
    assert exact_values(np.array([1.0, 2.5]), "value") == [1, Fraction(5, 2)]


def test_claims() -> None:
    assert laplace_claim(laplace(epsilon=0.25), 0, 1) == Claim(0.25)
    assert gaussian_claim(gaussian(sigma=2.0), 0, 1) == Zcdp(0.125).claim(1e-6)  # ρ = 1/8
    assert gaussian_claim(gaussian(sigma=2.0, sensitivity=3.0), 0, 1) == Zcdp(1.125).claim(1e-6)


RECORDS = np.random.default_rng(1).normal(size=1000) * 2.0 ** np.random.default_rng(2).integers(-30, 30, 1000)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sequential_rounds_every_partial_sum(kind: Any) -> None:
    total = kind(0)
    for record in RECORDS.astype(kind):
        total = total + record
    assert sequential(RECORDS, kind) == total
    assert sequential(RECORDS[:0], kind) == 0


def bounds(parameters: Any, data: Any) -> dict[str, bool]:
    values = exact_values(data, parameters.query)
    points = (parameters.upper - parameters.lower) * 2.0**-parameters.grid
    return {
        "lower ≤ value of the query ≤ upper": all(parameters.lower <= value <= parameters.upper for value in values),
        f"at most {GRID_POINTS} steps of the grid from lower to upper": points <= GRID_POINTS or len(values) > 1,
    }


DYADIC = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0])
CASES = {
    "laplace": FamilyCases(
        laws={
            **dict.fromkeys(test_ml_dtypes.LAPLACE_NAMES, test_ml_dtypes.check_laplace_law),
            "laplace-naive-float64": test_laplace_naive.check_law,
            "laplace-naive-float32": test_laplace_naive.check_law,
            "laplace-rounded-float16": test_correctly_rounded.check_law,
            "laplace-snapping": test_snapping.law_by_bisection_of_member,
            "laplace-snapping-16-bit": test_snapping.law_by_bisection_of_member,
            "laplace-exact": test_laplace_exact.check_law,
            "laplace-exact-base-e": test_laplace_exact.check_law,
            "laplace-textbook": test_laplace_bernoulli_trials.check_law,
        },
        bounds=bounds,
        parameters=laplace(),
        data=st.integers(-9, 9),
        noiseless=lambda data: data,
        relation=within(1),
        domain="numbers@most=1,grid=-1,resolution=-2",
        options={
            "most": st.integers(1, 3),
            "epsilon": EPSILON,
            "sensitivity": DYADIC,
            "grid": st.integers(-4, 0),
            "resolution": st.integers(-2, 0),
        },
        tight={"most": 1, "grid": 0, "resolution": -1},
    ),
    "gaussian": FamilyCases(
        laws={
            "gaussian-exact": test_gaussian_exact.check_law,
            **dict.fromkeys(test_low_precision.NAMES, test_low_precision.check_law),
            "gaussian-ziggurat-float32": test_ziggurat.check_law,
            **dict.fromkeys(test_jax.NAMES, test_jax.check_law),
            **dict.fromkeys(test_torch.NAMES, test_torch.check_law),
        },
        bounds=bounds,
        parameters=gaussian(delta=1e-3),
        data=st.integers(-9, 9),
        noiseless=lambda data: data,
        relation=within(1),
        domain="numbers@most=1,grid=-1,resolution=-2",
        options={
            "most": st.integers(1, 3),
            "sigma": decades(-0.5, 1, 1.0),
            "delta": decades(-9, -1, 1e-6),
            "sensitivity": DYADIC,
            "grid": st.integers(-2, 0),
            "resolution": st.integers(-2, 0),
        },
        tight={"most": 4, "grid": 0, "resolution": 0},
    ),
}


def test_sequential_sums_lose_what_a_wider_type_keeps() -> None:
    records = np.full(1 << 20, np.float32(0.1))
    exact = Fraction(float(records[0])) * len(records)
    assert abs(sequential(records, np.float32) - exact) > 100
    assert abs(sequential(records, np.float64) - exact) < 1e-6


MEMBERS = [
    one
    for name in ("laplace", "gaussian")
    for one in members(family(name))
    if one.package in ("", "jax", "torch", "ml_dtypes")
]
VECTOR = np.array([0.0, 4.0, -8.0])  # of numbers that every float type holds


def parameters_of(mechanism: AnyMechanism, query: Any) -> Any:
    if mechanism.family == "laplace":
        return LaplaceParameters(epsilon=1.0, grid=0, query=query)
    return GaussianParameters(sigma=0.5, delta=1e-6, grid=0, query=query)


@pytest.mark.parametrize("mechanism", MEMBERS, ids=lambda one: one.name)
def test_each_coordinate_has_noise_of_its_own_and_a_sum_is_one_number(mechanism: AnyMechanism) -> None:
    each, total = (parameters_of(mechanism, query) for query in ("value", "sum"))
    drawn = np.asarray(mechanism.sample(VECTOR, each, seeded_bits(1), 60)).astype(np.float64)
    assert drawn.shape == (60, 3)
    assert np.abs(np.median(drawn, axis=0) - VECTOR).max() <= 2
    noise = drawn - VECTOR
    assert (noise != noise[:, [1, 2, 0]]).any(axis=0).all()
    if mechanism.package in ("", "ml_dtypes"):  # the members of libraries take no records
        summed = mechanism.sample(VECTOR, total, seeded_bits(1), 60)
        assert np.asarray(summed).tolist() == np.asarray(mechanism.sample(-4.0, each, seeded_bits(1), 60)).tolist()
    if mechanism.law is not None:
        with pytest.raises(NoLawError):
            mechanism.law(VECTOR, each)
