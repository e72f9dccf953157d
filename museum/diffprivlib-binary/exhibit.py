"""One of two words."""

from diffprivlib.mechanisms import Binary
from hypothesis import strategies as st

from subnormal import Claim

claim = Claim(epsilon=2.0)
function = Binary(epsilon=claim.epsilon, value0="no", value1="yes").randomise
data = st.sampled_from(["no", "yes"])
adjacent = st.tuples(data, data)
