"""The sum that rounds every partial sum: against rationals, and against loops in the float type."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.float_sums import sequential

RECORDS = np.random.default_rng(1).normal(size=1000) * 2.0 ** np.random.default_rng(2).integers(-30, 30, 1000)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sequential_rounds_every_partial_sum(kind: Any) -> None:
    total = kind(0)
    for record in RECORDS.astype(kind):
        total = total + record
    assert sequential(RECORDS, kind) == total
    assert sequential(RECORDS[:0], kind) == 0


def test_sequential_sums_lose_what_a_wider_type_keeps() -> None:
    records = np.full(1 << 20, np.float32(0.1))
    exact = Fraction(float(records[0])) * len(records)
    assert abs(sequential(records, np.float32) - exact) > 100
    assert abs(sequential(records, np.float64) - exact) < 1e-6
