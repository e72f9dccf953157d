"""Casacuberta et al. 2022: where datasets are sets of records, the order in which they are summed must not matter."""

import math

import numpy as np
from hypothesis import strategies as st

bound = 0
data = st.lists(st.floats(0, 1))
adjacent = data.flatmap(lambda records: st.tuples(st.just(records), st.permutations(records)))


def float_sum(records):
    return float(np.sum(records))


def correctly_rounded_sum(records):
    return math.fsum(records)
