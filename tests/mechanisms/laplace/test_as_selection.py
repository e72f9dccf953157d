"""Laplace noise as a selection: laws by every string of bits, the fast path against the slow one, the claim."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Eta
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.laplace import as_selection as laplace_as_selection
from tests.support.walks import assert_within_the_law

MEMBER = laplace_as_selection.BASE2


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every string of 12 bits: beyond them lie the words that hold a boundary."""
    for data, epsilon in ((0, 0.3), (0.3, 2.0), (-7, 2.0), (np.array([0.25, 0.5]), 0.3)):
        for grid, lower, upper in ((-1, -0.5, 0.5), (0, 0.0, 2.0), (1, -2.0, 2.0), (-3, 0.125, 0.125)):
            bounds: dict[str, Any] = {"grid": grid, "lower": lower, "upper": upper}
            parameters = LaplaceParameters(epsilon=epsilon, query="sum", sensitivity=0.5, **bounds)
            atoms = len(laplace_as_selection.outcomes(**bounds))
            assert_within_the_law(mechanism, data, parameters, rest=(atoms - 1) / (1 << 12))


@pytest.mark.parametrize("value", [-9, -0.75, 0.2, 0.25, 0.3, Fraction(1, 3), 2**80])
@pytest.mark.parametrize("eta", [Eta(1, 1, 1), Eta(3, 2, 1)])
def test_the_law_is_the_formula(value: Any, eta: Eta) -> None:
    """On the grid of quarters: rounded half up, clamped to ±1, weight B for each step."""
    nearest = min(max(math.floor(Fraction(value) * 4 + Fraction(1, 2)), -4), 4)
    weights = [eta.base ** abs(step - nearest) for step in range(-4, 5)]
    law = laplace_as_selection.law(value, eta, grid=-2, lower=-1, upper=1)
    assert list(law.atoms) == [step / 4 for step in range(-4, 5)]
    for step, weight in zip(range(-4, 5), weights, strict=True):
        assert law.probability(step / 4) == (weight / sum(weights),) * 2


@pytest.mark.parametrize(
    ("eta", "grid", "upper"), [(Eta(3, 2, 1), -2, 2), (Eta(1, 1, 40), -1, 2), (Eta(3, 2, 1), -66, 2.0**-60)]
)
def test_where_it_is_not_fast_it_is_the_papers_mechanism(eta: Eta, grid: int, upper: float) -> None:
    """Another base than a power of two, weights beyond a word; and fractions beyond one are cut to 64 bits."""
    ours, theirs = seeded_bits(2), seeded_bits(2)
    public: dict[str, Any] = {"grid": grid, "lower": 0, "upper": upper}
    drawn = laplace_as_selection.sample_rounded(0, eta, ours, 40, **public)
    units = np.ldexp(laplace_as_selection.steps(0, **public).astype(np.float64), grid)
    limits = Limits(0, math.ceil(upper), len(units))
    precision = {-2: 2, -1: 1, -66: 64}[grid]
    expected = base2.sample(units, eta, theirs, 40, limits=limits, rounding_precision=precision)
    assert drawn.tolist() == laplace_as_selection.outcomes(**public)[expected].tolist()


def test_a_grid_of_integers_needs_no_rounding() -> None:
    drawn = laplace_as_selection.sample_rounded(5, Eta(1, 1, 1), seeded_bits(1), 10, grid=1, lower=-8, upper=8)
    expected = laplace_as_selection.sample(5, Eta(1, 1, 2), seeded_bits(1), 10, grid=1, lower=-8, upper=8)
    assert drawn.tolist() == expected.tolist()
    assert drawn.dtype == np.int64


def test_coordinates_sums_and_whole_numbers() -> None:
    vector = np.array([0.5, -1.0, 3.0])
    parameters = LaplaceParameters(epsilon=900.0, lower=-4.0, upper=4.0)
    drawn = np.asarray(MEMBER.sample(vector, parameters, seeded_bits(1), 5))
    assert drawn.tolist() == [vector.tolist()] * 5  # at ε = 900 a wrong step has a chance of e^−25
    large = 2.0**60
    whole = LaplaceParameters(epsilon=1.0, grid=0, lower=large - 256, upper=large + 256)
    counted = np.asarray(MEMBER.sample(2**60 + 129, whole, seeded_bits(1), 1000))
    assert counted.dtype == np.int64
    assert (counted % 2 == 1).any()
    assert abs((counted - (2**60 + 129)).mean()) < 1
