"""OpenDP's randomized response; the claim is what its map says."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Claim

dp.enable_features("contrib")
CATEGORIES = ["a", "b", "c"]
measurement = dp.m.make_randomized_response(CATEGORIES, prob=0.75)

claim = Claim(epsilon=measurement.map(1))
data = st.sampled_from(CATEGORIES)


def adjacent(one, other):
    return one != other


def function(category):
    return measurement(category)
