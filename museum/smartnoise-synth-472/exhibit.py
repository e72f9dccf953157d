"""Four records of four yes-or-no columns, of which a synthetic histogram is made.

The number of records is public, as the mechanism takes it.
"""

from hypothesis import strategies as st

from subnormal import Claim, change_one

data = st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=4, max_size=4)
adjacent = change_one()
claim = Claim(epsilon=2.0)
