"""The noisy counts of a column of small integers, from which MST makes synthetic records."""

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

data = st.lists(st.integers(0, 9), min_size=1, max_size=20)
adjacent = add_or_remove()
claim = Claim(epsilon=1.0, delta=1e-5)
