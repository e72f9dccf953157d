"""Ding et al. 2018: the largest noisy value, or its place, both with integer noise."""

import math

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, within

claim = Claim(epsilon=1.0)
data = st.lists(st.integers(-100, 100), min_size=1, max_size=10)
adjacent = within(1)
rng = np.random.default_rng()


def noisy(queries):
    """Return the queries with noise z of probability proportional to e^(-|z| / 2)."""
    first, second = rng.geometric(1 - math.exp(-1 / 2), (2, len(queries)))
    return [int(number) for number in queries + first - second]


def value(queries):
    return max(noisy(queries))


def place(queries):
    values = noisy(queries)
    return values.index(max(values))
