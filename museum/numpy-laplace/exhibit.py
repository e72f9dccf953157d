"""Haney et al. 2022: the last bit of value + noise tells the size of the value."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove, system_bits
from subnormal.mechanisms.laplace import exact as laplace

claim = Claim(epsilon=1.0)
data = st.lists(st.floats(0, 1))
adjacent = add_or_remove()


def naive(records):
    return np.sum(records) + np.random.laplace(loc=0, scale=1.0)


def exact(records):
    return laplace.sample(sum(map(Fraction, records)), 1.0, system_bits(), 1, grid=-10, lower=-64, upper=64)[0]
