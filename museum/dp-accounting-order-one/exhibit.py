"""The noisy sum of a Poisson sample of numbers of norm at most 1, with the ε of the Rényi accountant of orders near 1.

The accountant is right: a divergence of order 1 bounds the distance of the two distributions, and where that is at most
δ, ε is 0.
"""

import random

from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

SAMPLE_RATE, NOISE_MULTIPLIER, DELTA = 105 / 100_000, 1.0, 1e-3


def function(numbers: list[float]) -> float:
    """Return the noisy sum, rounded: the low bits of float noise are a flaw of their own."""
    sample = [one for one in numbers if random.random() < SAMPLE_RATE]
    return round(sum(sample) + random.gauss(0.0, NOISE_MULTIPLIER), 2)


accountant = RdpAccountant(orders=[1 + 1e-8, 2, 4, 8, 16, 32, 64])
accountant.compose(PoissonSampledDpEvent(SAMPLE_RATE, GaussianDpEvent(NOISE_MULTIPLIER)))
data = st.lists(st.floats(-1, 1), max_size=20)
adjacent = add_or_remove()
claim = Claim(epsilon=accountant.get_epsilon(DELTA), delta=DELTA)
