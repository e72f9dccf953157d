"""Ilvento 2019: weights that underflow to zero, or overflow, where the neighbour's do not."""

import math
import random

from hypothesis import strategies as st

from subnormal import Claim, system_bits, within
from subnormal.mechanisms.exponential import exact

claim = Claim(epsilon=1.0)
data = st.lists(st.integers(-2000, 2000), min_size=1, max_size=10)
adjacent = within(1)


def naive(scores):
    weights = [math.exp(score / 2) for score in scores]
    return random.choices(range(len(scores)), weights)[0]


def exact_sampler(scores):
    return int(exact.sample([-score for score in scores], 1.0, system_bits(), 1)[0])
