"""The sum of ten durations, of a table whose description gives no bounds."""

from hypothesis import strategies as st

from subnormal import Claim, change_one

data = st.lists(st.integers(0, 100), min_size=10, max_size=10)
adjacent = change_one()
claim = Claim(epsilon=1.0, delta=1e-5)
