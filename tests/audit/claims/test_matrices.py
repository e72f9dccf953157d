"""Sensitivities of strategy matrices: against every pattern and every sign, closed forms, and trees."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from subnormal.audit.claims import matrix_kinds
from subnormal.audit.claims.kind import Bounds
from subnormal.audit.claims.matrix_kinds import matrix, toeplitz

COEFFICIENTS = st.lists(st.floats(-1, 1).map(lambda one: round(one, 2)), max_size=6).map(lambda rest: (1.0, *rest))
PATTERN = {"separation": st.integers(1, 4), "participations": st.integers(1, 4)}


def lower(coefficients: tuple[float, ...], steps: int) -> NDArray[np.float64]:
    """Return the Toeplitz matrix."""
    return sum(
        (one * np.eye(steps, k=-place) for place, one in enumerate(coefficients) if place < steps),
        np.zeros((steps, steps)),
    )


def exhausted(strategy: NDArray[np.float64], separation: int, participations: int) -> float:
    """Return the largest norm of C·u over all patterns and signs: the sensitivity to numbers in place of vectors."""
    most, steps = 0.0, strategy.shape[1]
    for count in range(1, participations + 1):
        for pattern in combinations(range(steps), count):
            if all(b - a >= separation for a, b in pairwise(pattern)):
                for signs in product([1, -1], repeat=count):
                    most = max(most, float(np.linalg.norm(strategy[:, pattern] @ signs)))
    return most


def rows(strategy: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, strategy.tolist()))


def encloses(bounds: Bounds, truth: float) -> bool:
    return bounds[0] <= truth * (1 + 1e-12) and truth <= bounds[1] * (1 + 1e-12)


@settings(max_examples=25, deadline=None)
@given(coefficients=COEFFICIENTS, steps=st.integers(1, 7), **PATTERN)
def test_all_patterns_and_signs_are_within_the_bounds(
    coefficients: tuple[float, ...], steps: int, separation: int, participations: int
) -> None:
    strategy = lower(coefficients, steps)
    truth = exhausted(strategy, separation, participations)
    bounds = matrix(rows(strategy), separation, participations)
    assert encloses(bounds, truth)
    assert toeplitz(coefficients, steps, separation, participations) == bounds
    if min(coefficients) >= 0:
        assert bounds == pytest.approx((truth, truth), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(coefficients=COEFFICIENTS, falling=st.booleans(), steps=st.integers(2, 9), **PATTERN)
def test_closed_forms_agree_with_every_pattern(
    coefficients: tuple[float, ...], falling: bool, steps: int, separation: int, participations: int
) -> None:
    given = tuple(sorted(map(abs, coefficients), reverse=True)) if falling else coefficients
    every = toeplitz(given, steps, separation, participations)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_kinds, "FEW", 0)
        closed = toeplitz(given, steps, separation, participations)
    assert closed[0] <= every[1] * (1 + 1e-12)
    assert every[0] <= closed[1] * (1 + 1e-12)
    if falling or len(given) <= separation:
        assert closed == pytest.approx(every, rel=1e-12)
        assert closed[1] == pytest.approx(closed[0], rel=1e-12)


def test_the_upper_bound_of_other_matrices_is_reached_by_none_and_missed_by_no_pattern() -> None:
    rising = (1.0, 0.25, 0.5, 0.75)
    low, up = toeplitz(rising, 14, 2, 3)
    assert low <= exhausted(lower(rising, 14), 2, 3) <= up
    assert up < 1.5 * low


@pytest.mark.parametrize(("separation", "participations", "squared"), [(1, 1, 4), (4, 2, 10), (1, 8, 120), (3, 3, 20)])
def test_the_sensitivity_of_a_tree(separation: int, participations: int, squared: int) -> None:
    """A node for each interval of 1, 2, 4 and 8 steps: a record counts once in each node above its step."""
    nodes = [(start, width) for width in (1, 2, 4, 8) for start in range(0, 8, width)]
    tree = np.array([[start <= step < start + width for step in range(8)] for start, width in nodes], dtype=float)
    low, up = matrix(rows(tree), separation, participations)
    assert low == pytest.approx(up, rel=1e-15)
    assert up == pytest.approx(math.sqrt(squared), rel=1e-12)
    assert up == pytest.approx(exhausted(tree, separation, participations), rel=1e-12)


def test_roots_are_rounded_outwards() -> None:
    low, up = matrix(((1.0, 0.0), (1.0, 1.0)), 2, 1)  # √2
    assert low < up
    assert low * low < 2 < up * up * (1 + 1e-15)


def test_of_many_steps_orthogonal_columns_are_chosen_one_by_one() -> None:
    assert toeplitz((1.0, 1.0), 30, 2, 5) == pytest.approx((math.sqrt(10), math.sqrt(10)), rel=1e-15)
    assert toeplitz((1.0, 1.0), 30, 29, 5) == pytest.approx((math.sqrt(3), math.sqrt(3)), rel=1e-15)  # a last half
