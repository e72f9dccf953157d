"""The bounds of a list of floats, found with noise."""

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

data = st.lists(st.floats().map(str), max_size=20)  # as text: JSON has neither infinity nor NaN
adjacent = add_or_remove()
claim = Claim(epsilon=1.0)
