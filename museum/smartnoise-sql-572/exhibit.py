"""The median of values between 0 and 1, given as how many are 0 and how many are 1."""

from hypothesis import strategies as st

from subnormal import Claim, within

data = st.tuples(st.integers(0, 5000), st.integers(0, 5000))
adjacent = within(1, norm="l1")
claim = Claim(epsilon=1.0)
