"""The clamped discrete Gaussian: its law against the code, and its promise against the law."""

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.families import member
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.privacy import Zcdp
from tests.support.walks import assert_within_the_law

AnyMechanism = Mechanism[Any, Any, Any]

ALPHA = 1e-6


def check_law(mechanism: AnyMechanism) -> None:
    for data, sigma in ((0, 0.5), (1, 2.0), (-3.25, 1.0)):
        parameters = GaussianParameters(sigma=sigma, delta=1e-6, grid=-1, lower=-2.0, upper=3.0)
        assert_within_the_law(mechanism, data, parameters, rest=0.02)


def test_the_law_is_the_definition() -> None:
    """σ = 2 on the integers: against a float sum, to its precision; enclosures are 2^−120 wide at most."""
    law = gaussian_exact.law(1, 2.0, lower=-5, upper=6)
    support = np.arange(-60, 61)
    weights = np.exp(-((support - 1.0) ** 2) / 8)
    expected = weights / weights.sum()
    for atom in range(-4, 6):
        low, high = law.probability(atom)
        assert low <= high <= low + Fraction(1, 2**120)
        assert float(low) == pytest.approx(float(expected[atom + 60]), rel=1e-12)
    assert float(law.probability(-5)[0]) == pytest.approx(expected[:56].sum(), rel=1e-10)
    assert float(law.probability(6)[0]) == pytest.approx(expected[66:].sum(), rel=1e-12)


@pytest.mark.parametrize("sigma", [1.0, 20.0, 30.0])
def test_a_real_sample_fits_its_law(sigma: float) -> None:
    """σ = 30 is 120 steps of the grid: drawn in parts."""
    options: dict[str, Any] = {"grid": -2, "lower": -100, "upper": 100}
    drawn = gaussian_exact.sample(0.3, sigma, seeded_bits(1), 200_000, **options)
    law = gaussian_exact.law(0.3, sigma, **options)
    masses = np.array([low / law.denominator for low in law.low])
    counts = np.bincount(np.searchsorted(np.asarray(law.atoms), drawn), minlength=len(masses))
    assert binomial.ks_distance(counts / counts.sum(), masses) <= binomial.dkw_margin(200_000, ALPHA)


@pytest.mark.parametrize(("sigma", "sensitivity", "delta"), [(1.0, 1.0, 1e-6), (20.0, 1.0, 1e-9), (3.0, 0.3, 1e-5)])
def test_the_promise_is_kept(sigma: float, sensitivity: float, delta: float) -> None:
    """Also off the grid, where 0.3 becomes 0.5: the member's σ grows with it. And the claim is not absurdly loose."""
    mechanism = member("gaussian-exact")
    assert mechanism.law is not None
    parameters = GaussianParameters(
        sigma=sigma, delta=delta, sensitivity=sensitivity, grid=-2, lower=-20 * sigma, upper=20 * sigma
    )
    law_in, law_out = (mechanism.law(value, parameters) for value in (0.1, 0.1 + sensitivity))
    claim = mechanism.claim(parameters, 0.1, 0.1 + sensitivity)
    evidence = exact.compare(law_in, law_out, claim)
    assert (evidence.verdict, evidence.within) == (Verdict.HOLDS, 0)
    assert exact.curve(law_in, law_out, [claim.epsilon / 2])[0][0] > delta


@pytest.mark.parametrize(("sigma", "grid"), [(1.0, 0), (2.0**40, 0), (3.0, -20), (2.0**12, 4)])
def test_an_array_is_filled_by_all_its_sources(sigma: float, grid: int) -> None:
    """The same shares whatever the threads do, each from its own source; on the grid; of the standard deviation."""
    kind = np.int64 if grid >= 0 else np.float64
    noise, again = np.zeros((3, 40_001), dtype=kind), np.zeros(3 * 40_001, dtype=kind)
    for out in (noise, again):
        gaussian_exact.fill(out, sigma, [seeded_bits(1, batch=batch) for batch in range(4)], grid=grid)
    assert np.array_equal(noise.ravel(), again)
    alone = np.zeros(len(np.array_split(again, 4)[0]), dtype=kind)
    gaussian_exact.fill(alone, sigma, [seeded_bits(1, batch=0)], grid=grid)
    assert np.array_equal(alone, again[: len(alone)])
    assert np.array_equal(np.fmod(again, 2.0**grid), np.zeros(len(again)))
    degrees = len(again) - 1
    low, high = degrees * again.astype(np.float64).var() / stats.chi2(degrees).ppf([1 - ALPHA / 2, ALPHA / 2])
    assert low <= sigma**2 <= high


