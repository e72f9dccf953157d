"""Convolution powers on a grid: what rounding does stays within the error that is stated."""

import math
from fractions import Fraction

import numpy as np
import pytest

from subnormal.mechanisms.composition.fft_convolution import Tilted, merge, power, product, split

PLENTY = 1 << 20


def exactly(masses: np.ndarray) -> list[int]:
    """Floats as integers over 2^1074."""
    return [int(Fraction(float(one)) * 2**1074) for one in masses]


def convolved(one: list[int], other: list[int]) -> list[int]:
    """The convolution, by a product of two long numbers: a digit of 4,400 bits holds any sum of products."""
    digit = 4_400
    total = sum(a << (digit * i) for i, a in enumerate(one)) * sum(b << (digit * i) for i, b in enumerate(other))
    return [(total >> (digit * i)) & ((1 << digit) - 1) for i in range(len(one) + len(other) - 1)]


def apart(made: Tilted, row: int, true: list[int], scale: int, first: int) -> float:
    """The sum of absolute differences between a row and true masses over `scale`, as a float."""
    stored = {
        made.first + i: Fraction(float(one)) * Fraction(2) ** made.shift for i, one in enumerate(made.masses[row])
    }
    indices = {*stored, *range(first, first + len(true))}
    at = {first + i: Fraction(one, scale) for i, one in enumerate(true)}
    return float(sum(abs(stored.get(i, Fraction(0)) - at.get(i, Fraction(0))) for i in indices))


@pytest.mark.parametrize("shape", ["uniform", "peaked", "steep"])
@pytest.mark.parametrize("columns", [3, 100, 300])
def test_a_product_errs_by_no_more_than_it_says(shape: str, columns: int) -> None:
    rng = np.random.default_rng(columns)
    masses = {
        "uniform": rng.random((2, columns)),
        "peaked": rng.random((2, columns)) ** 40,
        "steep": np.exp(-rng.random((2, columns)) * 300),
    }[shape]
    base = Tilted(0.0, 0.1, -5, masses, np.zeros(2))
    made = product(base, base, PLENTY, merge)
    for row in range(2):
        digits = exactly(masses[row])
        error = apart(made, row, convolved(digits, digits), 2**2148, -10)
        assert error <= made.errors[row] * 2.0**made.shift
        assert made.errors[row] * 2.0**made.shift < 1e-11 * masses.sum(axis=1).max() ** 2


@pytest.mark.parametrize("runs", [1, 2, 3, 7, 12])
def test_a_power_is_that_many_factors(runs: int) -> None:
    masses = np.random.default_rng(1).random((1, 20))
    made = power(Tilted(0.0, 0.1, -3, masses, np.zeros(1)), runs, PLENTY, split)
    expected = np.ones(1)
    for _ in range(runs):
        expected = np.convolve(expected, masses[0])
    assert made.first >= -3 * runs
    stored = np.zeros(len(expected))
    stored[made.first + 3 * runs :][: made.masses.shape[1]] = np.ldexp(made.masses[0], made.shift)
    assert np.abs(stored - expected).sum() <= 1e-9 * expected.sum()
    assert made.width == 0.1


@pytest.mark.parametrize("first", [-4, -3, 0, 1])
@pytest.mark.parametrize("columns", [8, 9])
def test_coarser_buckets_keep_what_they_must(first: int, columns: int) -> None:
    """Untilted masses of A, and B's: split keeps both and is a spread, merge adds 2j − 1 to 2j in both."""
    tilt, width = 1.7, 0.3
    rng = np.random.default_rng(columns + first)
    losses = width * (first + np.arange(columns))
    masses = rng.random((1, columns))
    made = split(Tilted(tilt, width, first, masses * np.exp(tilt * losses), np.zeros(1)))
    untilted = np.ldexp(made.masses, made.shift) * np.exp(-tilt * made.losses)
    assert made.width == 2 * width
    assert untilted.sum() == pytest.approx(masses.sum(), rel=1e-12)
    assert (untilted * np.exp(-made.losses)).sum() == pytest.approx((masses * np.exp(-losses)).sum(), rel=1e-12)
    for epsilon in losses:  # a spread: no hockey-stick divergence falls
        fine = (masses * np.maximum(0, 1 - np.exp(epsilon - losses))).sum()
        assert (untilted * np.maximum(0, 1 - np.exp(epsilon - made.losses))).sum() >= fine * (1 - 1e-12)

    both = rng.random((2, columns))
    fine_rows = both * np.exp(np.outer([0, 1], losses)) * np.exp(tilt * losses)
    merged = merge(Tilted(tilt, width, first, fine_rows, np.zeros(2)))
    rows = np.ldexp(merged.masses, merged.shift) * np.exp(-tilt * merged.losses)
    rows[1] *= np.exp(-merged.losses)
    for column in range(rows.shape[1]):
        j = merged.first + column
        members = [i for i in (2 * j - 1, 2 * j) if first <= i < first + columns]
        assert rows[:, column] == pytest.approx(sum((both[:, i - first] for i in members), np.zeros(2)), rel=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_errors_grow_as_masses_may_when_buckets_merge(tilt: float) -> None:
    """An error may lie wherever it weighs most: at an index that is moved up, and so multiplied by e^(λ·width)."""
    width = 0.5
    made = merge(Tilted(tilt, width, -4, np.ones((2, 8)), np.full(2, 1e-3)))
    for row, grown in enumerate(np.ldexp(made.errors, made.shift)):
        assert grown >= 1e-3 * math.exp((tilt + row) * width)
    made = split(Tilted(tilt, width, -4, np.ones((1, 8)), np.full(1, 1e-3)))
    spread = (math.exp(tilt * width) + math.exp(-(1 + tilt) * width)) / (1 + math.exp(-width))
    assert np.ldexp(made.errors, made.shift)[0] >= 1e-3 * max(1.0, spread) * (1 - 1e-12)


def test_tails_that_are_cut_off_count_as_an_error() -> None:
    masses = np.exp(-0.5 * (np.arange(-400, 401) / 20.0) ** 2)[None, :]
    made = power(Tilted(0.0, 0.1, -400, masses / masses.sum(), np.zeros(1)), 1 << 8, PLENTY, split)
    assert made.masses.shape[1] < 256 * 801 // 20
    missing = 1 - made.masses.sum() * 2.0**made.shift
    assert abs(missing) <= made.errors[0] * 2.0**made.shift
    assert math.isclose(made.width, 0.1)


def test_few_columns_square_the_factor() -> None:
    base = Tilted(0.0, 0.1, -10, np.full((1, 21), 1 / 21), np.zeros(1))
    made = power(base, 64, 32, split)
    assert made.masses.shape[1] <= 32
    assert made.width > 0.1
