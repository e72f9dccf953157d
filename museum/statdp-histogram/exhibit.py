"""Ding et al. 2018: the scale of the noise is turned upside down."""

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, system_bits, within
from subnormal.mechanisms.laplace import exact as laplace

EPSILON = 0.5

claim = Claim(EPSILON)
data = st.lists(st.integers(0, 1000), min_size=1, max_size=10)
adjacent = within(1, norm="l1")


def inverted(counts):
    return [count + np.random.laplace(scale=EPSILON) for count in counts]


def right(counts):
    return [int(laplace.sample(count, 1 / EPSILON, system_bits(), 1)[0]) for count in counts]
