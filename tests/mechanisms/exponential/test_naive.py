"""The naive twin is what people write; noisy max in floats, its law against every string of bits."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.exponential import gumbel_max_naive, naive
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import family, member, members
from subnormal.mechanisms.samplers import float_uniforms
from tests.support.walks import law_of

FLOATS = [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("kind", FLOATS)
def test_sums_are_sequential_in_the_float_type(kind: Any) -> None:
    weights = naive.weights(np.arange(200) % 7, 0.7, float_type=kind)
    total, expected = kind(0), []
    for weight in weights:
        total = kind(total + weight)
        expected.append(total)
    assert weights.dtype == np.dtype(kind)
    assert float_uniforms.running_sums(weights).tolist() == [kind(partial / total) for partial in expected]


@pytest.mark.parametrize(
    "name", [one.name for one in members(family("exponential")) if not one.package and "noisy-max" not in one.name]
)
def test_every_member_scales_its_budget_by_the_sensitivity(name: str) -> None:
    """A budget of 2 at Δ = 2 weighs as a budget of 1 at Δ = 1, in the law and draw for draw."""
    mechanism, data = member(name), np.array([0, 3, 1, 2])
    wide, narrow = (ExponentialParameters(budget, Limits(0, 4, 4), budget) for budget in (2.0, 1.0))
    laws = [
        law_of(mechanism, data, parameters) for parameters in (wide, narrow, ExponentialParameters(2.0, wide.limits))
    ]
    drawn = [list(mechanism.sample(data, parameters, seeded_bits(4), 400)) for parameters in (wide, narrow)]
    assert [laws[0].probability(index) for index in range(4)] == [laws[1].probability(index) for index in range(4)]
    assert laws[0].probability(0) != laws[2].probability(0)
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("name", ["exponential-base2", "exponential-exact", "exponential-exact-base-e"])
def test_exact_members_clamp_to_the_limits_in_law_and_draws(name: str) -> None:
    mechanism, parameters = member(name), ExponentialParameters(1.0, Limits(0, 2, 3))
    inside, outside = np.array([0, 1, 2]), np.array([-7, 1, 90])
    laws = [law_of(mechanism, data, parameters) for data in (inside, outside)]
    assert [laws[0].probability(index) for index in range(3)] == [laws[1].probability(index) for index in range(3)]
    drawn = [list(mechanism.sample(data, parameters, seeded_bits(2), 200)) for data in (inside, outside)]
    assert drawn[0] == drawn[1]


CASES = [([0, 0, 0], 4), ([1, 0, 0], 4), ([0, 1, 0, 1], 3), ([2, 0, 2], 4), ([0] * 6, 2), ([5, 5], 6), ([7], 3)]
CASES += [([0, 3000], 6), ([1, 0, 0, 1, 1, 1], 2)]


def counted(utilities: list[int], float_type: Any, width: int) -> list[Fraction]:
    """Return the probability of each outcome, by every string of bits through the sampler."""
    depth = width * len(utilities)
    script = "".join(f"{string:0{depth}b}" for string in range(1 << depth))
    options: Any = {"float_type": float_type, "uniform_bits": width}
    drawn = Counter(gumbel_max_naive.sample(utilities, 1.0, scripted_bits(script), 1 << depth, **options).tolist())
    return [Fraction(drawn[outcome], 1 << depth) for outcome in range(len(utilities))]


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """The member only adapts parameters, so its functions are walked on lattices where every string can be."""
    kind = {"noisy-max-naive-float32": np.float32}[mechanism.name]
    for utilities, width in CASES:
        law = gumbel_max_naive.law(utilities, 1.0, float_type=kind, uniform_bits=width)
        for outcome, truth in enumerate(counted(utilities, kind, width)):
            low, high = law.probability(outcome)
            assert low <= truth <= high
            assert high - low < Fraction(1, 2**110)
    attack = gumbel_ties()
    data = attack.worlds()[1]
    ours, theirs = law_of(mechanism, data, attack.parameters), gumbel_max_naive.law(data, 2e-4, float_type=kind)
    assert ours.low == theirs.low


def test_blocks_of_several_outcomes_bound_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two blocks for each group, and the scores that hardly ever win left out: bounds that are wide, and hold."""
    monkeypatch.setattr(gumbel_max_naive, "BLOCKS", 2)
    monkeypatch.setattr(gumbel_max_naive, "TAIL", 3)
    for utilities, width in [([0] * 6, 2), ([0, 0, 0, 1], 3), ([1, 1, 0, 0, 0, 0], 2)]:
        law = gumbel_max_naive.law(utilities, 1.0, float_type=np.float32, uniform_bits=width)
        assert len(law.ends) < len(utilities)
        for outcome, truth in enumerate(counted(utilities, np.float32, width)):
            low, high = law.probability(outcome)
            assert low <= truth <= high


def test_noise_never_decreases_with_the_uniform() -> None:
    """All 2^24 of float32, and the ends of float64."""
    noise = gumbel_max_naive._noises("float32", 24)
    assert len(noise) == 1 << 24
    assert noise[0] == -np.inf
    assert (noise[1:] >= noise[:-1]).all()
    assert noise[-1] == pytest.approx(24 * math.log(2), rel=1e-6)
    top = np.array([0, 1, (1 << 53) - 2, (1 << 53) - 1])
    assert (np.diff(gumbel_max_naive.gumbel(top, float_type=np.float64, uniform_bits=53)) > 0).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_sample_is_that_of_the_exponential_mechanism(kind: Any) -> None:
    """Four outcomes, in floats to within what 50,000 draws can tell: a false-alarm rate of 1e-6 (chi-square)."""
    from scipy import stats

    utilities = np.array([3, 0, 1, 1])
    drawn = gumbel_max_naive.sample(utilities, 2.0, seeded_bits(3), 50_000, float_type=kind)
    weights = np.exp(-1.0 * utilities)
    expected = 50_000 * weights / weights.sum()
    assert stats.chisquare(np.bincount(drawn, minlength=4), expected).pvalue > 1e-6


def test_levels_that_hardly_ever_win_cost_nothing() -> None:
    """Two million equal scores with forty worse ones behind them, none of which reaches the points that are summed."""
    usual = 1 << 21
    utilities = np.append(np.zeros(usual, dtype=np.int64), 1000 * np.arange(1, 41))
    law = gumbel_max_naive.law(utilities, 1.0, float_type=np.float32)
    for outcome, gain in ((0, 1), (usual - 1, -1)):  # of ties, which have 1/16 of the mass, the first wins
        low, high = (bound * usual for bound in law.probability(outcome))
        assert (
            1 + gain * Fraction(1, 16) - Fraction(1, 200) < low < high < 1 + gain * Fraction(1, 16) + Fraction(1, 200)
        )
    assert law.probability(usual + 39)[1] < Fraction(1, 1 << 50)
