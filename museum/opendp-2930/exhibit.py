"""Randomized response on bit vectors, any two of which are neighbours; the claim is what the map says."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Claim

dp.enable_features("contrib")
WEIGHT = 1
measurement = dp.m.make_randomized_response_bitvec(
    dp.bitvector_domain(max_weight=WEIGHT), dp.discrete_distance(), f=0.5
)

claim = Claim(epsilon=measurement.map(1))
data = st.binary(max_size=4).filter(lambda vector: sum(map(int.bit_count, vector)) <= WEIGHT)


def adjacent(one, other):
    return True


def function(vector):
    return measurement(vector)
