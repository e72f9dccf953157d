"""One of four values, reported directly."""

from hypothesis import strategies as st
from pure_ldp.frequency_oracles.direct_encoding import DEClient

from subnormal import Claim

SIZE = 4
claim = Claim(epsilon=1.0)
function = DEClient(claim.epsilon, SIZE).privatise
data = st.integers(1, SIZE)
adjacent = st.tuples(data, data)
