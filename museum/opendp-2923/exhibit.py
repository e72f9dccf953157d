"""The sum of squared deviations of a vector within bounds; its map bounds how far one record moves it."""

import opendp.prelude as dp
from hypothesis import strategies as st

dp.enable_features("contrib")
distance = "l1"
data = None


def transformation(bounds, size):
    domain = dp.vector_domain(dp.atom_domain(bounds=bounds, nan=False), size=size)
    return dp.t.make_sum_of_squared_deviations(domain, dp.symmetric_distance())


@st.composite
def adjacent(draw):
    """Two vectors within the same bounds, of one size, of which one record differs."""
    low = draw(st.floats(-1e18, 1e18, exclude_max=True))
    high = draw(st.floats(low, 1e18, exclude_min=True))
    values = st.floats(low, high)
    records = draw(st.lists(values, min_size=1, max_size=4096))
    place = draw(st.integers(0, len(records) - 1))
    return ((low, high), records), ((low, high), [*records[:place], draw(values), *records[place + 1 :]])


adjacent = adjacent()


def function(vector):
    bounds, records = vector
    return transformation(bounds, len(records))(records)


def bound(one, other):
    bounds, records = one
    return transformation(bounds, len(records)).map(2)
