"""Normals of few bits: their arithmetic against rationals and scipy, their laws by every word."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from subnormal.mechanisms.samplers import float_normals
from subnormal.mechanisms.samplers.float_normals import (
    BOX_MULLER_BFLOAT16,
    BOX_MULLER_FLOAT16,
    DIGITS,
    INVERSE_BFLOAT16,
    INVERSE_FLOAT16,
    INVERSE_FLOAT32,
    FloatNormal,
    FloatType,
    law_of_normals,
    noisy,
    rounded,
)

SAMPLERS = [INVERSE_BFLOAT16, INVERSE_FLOAT16, INVERSE_FLOAT32, BOX_MULLER_BFLOAT16, BOX_MULLER_FLOAT16]


def nearest(value: Fraction, digits: int) -> Fraction:
    """Return the nearest number of so many binary digits, ties to even, by rationals; no limit to exponents."""
    if value == 0:
        return value
    size = abs(value)
    place = size.numerator.bit_length() - size.denominator.bit_length() - digits - 1
    while size / Fraction(2) ** place >= 1 << digits:
        place += 1
    return round(value / Fraction(2) ** place) * Fraction(2) ** place


@pytest.mark.parametrize("float_type", ["bfloat16", "float16"])
def test_values_are_rounded_to_the_nearest_of_the_type(float_type: FloatType) -> None:
    digits = DIGITS[float_type]
    drawn = np.random.default_rng(1).normal(size=500).astype(np.float32)
    ties = (np.arange(2 << digits, 4 << digits) * 0.5**digits).astype(np.float32)  # every second one is halfway
    for value, found in zip(both := np.append(drawn, ties), rounded(both, float_type), strict=True):
        assert Fraction(float(found)) == nearest(Fraction(float(value)), digits)


def test_rounding_keeps_what_is_no_number_and_overflows_to_infinity() -> None:
    extremes = [np.inf, -np.inf, 3.4028235e38, -0.0]
    assert rounded(extremes, "bfloat16").tolist() == [np.inf, -np.inf, np.inf, 0.0]
    assert rounded(extremes, "float16").tolist() == [np.inf, -np.inf, np.inf, 0.0]
    assert all(np.isnan(rounded(np.nan, float_type)) for float_type in DIGITS)


@pytest.mark.parametrize("float_type", DIGITS)
def test_value_and_noise_are_each_rounded_once(float_type: FloatType) -> None:
    """The product and the sum of numbers of the type, against rationals."""
    digits, generator = DIGITS[float_type], np.random.default_rng(2)
    values, normals = (rounded(generator.normal(size=200) * 8, float_type) for _ in range(2))
    sigma = float(rounded(1.7, float_type))
    for value, normal in zip(values.tolist(), normals.tolist(), strict=True):
        noise = nearest(Fraction(sigma) * Fraction(normal), digits)
        released = noisy(value, 1.7, np.array([normal], dtype=np.float32), float_type)
        assert Fraction(float(released[0])) == nearest(Fraction(value) + noise, digits)


def test_the_inverse_error_function_is_right_to_a_few_units_of_float32() -> None:
    """In the tails to fewer digits: there u² is near 1, and rounded."""
    words = np.arange(0, 1 << 23, 101)
    uniform = ((4 * words - (1 << 24) + 1) * 0.5**24).astype(np.float32)
    ideal = special.erfinv(uniform.astype(np.float64))
    found = float_normals.error_function_inverse(uniform)
    error = np.abs(found / ideal - 1)
    assert np.max(error[np.abs(uniform) < 0.9]) < 2.0**-20
    assert np.max(error) < 2.0**-17


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: f"{sampler.of_words.__name__}-{sampler.float_type}")
def test_normals_are_near_the_ideal_ones(sampler: FloatNormal) -> None:
    digits = DIGITS[sampler.float_type]
    words = np.arange(0, 1 << sampler.bits, 1 + (1 << sampler.bits) // 5000, dtype=np.uint64)
    found = sampler.of_words(words, sampler.float_type)
    if found.shape[1] == 1:
        ideal = special.ndtri((words[:, np.newaxis] + 0.5) / (1 << sampler.bits))
        assert np.max(np.abs(found - ideal)) < 0.7  # in the tails a step of the uniform is that far
        assert np.median(np.abs(found - ideal)) < 2.0**-digits * 4
        return
    first = 1 - (words >> np.uint64(digits)) * 0.5**digits
    angle = 2 * np.pi * (words & np.uint64((1 << digits) - 1)) * 0.5**digits
    ideal = np.sqrt(-2 * np.log(first))[:, np.newaxis] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert np.max(np.abs(found - ideal)) < 3.4 * 8 * 2.0**-digits  # an angle near 2π is off by 4 units of 2^−p


def test_support_of_the_inverse() -> None:
    """A word, a value. The extremes are those of √2·erfinv(±(1 − 2^−p)), the greatest two words short of it."""
    sizes = []
    for sampler, low, high in (
        (INVERSE_BFLOAT16, -2.890625, 2.515625),
        (INVERSE_FLOAT16, -3.486328125, 3.181640625),
        (INVERSE_FLOAT32, -5.42, 5.22),
    ):
        values, counts = law_of_normals(sampler)
        sizes.append(len(values))
        assert (values[0], values[-1]) == pytest.approx((low, high), abs=1e-3)
        assert set(counts.tolist()) == {1}
    assert sizes == [128, 1024, 1 << 23]


def test_box_muller_is_bounded_by_its_least_uniform() -> None:
    """No more than √(2·p·ln 2) standard deviations: 3.33 in bfloat16, as pytorch's issue 166853 reports."""
    for sampler, bound in ((BOX_MULLER_BFLOAT16, 3.328125), (BOX_MULLER_FLOAT16, 3.904296875)):
        values, counts = law_of_normals(sampler)
        assert (values[0], values[-1]) == (-bound, bound)
        assert bound == pytest.approx(np.sqrt(2 * DIGITS[sampler.float_type] * np.log(2)), rel=2.0**-8)
        assert counts.sum() == 1 << sampler.bits
