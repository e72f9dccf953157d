"""Bisection of many predicates at once."""

import numpy as np

from subnormal.mechanisms.numerics.bisection import least_holding


def test_each_place_gets_its_own_least_integer_or_the_end() -> None:
    below, end = np.array([-1, -1, 3, -1, 7]), np.array([8, 8, 8, 8, 8])
    for least in np.ndindex(9, 9, 9, 9, 9):
        if all(one > low for one, low in zip(least, below, strict=True)):
            asked: list[np.ndarray] = []

            def holds(
                at: np.ndarray, least: np.ndarray = np.array(least), asked: list[np.ndarray] = asked
            ) -> np.ndarray:
                asked.append(at)
                return np.asarray(at >= least)

            assert least_holding(holds, below, end).tolist() == list(least)
            assert all(((below <= at) & (at < end)).all() for at in asked)
