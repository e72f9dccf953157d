"""The sum of integers between bounds, of data that are resized to a public size, with the stability relation."""

from hypothesis import strategies as st
from opendp import trans
from opendp.mod import enable_features

enable_features("contrib")

SIZE, BOUNDS = 6, (0, 10)
function = trans.make_bounded_resize(SIZE, BOUNDS, 0) >> trans.make_sized_bounded_sum(SIZE, BOUNDS)
records = st.integers(*BOUNDS)
data = st.lists(records, max_size=SIZE + 2)


def adjacent(data_in, data_out):
    """Return whether one has the two last records more."""
    shorter, longer = sorted([data_in, data_out], key=len)
    return len(longer) == len(shorter) + 2 and longer[: len(shorter)] == shorter


bound = next(moved for moved in range(1000) if function.check(2, moved))  # two more records are two apart
