"""Wang, Ding, Kifer and Zhang 2020, BadPartialSum beside PartialSum, both with integer noise."""

import math

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, within

EPSILON = 0.5

claim = Claim(EPSILON)
data = st.lists(st.integers(-100, 100), min_size=1, max_size=10)
adjacent = within(1, norm="l1")
rng = np.random.default_rng()


def noise(scale):
    """Return z with probability proportional to e^(-|z| / scale)."""
    first, second = rng.geometric(1 - math.exp(-1 / scale), 2)
    return int(first - second)


def half_noise(values):
    return sum(values) + noise(1 / (2 * EPSILON))


def whole_noise(values):
    return sum(values) + noise(1 / EPSILON)