def test_an_array_is_filled_in_constant_memory() -> None:
    """Beyond the array some MiB, and no more for sixteen times as many coordinates."""

    def allocated(n: int) -> int:
        out = np.empty(n, dtype=np.int64)
        tracemalloc.start()
        gaussian_exact.fill(out, 2.0**40, [seeded_bits(1)])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    gaussian_exact.fill(np.empty(1, dtype=np.int64), 2.0**40)  # the table is made once
    few, many = allocated(1 << 19), allocated(1 << 23)
    assert many < 16 << 20
    assert many < 2 * few


@pytest.mark.parametrize(
    ("out", "grid", "message"),
    [
        (np.empty(4, dtype=np.int64), -1, "out must be C-contiguous, of type float64 for grid = -1, got int64"),
        (np.empty(4, dtype=np.float32), 0, "of type int64 for grid = 0, got float32"),
        (np.empty((4, 4), dtype=np.int64)[:, 0], 0, "out must be C-contiguous"),
    ],
)
def test_an_array_that_cannot_be_filled(out: Any, grid: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gaussian_exact.fill(out, 1.0, grid=grid)
    with pytest.raises(ValueError, match="sources must not be empty"):
        gaussian_exact.fill(np.empty(1, dtype=np.int64), 1.0, [])
    with pytest.raises(ValueError, match="sigma must be at most 2"):  # else some draws would wrap around
        gaussian_exact.fill(np.empty(1, dtype=np.int64), 2.0**62, grid=30)


def test_less_noise_than_promised_is_violated() -> None:
    law_in, law_out = (gaussian_exact.law(value, 0.8, lower=-30, upper=30) for value in (0, 1))
    assert exact.compare(law_in, law_out, Zcdp(0.5).claim(1e-6)).verdict is Verdict.VIOLATED


def test_the_claim_counts_what_rounding_costs() -> None:
    assert gaussian_exact.claim(2.0, 1.0) == Zcdp(0.125)
    assert gaussian_exact.claim(2.0, 1.01) == Zcdp(0.5)
    assert gaussian_exact.claim(2.0, 1.01, grid=-10).rho == pytest.approx(1.01**2 / 8, rel=3e-3)
    pair = gaussian_exact.claim(2.0, 1.0, grid=-10, coordinates=2)
    assert 0.125 < pair.rho < 0.126


def test_sigma_is_unchanged_where_the_sensitivity_is_on_the_grid() -> None:
    parameters = GaussianParameters(sigma=3.0, delta=1e-6, sensitivity=1.25, grid=-2)
    assert gaussian_exact.member_sigma(parameters) == 3
    off = GaussianParameters(sigma=3.0, delta=1e-6, sensitivity=1.0, grid=-2)
    assert gaussian_exact.member_sigma(off, 2) > 3 * (1 + Fraction(1, 4))


def test_a_vector_is_released_coordinate_by_coordinate() -> None:
    mechanism, data = member("gaussian-exact"), np.array([1.0, 2.5])
    parameters = GaussianParameters(sigma=0.1, delta=1e-6)
    assert np.asarray(mechanism.sample(data, parameters, seeded_bits(1), 50)).shape == (50, 2)
    assert mechanism.law is not None
    with pytest.raises(NoLawError, match="over all combinations"):
        mechanism.law(data, parameters)
    with pytest.raises(NoLawError, match="steps of 2\\^-40"):
        gaussian_exact.law(0, 1.0, grid=-40, lower=-1, upper=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma": 0.0}, "sigma must be positive and finite, got 0"),
        ({"n": -1}, "n must not be negative, got -1"),
        ({"sigma": 1e300}, "choose a coarser grid"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"sigma": 1.0, "n": 1} | arguments
    with pytest.raises(ValueError, match=message):
        gaussian_exact.sample(0, options["sigma"], seeded_bits(1), options["n"])
