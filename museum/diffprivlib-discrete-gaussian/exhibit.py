"""An integer with discrete Gaussian noise."""

from diffprivlib.mechanisms import GaussianDiscrete
from hypothesis import strategies as st

from subnormal import Claim, within

claim = Claim(epsilon=1.0, delta=1e-4)
function = GaussianDiscrete(epsilon=claim.epsilon, delta=claim.delta).randomise
data = st.integers(-1000, 1000)
adjacent = within(1)
