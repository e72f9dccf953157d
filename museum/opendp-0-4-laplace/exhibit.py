"""A float with Laplace noise of scale 1."""

from hypothesis import strategies as st

from subnormal import Claim, within

data = st.floats(0, 100)
adjacent = within(1)
claim = Claim(epsilon=1.0)
