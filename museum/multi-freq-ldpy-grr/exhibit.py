"""One of five values."""

from hypothesis import strategies as st
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

from subnormal import Claim

SIZE = 5
claim = Claim(epsilon=1.0)
data = st.integers(0, SIZE - 1)
adjacent = st.tuples(data, data)


def function(value: int) -> int:
    return GRR_Client(value, SIZE, claim.epsilon)
