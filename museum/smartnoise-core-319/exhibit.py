"""The sum of ten answers, 0 or 1, with the bounds that it has."""

from hypothesis import strategies as st

from subnormal import Claim, change_one

data = st.lists(st.integers(0, 1), min_size=10, max_size=10)
adjacent = change_one()
claim = Claim(epsilon=0.2)
