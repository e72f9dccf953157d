"""Sums of floats are what they say they are: against rationals, and against loops in the float type."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.float_sums import correctly_rounded, pairwise, sequential, wrapping

RECORDS = np.random.default_rng(1).normal(size=1000) * 2.0 ** np.random.default_rng(2).integers(-30, 30, 1000)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sequential_rounds_every_partial_sum(kind: Any) -> None:
    total = kind(0)
    for record in RECORDS.astype(kind):
        total = total + record
    assert sequential(RECORDS, kind) == total
    assert sequential(RECORDS[:0], kind) == 0


def test_pairwise_rounds_what_sequential_sums_lose() -> None:
    records = np.full(1 << 20, np.float32(0.1))
    exact = Fraction(float(records[0])) * len(records)
    assert abs(pairwise(records, np.float32) - exact) < 0.1  # beyond blocks of 128, halves are equal: doubling is exact
    assert abs(sequential(records, np.float32) - exact) > 100
    assert abs(sequential(records, np.float64) - exact) < 1e-6


def test_correctly_rounded_is_the_nearest_float() -> None:
    for size in (0, 1, 10, 1000):
        exact = sum(map(Fraction, RECORDS[:size].tolist()), Fraction(0))
        assert correctly_rounded(RECORDS[:size], np.float64) == float(exact)  # Python rounds a rational once
    assert correctly_rounded(np.array([1e300, 1.0, -1e300]), np.float64) == 1
    assert correctly_rounded(np.array([1.0, 2.0**-24, 2.0**-30]), np.float32) == 1 + 2.0**-23


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_integers_wrap_around(kind: Any) -> None:
    largest = int(np.iinfo(kind).max)
    assert wrapping(np.array([largest, 1], dtype=kind), kind) == -largest - 1
    assert wrapping(np.array([largest, 1, largest, 2, 5], dtype=kind), kind) == 6
