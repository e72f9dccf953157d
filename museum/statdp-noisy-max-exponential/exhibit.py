"""Ding et al. 2018: the largest value with one-sided noise, or its place, both with integer noise."""

import math

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, within

EPSILON = 1.0

claim = Claim(EPSILON)
data = st.lists(st.integers(-100, 100), min_size=1, max_size=10)
adjacent = within(1)
rng = np.random.default_rng()


def noisy(queries):
    """Return the queries with noise z > 0 of probability proportional to e^(-epsilon z / 2)."""
    return [int(number) for number in queries + rng.geometric(1 - math.exp(-EPSILON / 2), len(queries))]


def value(queries):
    return max(noisy(queries))


def place(queries):
    values = noisy(queries)
    return values.index(max(values))
