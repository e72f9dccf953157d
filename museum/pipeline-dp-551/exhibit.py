"""The sum of one number of each user, in one public partition."""

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

data = st.lists(st.floats(-10, 10), min_size=1, max_size=20)
adjacent = add_or_remove()
claim = Claim(epsilon=1.0)
