"""The naive twin is what people write: sequential sums in its own float type, and nothing repaired."""

from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import naive
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import family, member, members
from subnormal.mechanisms.samplers import float_uniforms

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


@pytest.mark.parametrize("kind", FLOATS)
def test_the_first_index_above_the_uniform_is_chosen(kind: Any) -> None:
    utilities = [3, 0, 9, 1]
    sums = float_uniforms.running_sums(naive.weights(utilities, 1.0, float_type=kind)).tolist()
    width = float_uniforms.uniform_bits(kind)
    uniforms = [word * 2.0**-width for word in seeded_bits(5).words(500, width).tolist()]
    expected = [next(index for index, end in enumerate(sums) if end > uniform) for uniform in uniforms]
    assert np.asarray(naive.sample(utilities, 1.0, seeded_bits(5), 500, float_type=kind)).tolist() == expected


def test_a_total_of_zero_or_infinity_falls_off_the_end() -> None:
    for utilities in ([4000, 5000], [-4000, 0]):
        assert naive.sample(utilities, 1.0, seeded_bits(1), 3) == [float_uniforms.FELL_OFF] * 3
        assert naive.law(utilities, 1.0).probability(float_uniforms.FELL_OFF) == (1, 1)


def test_positive_refuses_and_shifted_does_not() -> None:
    assert naive.sample([0, 5000], 1.0, seeded_bits(1), 2, variant="positive") == [naive.NOT_POSITIVE] * 2
    assert naive.law([0, 5000], 1.0, variant="positive").probability(naive.NOT_POSITIVE) == (1, 1)
    assert naive.law([4000, 4000], 1.0, variant="shifted").probability(0)[0] * 2 == 1


def test_sensitivity_scales_the_budget() -> None:
    assert naive.weights([3], 1.0, sensitivity=2.0) == naive.weights([3], 0.5)


def test_a_law_of_a_million_outcomes_is_a_distribution() -> None:
    law = naive.law(np.arange(1_000_000) % 1000, 0.01)
    assert law.measure(np.ones(1_000_000, dtype=bool)) == (1 << 53, 1 << 53)


def test_shifted_subtracts_the_best_utility() -> None:
    assert naive.weights([3, 5], 1.0, variant="shifted").tolist() == [1.0, np.exp(np.array([-1.0]))[0]]


@pytest.mark.parametrize(
    "name", [one.name for one in members(family("exponential")) if not one.package and "noisy-max" not in one.name]
)
def test_every_member_scales_its_budget_by_the_sensitivity(name: str) -> None:
    """A budget of 2 at Δ = 2 weighs as a budget of 1 at Δ = 1, in the law and draw for draw."""
    mechanism, data = member(name), np.array([0, 3, 1, 2])
    assert mechanism.law is not None
    wide, narrow = (ExponentialParameters(budget, Limits(0, 4, 4), budget) for budget in (2.0, 1.0))
    laws = [mechanism.law(data, parameters) for parameters in (wide, narrow, ExponentialParameters(2.0, wide.limits))]
    drawn = [list(mechanism.sample(data, parameters, seeded_bits(4), 400)) for parameters in (wide, narrow)]
    assert [laws[0].probability(index) for index in range(4)] == [laws[1].probability(index) for index in range(4)]
    assert laws[0].probability(0) != laws[2].probability(0)
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("name", ["exponential-base2", "exponential-exact", "exponential-exact-base-e"])
def test_exact_members_clamp_to_the_limits_in_law_and_draws(name: str) -> None:
    mechanism, parameters = member(name), ExponentialParameters(1.0, Limits(0, 2, 3))
    assert mechanism.law is not None
    inside, outside = np.array([0, 1, 2]), np.array([-7, 1, 90])
    laws = [mechanism.law(data, parameters) for data in (inside, outside)]
    assert [laws[0].probability(index) for index in range(3)] == [laws[1].probability(index) for index in range(3)]
    drawn = [list(mechanism.sample(data, parameters, seeded_bits(2), 200)) for data in (inside, outside)]
    assert drawn[0] == drawn[1]
