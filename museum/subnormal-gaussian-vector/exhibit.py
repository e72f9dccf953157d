"""The exact sampler of the integers, on each coordinate."""

from hypothesis import strategies as st

from subnormal import Zcdp, system_bits, within
from subnormal.mechanisms.gaussian import exact as gaussian

claim = Zcdp(rho=0.5)
data = st.lists(st.integers(-100, 100), min_size=1, max_size=5)
adjacent = within(1, norm="l2")


def release(vector):
    return [int(gaussian.sample(value, 1.0, system_bits(), 1)[0]) for value in vector]
