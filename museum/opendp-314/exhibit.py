"""The sum of integers between bounds, of a dataset of public size, with its stability relation."""

from hypothesis import strategies as st
from opendp import trans
from opendp.mod import enable_features

from subnormal import change_one

enable_features("contrib")

SIZE, BOUNDS = 10, (0, 3)
function = trans.make_sized_bounded_sum(SIZE, BOUNDS)
data = st.lists(st.integers(*BOUNDS), min_size=SIZE, max_size=SIZE)
adjacent = change_one()
bound = next(moved for moved in range(100) if function.check(2, moved))  # a changed record is two apart
