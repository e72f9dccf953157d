"""OpenDP's noise on floats, which it adds to exact rationals; the claim is what the map says."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Claim, within

dp.enable_features("contrib")
domain = dp.atom_domain(T=float, nan=False)
measurement = dp.m.make_laplace(domain, dp.absolute_distance(T=float), scale=1.0)

claim = Claim(epsilon=measurement.map(1.0))
data = st.floats(-1000, 1000)
adjacent = within(1)


def function(value):
    return measurement(value)
