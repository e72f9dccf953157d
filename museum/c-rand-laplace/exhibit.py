"""The inverse of the distribution function at rand() / RAND_MAX, which takes 2^31 values."""

from hypothesis import strategies as st

from subnormal import Claim, within

claim = Claim(epsilon=1.0)
data = st.integers(-1000, 1000)
adjacent = within(1)
