"""Box-Muller inversion never excludes the truth; the precision of the grid, against every float16."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal import Verdict, member
from subnormal.attacks.additive.box_muller_inversion import (
    CANDIDATES,
    UnreachableByBoxMuller,
    _brackets,
    as_pairs,
    box_muller_inversion,
    reachable,
)
from subnormal.attacks.additive.grid_precision import grid_precision, grid_precision_gaussian, off_grid_probability
from subnormal.attacks.core.events import OffGrid
from subnormal.audit.statistics.binomial import clopper_pearson
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, Refused
from subnormal.mechanisms.gaussian.naive import FLOAT32, FLOAT64, POLAR, box_muller
from subnormal.mechanisms.laplace import correctly_rounded
from subnormal.mechanisms.laplace.correctly_rounded import float16_law
from tests.support.rows import distinguish

AnyMechanism = Mechanism[Any, Any, Any]

ALPHA = 1e-6  # the false-alarm rate of each statistical test
RUNS = 100_000
SIGMAS = (1.0, 20.0)


def outcomes(mechanism: AnyMechanism, sigma: float, data: Any, n: int, seed: int = 1) -> Any:
    parameters = GaussianParameters(sigma=sigma, delta=1e-6)
    return np.asarray(mechanism.sample(np.asarray(data, dtype=np.float64), parameters, seeded_bits(seed), n))


@pytest.mark.parametrize("data", [(1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("sigma", SIGMAS)
def test_the_truth_is_never_excluded(sigma: float, data: tuple[float, float]) -> None:
    assert reachable(outcomes(FLOAT64, sigma, data, RUNS), data, sigma).all()


@pytest.mark.parametrize("sigma", [1.0, 20.0, 0.3, 2.0**-20, 2.0**-300, 2.0**300])
@pytest.mark.parametrize("data", [(0.0, 0.0), (1.0, -0.7), (1e6, 1e-9), (-3e-300, 0.0)])
def test_the_truth_is_not_excluded_at_the_edges(sigma: float, data: tuple[float, float]) -> None:
    """The least and largest uniforms, those about powers of two, and angles about every multiple of π/4."""
    last = 1 << 53
    radial = {step for power in (*range(54), 52.5) for step in range(int(2**power) - 1, int(2**power) + 2)}
    angular = {eighth * last // 8 + step for eighth in range(9) for step in range(-2, 3)}
    steps = [(one, other) for one, other in product(radial, angular) if 1 <= one <= last and 1 <= other <= last]
    bits = scripted_bits("".join(f"{one - 1:053b}{other - 1:053b}" for one, other in steps))
    pairs = data + np.asarray(box_muller(sigma, bits, len(steps)), dtype=np.float64)
    assert reachable(pairs, data, sigma).all()


def missed(sigma: float, data: tuple[float, float]) -> int:
    """Return how many brackets do not hold the uniforms that were drawn: another preimage could hide it."""
    drawn = seeded_bits(3).words(2 * RUNS, 53).astype(np.float64).reshape(RUNS, 2) + 1  # in steps of 2^−53
    pairs = data + np.asarray(box_muller(sigma, seeded_bits(3), RUNS), dtype=np.float64)
    brackets = _brackets(pairs, np.array(data), sigma)
    radial = drawn[:, 0] - brackets.first_radial
    angular = (drawn[:, 1] - brackets.first_angular) % 2.0**53
    held = (radial >= 0) & (radial < brackets.radial) & (angular < brackets.angular)
    too_wide = brackets.radial.astype(np.float64) * brackets.angular > CANDIDATES
    return int((~held & ~too_wide).sum())


@pytest.mark.parametrize("data", [(0.0, 0.0), (1.0, 0.0), (1000.0, -0.1)])
@pytest.mark.parametrize("sigma", [1.0, 20.0, 1e-3])
def test_the_brackets_hold_the_uniforms(sigma: float, data: tuple[float, float]) -> None:
    assert missed(sigma, data) == 0


@pytest.mark.parametrize("mechanism", [POLAR, FLOAT32], ids=lambda one: one.name)
def test_shows_nothing_of_noise_made_otherwise(mechanism: AnyMechanism) -> None:
    """Hardly any of its pairs is one of Box-Muller's, in either world."""
    evidence = distinguish(mechanism, box_muller_inversion(), runs=20_000, alpha=ALPHA)
    assert evidence.verdict is Verdict.NOT_REFUTED
    assert min(evidence.event_in[0], evidence.event_out[0]) > 0.93


def test_a_pair_is_reachable_iff_uniforms_lead_to_it() -> None:
    """Of the floats next to an output, most are no output; and the output's own last bit is what tells."""
    pairs = outcomes(FLOAT64, 1.0, (0, 0), 10_000)
    beside = np.nextafter(pairs, np.inf)
    assert reachable(pairs, (0.0, 0.0), 1.0).all()
    assert reachable(beside, (0.0, 0.0), 1.0).mean() < 0.2


def test_events_take_any_outcome() -> None:
    event = UnreachableByBoxMuller((0.0, 0.0), 1.0)
    pair = tuple(outcomes(FLOAT64, 1.0, (0, 0), 1)[0].tolist())
    beyond = (50.0, 50.0)
    outcomes_of_any_kind = [pair, Refused("ValueError"), beyond, 3.0, (1.0, 2.0, 3.0), (math.nan, 0.0)]
    assert np.flatnonzero(event(outcomes_of_any_kind)).tolist() == [2]
    assert event(np.array([[3, 4], [50, 2**60]])).tolist() == [True, True]
    extremes = np.array([[math.inf, 0], [math.nan, 1], [1e308, -1e308], [1e119, 1], [5e-324, 5e-324]])
    assert event(extremes).tolist() == [False, False, False, True, True]
    assert event(np.array([1.0, 2.0])).tolist() == [False, False]
    assert event(np.empty((0, 2))).tolist() == []
    assert event([]).tolist() == []
    assert event(np.array([[0.0, 0.0]])).tolist() == [False]  # U₁ = 1
    assert as_pairs([beyond, Refused("ValueError")]).shape == (2, 2)


def test_noise_next_to_nothing_excludes_nothing() -> None:
    """At 10^12 a float is 2^−13 away from the next, and σ = 2^−30 is lost: all uniforms lead to the same pair."""
    assert reachable(np.array([[1e12, 1e12]]), (1e12, 1e12), 2.0**-30).all()
    assert not reachable(np.array([[1e12, 1e12 + 1]]), (1e12, 1e12), 2.0**-30).any()


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
