"""The naive twin is what people write: sequential sums in its own float type, and nothing repaired."""

from typing import Any

import numpy as np
import pytest

from mechanisms import exponential_naive as naive
from mechanisms.bits import seeded_bits

FLOATS = [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("kind", FLOATS)
def test_sums_are_sequential_in_the_float_type(kind: Any) -> None:
    weights = naive.weights(np.arange(200) % 7, 0.7, float_type=kind)
    total, expected = kind(0), []
    for weight in weights:
        total = kind(total + weight)
        expected.append(total)
    assert weights.dtype == np.dtype(kind)
    assert naive.running_sums(weights).tolist() == [kind(partial / total) for partial in expected]


@pytest.mark.parametrize("kind", FLOATS)
def test_the_first_index_above_the_uniform_is_chosen(kind: Any) -> None:
    utilities = [3, 0, 9, 1]
    sums = naive.running_sums(naive.weights(utilities, 1.0, float_type=kind)).tolist()
    width = naive.uniform_bits(kind)
    uniforms = [word * 2.0**-width for word in seeded_bits(5).words(500, width).tolist()]
    expected = [next(index for index, end in enumerate(sums) if end > uniform) for uniform in uniforms]
    assert np.asarray(naive.sample(utilities, 1.0, seeded_bits(5), 500, float_type=kind)).tolist() == expected


def test_a_total_of_zero_or_infinity_falls_off_the_end() -> None:
    for utilities in ([4000, 5000], [-4000, 0]):
        assert naive.sample(utilities, 1.0, seeded_bits(1), 3) == [naive.FELL_OFF] * 3
        assert naive.law(utilities, 1.0).probability(naive.FELL_OFF) == (1, 1)


def test_positive_refuses_and_shifted_does_not() -> None:
    assert naive.sample([0, 5000], 1.0, seeded_bits(1), 2, variant="positive") == [naive.NOT_POSITIVE] * 2
    assert naive.law([0, 5000], 1.0, variant="positive").probability(naive.NOT_POSITIVE) == (1, 1)
    assert naive.law([4000, 4000], 1.0, variant="shifted").probability(0)[0] * 2 == 1


def test_sensitivity_scales_the_budget() -> None:
    assert naive.weights([3], 1.0, sensitivity=2.0) == naive.weights([3], 0.5)


def test_a_law_of_a_million_outcomes_is_a_distribution() -> None:
    law = naive.law(np.arange(1_000_000) % 1000, 0.01)
    assert law.measure(np.ones(1_000_000, dtype=bool)) == (1 << 53, 1 << 53)
