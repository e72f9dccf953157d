"""Ten noisy sums of Poisson samples of numbers of norm at most 1, with the ε of the Rényi accountant."""

import random

from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

STEPS, SAMPLE_RATE, NOISE_MULTIPLIER, DELTA = 10, 0.25, 1.0, 1e-4


def function(numbers: list[float]) -> list[float]:
    """Return the noisy sums, rounded: the low bits of float noise are a flaw of their own."""
    samples = [[one for one in numbers if random.random() < SAMPLE_RATE] for _ in range(STEPS)]
    return [round(sum(sample) + random.gauss(0.0, NOISE_MULTIPLIER), 2) for sample in samples]


accountant = RdpAccountant()
accountant.compose(PoissonSampledDpEvent(SAMPLE_RATE, GaussianDpEvent(NOISE_MULTIPLIER)), STEPS)
data = st.lists(st.floats(-1, 1), max_size=20)
adjacent = add_or_remove()
claim = Claim(epsilon=accountant.get_epsilon(DELTA), delta=DELTA)
