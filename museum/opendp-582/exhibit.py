"""A number that is clamped to [1, 10] and multiplied by 1/2.

The stability map says 1/2 for numbers 1 apart, and up to 10^-9 for what rounding does.
"""

from hypothesis import strategies as st

from subnormal import within

data = st.floats(-100, 100)
adjacent = within(1)
bound = 0.5 + 1e-9
