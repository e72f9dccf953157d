"""Casacuberta et al. 2022: one record more wraps the sum around, 2^32 away."""

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove, system_bits
from subnormal.mechanisms.laplace import exact as laplace

MOST = 2**30

claim = Claim(epsilon=1.0)
data = st.lists(st.integers(0, MOST))
adjacent = add_or_remove()


def wrapping(records):
    clipped = np.clip(np.array(records, dtype=np.int32), 0, MOST)
    return noisy(clipped.sum(dtype=np.int32))


def unbounded(records):
    return noisy(sum(min(max(record, 0), MOST) for record in records))


def noisy(total):
    return int(laplace.sample(int(total), MOST, system_bits(), 1)[0])
