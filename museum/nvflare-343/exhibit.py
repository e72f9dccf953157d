"""Ten weights within [-1, 1], one of which is sent."""

from hypothesis import strategies as st

from subnormal import Claim, change_one

WEIGHTS, THRESHOLD, VALUE = 10, 0.1, 0.1
QUERY = THRESHOLD * 2 ** (2 / 3)  # of the one weight that is sent

data = st.lists(st.floats(-1, 1), min_size=WEIGHTS, max_size=WEIGHTS)
adjacent = change_one()
claim = Claim(epsilon=THRESHOLD + QUERY + VALUE)
