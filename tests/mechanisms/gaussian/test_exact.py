"""The clamped discrete Gaussian: its law against the code, and its promise against the law."""

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
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
