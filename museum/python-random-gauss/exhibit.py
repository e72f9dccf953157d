"""Jin et al. 2021: floats that a Gaussian sampler cannot make, or makes for one input alone, tell the input."""

import random

from hypothesis import strategies as st

from subnormal import Zcdp, add_or_remove, system_bits
from subnormal.mechanisms.gaussian import exact as gaussian

claim = Zcdp(rho=0.5)
data = st.lists(st.booleans())
adjacent = add_or_remove()


def naive(records):
    return sum(records) + random.gauss(0.0, 1.0)


def exact(records):
    return gaussian.sample(sum(records), 1.0, system_bits(), 1, grid=-10, lower=-1000, upper=1000)[0]
