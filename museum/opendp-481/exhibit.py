"""One bit that is told truly with probability 3/4."""

import math

from hypothesis import strategies as st

from subnormal import Claim

data = st.booleans()
adjacent = st.tuples(data, data)
claim = Claim(epsilon=math.log(3))
