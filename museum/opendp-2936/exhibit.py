"""A noisy sum of a column with missing values, which are filled by another column."""

import opendp.prelude as dp
import polars as pl
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

dp.enable_features("contrib")

SCHEMA = {"x": pl.Float64, "filler": pl.Float64}


whole = dp.atom_domain(T=float, nan=False)
domain = dp.lazyframe_domain(
    [dp.series_domain("x", dp.option_domain(whole)), dp.series_domain("filler", dp.atom_domain(T=float, nan=True))]
)
total = pl.col("x").fill_null(pl.col("filler")).clip(0.0, 1.0).sum()
measurement = dp.m.make_private_lazyframe(
    dp.with_margin(domain, dp.polars.Margin(max_length=100)),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    pl.LazyFrame(schema=SCHEMA).select(total.dp.noise(scale=1)),
    global_scale=1.0,
)


def function(rows: list[tuple[float | None, float]]) -> float:
    return measurement(pl.LazyFrame(rows, schema=SCHEMA, orient="row")).collect().item()


data = st.lists(st.tuples(st.none() | st.floats(allow_nan=False), st.floats()), max_size=100)
adjacent = add_or_remove()
claim = Claim(epsilon=measurement.map([dp.polars.Bound(per_group=1)]))
