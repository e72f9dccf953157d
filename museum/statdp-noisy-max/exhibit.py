"""Ding et al. 2018: the largest noisy value, or its place, both with exact integer noise."""

from hypothesis import strategies as st

from subnormal import Claim, system_bits, within
from subnormal.mechanisms.laplace import exact as laplace

claim = Claim(epsilon=1.0)
data = st.lists(st.integers(-100, 100), min_size=1, max_size=10)
adjacent = within(1)


def noisy(queries):
    return [int(laplace.sample(query, 2.0, system_bits(), 1)[0]) for query in queries]


def value(queries):
    return max(noisy(queries))


def place(queries):
    values = noisy(queries)
    return values.index(max(values))
