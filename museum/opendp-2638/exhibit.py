"""An integer with Laplace noise of scale 3."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Claim, within

dp.enable_features("contrib")

function = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=3.0)
data = st.integers(-1000, 1000)
adjacent = within(1)
claim = Claim(epsilon=function.map(1))
