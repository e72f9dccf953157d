"""Zhao et al. 2019, Balle and Wang 2018: the formula of the textbooks holds up to epsilon = 1 only."""

import math
import random

from hypothesis import strategies as st

from subnormal import Claim, Gdp, add_or_remove, system_bits
from subnormal.mechanisms.gaussian import exact as gaussian

EPSILON, DELTA = 10.0, 1e-5

claim = Claim(EPSILON, DELTA)
data = st.lists(st.booleans())
adjacent = add_or_remove()


def classical(records):
    return sum(records) + random.gauss(0.0, math.sqrt(2 * math.log(1.25 / DELTA)) / EPSILON)


SIGMA = next(steps / 64 for steps in range(1, 1000) if Gdp(64 / steps).delta(EPSILON) <= DELTA)


def analytic(records):
    """Noise on a grid of 2^-10, which costs less than the rounding of the deviation to 64ths saves."""
    return gaussian.sample(sum(records), SIGMA, system_bits(), 1, grid=-10, lower=-1000, upper=1000)[0]
