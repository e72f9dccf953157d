"""Exact means exact, or an error with a name."""

import math
from fractions import Fraction

import pytest

from subnormal.mechanisms.numerics import mpfr
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
