"""The sum of ten numbers between 0 and 1."""

from hypothesis import strategies as st

from subnormal import Claim, change_one

data = st.lists(st.floats(0, 1), min_size=10, max_size=10)
adjacent = change_one()
claim = Claim(epsilon=1.0, delta=1e-5)
