"""Jin et al. 2021, who invert the pair to the uniforms that made it."""

import math
import random

from hypothesis import strategies as st

from subnormal import Zcdp, system_bits, within
from subnormal.mechanisms.gaussian import exact as gaussian

claim = Zcdp(rho=0.5)
data = st.tuples(st.integers(0, 1000), st.integers(0, 1000))
adjacent = within(1, norm="l2")


def naive(counts):
    radius = math.sqrt(-2 * math.log(1 - random.random()))
    angle = 2 * math.pi * random.random()
    return counts[0] + radius * math.cos(angle), counts[1] + radius * math.sin(angle)


def exact(counts):
    return [gaussian.sample(count, 1.0, system_bits(), 1, grid=-10, lower=-5000, upper=5000)[0] for count in counts]
