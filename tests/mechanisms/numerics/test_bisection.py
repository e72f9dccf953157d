"""Bisection of many predicates at once."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.mechanisms.numerics.bisection import least_holding

BELOW, END = (-1, 0, 3, 4), 5  # each place is searched above its own integer


@pytest.mark.parametrize("least", list(product(*(range(below + 1, END + 1) for below in BELOW))))
def test_each_place_gets_its_own_least_integer_or_the_end(least: tuple[int, ...]) -> None:
    def holds(integers: NDArray[np.int64]) -> NDArray[np.bool_]:
        assert ((integers >= BELOW) & (integers < END)).all()
        return np.asarray(integers >= least)

    assert least_holding(holds, np.array(BELOW), END).tolist() == list(least)
