"""The naive twin is what people write: sequential sums in its own float type, and nothing repaired."""

from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import naive
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
