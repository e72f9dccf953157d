"""A float with Laplace noise of scale 1."""

from diffprivlib.mechanisms import Laplace
from hypothesis import strategies as st

from subnormal import Claim, within

claim = Claim(epsilon=1.0)
function = Laplace(epsilon=claim.epsilon, sensitivity=1.0).randomise
data = st.floats(0, 100)
adjacent = within(1)
