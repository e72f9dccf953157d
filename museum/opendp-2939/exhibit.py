"""The number of values after they were put in bins, of a column of public length; the claim is what the map says."""

import opendp.prelude as dp
import polars as pl
from hypothesis import strategies as st

from subnormal import Claim, change_one

dp.enable_features("contrib")

ROWS, SCHEMA = 4, {"x": pl.Float64}
measurement = dp.m.make_private_lazyframe(
    dp.with_margin(
        dp.lazyframe_domain([dp.series_domain("x", dp.option_domain(dp.atom_domain(T=float)))]),
        dp.polars.Margin(max_length=ROWS, invariant="lengths"),
    ),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    pl.LazyFrame(schema=SCHEMA).select(pl.col("x").fill_null(0.0).cut([1.5]).count().dp.noise()),
    global_scale=1.0,
)


def function(values: list[float | None]) -> int:
    return measurement(pl.LazyFrame({"x": values}, schema=SCHEMA)).collect().item()


data = st.lists(st.none() | st.floats(), min_size=ROWS, max_size=ROWS)
adjacent = change_one()
claim = Claim(epsilon=measurement.map([dp.polars.Bound(per_group=2)]))  # a changed row is two apart
