"""Grid precision: 1 + noise on its grid for every float, the probability off it exactly, and what samples show."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.attacks.additive.grid_precision import grid_precision, grid_precision_gaussian, off_grid_probability
from subnormal.attacks.core.events import OffGrid
from subnormal.audit.statistics.binomial import clopper_pearson
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.families import member
from subnormal.mechanisms.laplace import correctly_rounded
from subnormal.mechanisms.laplace.correctly_rounded import float16_law

ALPHA = 1e-6  # the false-alarm rate of each statistical test
RUNS = 100_000


def test_one_plus_any_float16_lies_on_the_grid() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    every = every[np.isfinite(every)]
    assert not OffGrid(-11)(np.float16(1) + every).any()
    assert OffGrid(-12)(np.float16(1) + every).sum() == 0  # what is on a grid is on the finer one
    assert OffGrid(-10)(np.float16(1) + every).any()
    assert OffGrid(-11)(every).any()


@pytest.mark.parametrize(("float_type", "bits", "grid"), [(np.float32, np.uint32, -24), (np.float64, np.uint64, -53)])
def test_one_plus_many_floats_lies_on_the_grid(float_type: Any, bits: Any, grid: int) -> None:
    """Floats of every exponent, and those around −1/2, −1, −3/2 and the first that vanish."""
    some = seeded_bits(1).words(200_000, np.dtype(bits).itemsize * 8).astype(bits).view(float_type)
    edges = np.array([-0.5, -1, -1.5, -2, 0.5, 2.0**grid, 2.0 ** (grid - 1), 3 * 2.0 ** (grid - 2)], dtype=float_type)
    near = np.array([(edges.view(bits) + bits(step)).view(float_type) for step in range(100)]).ravel()
    under = np.array([(edges.view(bits) - bits(step)).view(float_type) for step in range(100)]).ravel()
    every = np.concatenate([some, near, under, -near, -under])
    every = every[np.isfinite(every)]
    assert not OffGrid(grid)(float_type(1) + every).any()


@pytest.mark.parametrize(("epsilon", "figure"), [(1.0, 0.2718), (0.1, 0.0326)])
def test_the_probability_off_the_grid(epsilon: float, figure: float) -> None:
    """The figures, and the sum that takes noise as uniform between powers of two: here it is off by less than 1e-15."""
    scale = 1 / Fraction(epsilon)
    low, high = off_grid_probability(scale)
    assert 0 < high - low < Fraction(1, 10**60)
    assert round(float(low), 4) == figure
    uniform = sum(
        (math.exp(-(2.0**e) / float(scale)) - math.exp(-(2.0 ** (e + 1)) / float(scale))) * (1 - 2.0 ** (e + 1))
        for e in range(-200, -1)
    )
    assert uniform == pytest.approx(float(low), rel=1e-14)


@pytest.mark.parametrize(
    "scale", [Fraction(1), Fraction(10), Fraction(1, 7), Fraction(1, 3000), Fraction(9000)], ids=str
)
def test_the_formula_against_every_float16(scale: Fraction) -> None:
    """The formula's steps are those of float64; in float16 all the floats can be added up."""
    law = float16_law(0.0, scale)
    low, high = (Fraction(mass, law.denominator) for mass in law.measure(OffGrid(-11)(law.atoms)))
    formula = off_grid_probability(scale, np.float16)
    assert max(low, formula[0]) <= min(high, formula[1])
    assert high - low < Fraction(1, 10**45)
    assert formula[1] - formula[0] < Fraction(1, 10**60)


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
@pytest.mark.parametrize("float_type", [np.float64, np.float32, np.float16])
def test_samples_agree_with_the_formula(epsilon: float, float_type: Any) -> None:
    """Each fails with probability ALPHA."""
    attack: Any = grid_precision(epsilon, float_type)
    scale = attack.parameters.scale
    drawn = {
        data: correctly_rounded.sample(np.array(data), scale, seeded_bits(2), RUNS, float_type=float_type)
        for data in attack.worlds()
    }
    assert not attack.event(drawn[1]).any()
    low, high = off_grid_probability(scale, float_type)
    interval = clopper_pearson(int(attack.event(drawn[0]).sum()), RUNS, ALPHA / 2)
    assert interval[0] <= low
    assert high <= interval[1]


@pytest.mark.parametrize("name", grid_precision_gaussian().breaks)
def test_gaussian_noise_in_float32_is_off_the_grid_as_often_as_derived(name: str) -> None:
    """About Σ P(2^e ≤ |n| < 2^(e+1))·(1 − 2^(e+1)), e ≤ −2: in each binade the multiples of 2^−24 are that share."""
    attack, mechanism = grid_precision_gaussian(), member(name)
    assert attack.event is not None
    with_alice, without = (
        int(attack.event(mechanism.sample(data, attack.parameters, seeded_bits(1), RUNS)).sum())
        for data in attack.worlds()
    )
    masses = [2 * (stats.norm.cdf(2.0 ** (e + 1)) - stats.norm.cdf(2.0**e)) for e in range(-60, -1)]
    expected = sum(mass * (1 - 2.0 ** (e + 1)) for e, mass in zip(range(-60, -1), masses, strict=True))
    low, high = clopper_pearson(without, RUNS, ALPHA)
    assert with_alice == 0
    assert low <= expected <= high
