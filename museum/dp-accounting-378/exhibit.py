"""A noisy sum of numbers of norm at most 1, with the ε of the Rényi accountant for replaced records."""

import random

from dp_accounting import GaussianDpEvent, NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from hypothesis import strategies as st

from subnormal import Claim, change_one

NOISE_MULTIPLIER, DELTA = 2.0, 1e-5


def function(numbers: list[float]) -> float:
    return round(sum(numbers) + random.gauss(0.0, NOISE_MULTIPLIER), 3)  # the low bits are another flaw


accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
accountant.compose(GaussianDpEvent(NOISE_MULTIPLIER))
data = st.lists(st.floats(-1, 1), min_size=1)
adjacent = change_one()
claim = Claim(epsilon=accountant.get_epsilon(DELTA), delta=DELTA)
