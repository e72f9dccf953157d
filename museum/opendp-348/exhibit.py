"""The sum of floats between bounds, with its stability relation."""

from hypothesis import strategies as st
from opendp import trans
from opendp.mod import enable_features

from subnormal import add_or_remove

enable_features("contrib", "floating-point")

BOUNDS = (0.0, 1.0)
function = trans.make_bounded_sum(BOUNDS)
data = st.lists(st.floats(*BOUNDS))
adjacent = add_or_remove()
bound = 1.0
assert function.check(1, bound)  # an added record is one apart
