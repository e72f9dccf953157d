"""Desfontaines et al. 2020: noise on each count is not enough, because a rare key tells that its person is there.

The remedy keeps the keys whose noisy counts reach a threshold: one record does with probability e^-14 / (1 + e^-1).
"""

from collections import Counter

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove, system_bits
from subnormal.mechanisms.laplace import exact as laplace

THRESHOLD = 15

claim = Claim(epsilon=1.0, delta=1e-6)
data = st.lists(st.text(max_size=3))
adjacent = add_or_remove()


def every_key(records):
    counts = Counter(records)
    return {key: int(laplace.sample(count, 1.0, system_bits(), 1)[0]) for key, count in counts.items()}


def keys_above_a_threshold(records):
    return {key: count for key, count in every_key(records).items() if count >= THRESHOLD}
