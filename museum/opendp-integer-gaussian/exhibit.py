"""OpenDP's noise on the integers, as its documentation builds it."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Zcdp, within

dp.enable_features("contrib")
measurement = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)

claim = Zcdp(rho=0.5)
data = st.integers(-1000, 1000)
adjacent = within(1)


def function(value):
    return measurement(value)
