"""Casacuberta et al. 2022: the sum is rounded up. Their remedy: records become integers, whose sum is exact."""

import numpy as np
from hypothesis import strategies as st

from subnormal import add_or_remove

bound = 1
data = st.lists(st.floats(0, 1))
adjacent = add_or_remove()


def float_sum(records):
    return float(np.sum(np.clip(records, 0, 1)))


def fixed_point_sum(records):
    return float(np.sum(np.rint(np.clip(records, 0, 1) * 2**20))) / 2**20
