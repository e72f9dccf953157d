"""The median of values between 0 and 1, given as how many are 0 and how many are 1."""

from diffprivlib.tools import quantile
from hypothesis import strategies as st

from subnormal import Claim, within


def function(counts: tuple[int, int]) -> float:
    zeros, ones = counts
    return quantile([0.0] * zeros + [1.0] * ones, 0.5, epsilon=1.0, bounds=(0.0, 1.0))


data = st.tuples(st.integers(0, 5000), st.integers(0, 5000))
adjacent = within(1, norm="l1")
claim = Claim(epsilon=1.0)
