"""The bounds of a list of floats, found with noise."""

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

data = st.lists(st.floats(), max_size=20)
adjacent = add_or_remove()
claim = Claim(epsilon=1.0)
