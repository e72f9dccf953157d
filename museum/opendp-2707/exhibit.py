"""Randomized response on vectors of eight bits, any two of which are neighbours; the claim is what the map says."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Claim

dp.enable_features("contrib")
measurement = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)

claim = Claim(epsilon=measurement.map(1))
data = st.sampled_from([0, 1, 2, 4, 8, 16, 32, 64, 128])
adjacent = st.tuples(data, data)


def function(bits: int) -> list[bool]:
    (released,) = measurement(bytes([bits]))
    return [bool(released >> place & 1) for place in range(8)]
