"""The noise of https://stackoverflow.com/questions/19534808, added to a count. Math.random has 52 or 53 bits."""

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

claim = Claim(epsilon=1.0)
data = st.lists(st.booleans())
adjacent = add_or_remove()
