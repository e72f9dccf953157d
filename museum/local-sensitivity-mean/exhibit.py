"""Near and Abuah, Programming Differential Privacy, Chapter 7: the scale of the noise tells the number of records.

The remedy of their Chapter 5: a noisy sum and a noisy count, each with half of the budget.
"""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove, system_bits
from subnormal.mechanisms.laplace import exact as laplace

claim = Claim(epsilon=1.0)
data = st.lists(st.floats(0, 1))
adjacent = add_or_remove()


def local(records):
    sensitivity = 1 / (len(records) + 1)
    mean = np.clip(records, 0, 1).mean() if records else 0.0
    return mean + np.random.laplace(loc=0, scale=sensitivity)


def global_sum_and_count(records):
    total = laplace.sample(sum(map(Fraction, records)), 2.0, system_bits(), 1, grid=-10, lower=-64, upper=64)[0]
    return total, laplace.sample(len(records), 2.0, system_bits(), 1)[0]
