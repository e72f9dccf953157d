"""One of four values, reported by optimised unary encoding."""

from hypothesis import strategies as st
from pure_ldp.frequency_oracles.unary_encoding import UEClient

from subnormal import Claim

SIZE = 4
client = UEClient(1.0, SIZE, use_oue=True)
function = client.privatise
data = st.integers(1, SIZE)
adjacent = st.tuples(data, data)
claim = Claim(epsilon=1.0)
