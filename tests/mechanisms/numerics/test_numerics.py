"""Exact means exact, or an error with a name; what a grid does to distances; bisection of many predicates."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.mechanisms.numerics import mpfr
from subnormal.mechanisms.numerics.bisection import least_holding
from subnormal.mechanisms.numerics.grid import from_steps, l1_steps, l2_steps_squared, to_steps
from subnormal.mechanisms.numerics.mpfr import InexactError, exact


def test_inexact_arithmetic_raises_inside_the_scope() -> None:
    with pytest.raises(InexactError, match="10 bits"), exact(10):
        mpfr.real(1) + mpfr.scaled(1, -10)


def test_a_number_wider_than_the_precision_raises() -> None:
    with pytest.raises(InexactError), exact(10):
        mpfr.real(1025)
    with exact(10):
        assert mpfr.real(1026) == 1026


def test_division_by_zero_and_underflow_raise() -> None:
    with pytest.raises(InexactError), exact(10):
        mpfr.real(1) / mpfr.real(0)
    with pytest.raises(InexactError), exact(10):
        mpfr.scaled(1, -(1 << 31))


@pytest.mark.parametrize("value", range(1, 70))
def test_ceiling_log2_is_the_least_power_above(value: int) -> None:
    with exact(64):
        assert mpfr.ceiling_log2(mpfr.real(value)) == math.ceil(math.log2(value))
        assert mpfr.ceiling_log2(mpfr.scaled(value, -9)) == math.ceil(math.log2(value)) - 9


def test_bounds_enclose_and_are_tight() -> None:
    low, high = mpfr.exp_bounds(Fraction(1, 3))
    assert low < high < low * (1 + Fraction(1, 2**120))
    assert float(low) == math.exp(1 / 3)
    low, high = mpfr.log_bounds(Fraction(1, 3))
    assert low < high
    assert float(low) == -math.log(3)


def test_float_up_never_rounds_down() -> None:
    third = Fraction(1, 3)
    assert Fraction(mpfr.float_up(third)) >= third > Fraction(math.nextafter(mpfr.float_up(third), 0))
    assert mpfr.float_up(Fraction(1, 4)) == 0.25


def test_the_logarithm_of_a_ratio_of_huge_integers_keeps_its_digits() -> None:
    huge = 3**600_000
    assert mpfr.log_ratio(huge * 8, huge * 7) == pytest.approx(math.log(8 / 7), rel=1e-15)
    assert mpfr.log_ratio(1, 0) == math.inf
    assert mpfr.log_ratio((1 << 900) + 1, 1 << 900) == math.ldexp(1.0, -900)  # relative precision
    assert mpfr.log_ratio(1 << 900, (1 << 900) + 1) == -math.ldexp(1.0, -900)


EIGHTHS = [Fraction(k, 8) for k in range(-20, 21)]


@pytest.mark.parametrize("rounding", ["down", "half-up"])
@pytest.mark.parametrize("grid", [-3, -1, 0, 1])
def test_values_land_no_further_apart_than_the_sensitivity_rounded_up(rounding: str, grid: int) -> None:
    for one, other in product(EIGHTHS, EIGHTHS):
        apart = abs(to_steps(one, grid, rounding) - to_steps(other, grid, rounding))  # type: ignore[arg-type]
        assert apart <= (l1_steps(abs(one - other), grid) if one != other else 0)


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


BELOW, END = (-1, 0, 3, 4), 5  # each place is searched above its own integer


@pytest.mark.parametrize("least", list(product(*(range(below + 1, END + 1) for below in BELOW))))
def test_each_place_gets_its_own_least_integer_or_the_end(least: tuple[int, ...]) -> None:
    def holds(integers: NDArray[np.int64]) -> NDArray[np.bool_]:
        assert ((integers >= BELOW) & (integers < END)).all()
        return np.asarray(integers >= least)

    assert least_holding(holds, np.array(BELOW), END).tolist() == list(least)
