"""A noisy sum of the codes of bins of a column of at most ten rows; the claim is what the map says."""

import opendp.prelude as dp
import polars as pl
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

dp.enable_features("contrib")
ROWS = 10
query = pl.LazyFrame(schema={"x": pl.Float64}).select(pl.col("x").cut([1.0]).to_physical().dp.sum((0, 1), scale=1.0))
measurement = dp.m.make_private_lazyframe(
    dp.with_margin(
        dp.lazyframe_domain([dp.series_domain("x", dp.atom_domain(T=float, nan=False))]),
        dp.polars.Margin(max_length=ROWS),
    ),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    query,
)

claim = Claim(epsilon=measurement.map([dp.polars.Bound(per_group=1)]))
data = st.lists(st.floats(-10, 10), max_size=ROWS)
adjacent = add_or_remove()


def function(values):
    return measurement(pl.LazyFrame({"x": values}, schema={"x": pl.Float64})).collect().item()
