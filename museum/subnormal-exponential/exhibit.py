"""The exact sampler, over a small domain of scores, where runs can tell the most."""

from hypothesis import strategies as st

from subnormal import Claim, system_bits, within
from subnormal.mechanisms.exponential import exact

claim = Claim(epsilon=1.0)
data = st.lists(st.integers(-5, 5), min_size=2, max_size=4)
adjacent = within(1)


def select(scores):
    return int(exact.sample([-score for score in scores], 1.0, system_bits(), 1)[0])
