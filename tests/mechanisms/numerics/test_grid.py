"""Rounding to a grid: what it does to distances, by exhaustion in rationals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from subnormal.mechanisms.numerics.grid import from_steps, l1_steps, l2_steps_squared, to_steps

EIGHTHS = [Fraction(k, 8) for k in range(-20, 21)]


@pytest.mark.parametrize("rounding", ["down", "half-up"])
@pytest.mark.parametrize("grid", [-3, -1, 0, 1])
def test_values_land_no_further_apart_than_the_sensitivity_rounded_up(rounding: str, grid: int) -> None:
    for one, other in product(EIGHTHS, EIGHTHS):
        apart = abs(to_steps(one, grid, rounding) - to_steps(other, grid, rounding))  # type: ignore[arg-type]
        assert apart <= (l1_steps(abs(one - other), grid) if one != other else 0)


def test_half_to_even_would_break_it() -> None:
    assert abs(round(Fraction(1, 2)) - round(Fraction(3, 2))) == 2 > l1_steps(1.0, 0)


@pytest.mark.parametrize("sensitivity", [Fraction(1, 4), Fraction(1), Fraction(9, 8)])
def test_coordinates_are_rounded_each_and_the_bounds_hold_and_are_nearly_attained(sensitivity: Fraction) -> None:
    quarters = [Fraction(k, 8) for k in range(-9, 10)]
    worst = {1: 0, 2: 0}
    for moved in product(quarters, quarters):
        for start in product((Fraction(0), Fraction(3, 8), Fraction(1, 2)), repeat=2):
            steps = [abs(to_steps(a + d, 0) - to_steps(a, 0)) for a, d in zip(start, moved, strict=True)]
            if sum(map(abs, moved)) <= sensitivity:
                worst[1] = max(worst[1], sum(steps))
            if sum(d * d for d in moved) <= sensitivity**2:
                worst[2] = max(worst[2], sum(step * step for step in steps))
    assert worst[1] <= l1_steps(sensitivity, 0, 2)
    assert worst[2] <= l2_steps_squared(sensitivity, 0, 2)
    assert worst[1] >= 2


def test_steps_come_back_as_what_they_stand_for() -> None:
    assert from_steps(np.array([3, -1]), 2).tolist() == [12, -4]
    assert from_steps(np.array([3, -1]), -2).tolist() == [0.75, -0.25]
    assert from_steps(np.array([1]), -1074)[0] == 5e-324


def test_an_unknown_rounding() -> None:
    with pytest.raises(ValueError, match="rounding must be 'down' or 'half-up', got 'even'"):
        to_steps(Fraction(1), 0, "even")  # type: ignore[arg-type]
