"""The index of the largest of two scores under zero-concentrated DP; the claim is what the map says."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Zcdp, within

dp.enable_features("contrib")
measurement = dp.m.make_noisy_max(
    dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int), dp.zero_concentrated_divergence(), scale=1.0
)

claim = Zcdp(rho=measurement.map(1))
data = st.lists(st.integers(-5, 5), min_size=2, max_size=2)
adjacent = within(1)


def function(scores):
    return measurement(scores)
