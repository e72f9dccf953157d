"""Wang, Ding, Kifer and Zhang 2020, BadSmartSum beside SmartSum (Chan, Shi and Song 2011), both with integer noise.

Each running sum is the noisy sum of a block, or the one before it with the noisy new value.
"""

import math

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, within

EPSILON, BLOCK = 0.5, 3

claim = Claim(2 * EPSILON)
data = st.lists(st.integers(0, 10), min_size=1, max_size=8)
adjacent = within(1, norm="l1")
rng = np.random.default_rng()


def noise():
    """Return z with probability proportional to e^(-epsilon |z|)."""
    first, second = rng.geometric(1 - math.exp(-EPSILON), 2)
    return int(first - second)


def running_sums(values, block_noise):
    sums, last, block = [], 0, 0
    for place, value in enumerate(values, start=1):
        if place % BLOCK:
            last += value + noise()
            block += value
        else:
            last = block + value + block_noise()
            block = 0
        sums.append(last)
    return sums


def exact_blocks(values):
    return running_sums(values, lambda: 0)


def noisy_blocks(values):
    return running_sums(values, noise)
