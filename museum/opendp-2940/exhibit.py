"""The number of remainders of two columns, of public length; the claim is what the map says."""

import opendp.prelude as dp
import polars as pl
from hypothesis import strategies as st

from subnormal import Claim, change_one

dp.enable_features("contrib")

ROWS, SCHEMA = 4, {"n": pl.Int64, "m": pl.Int64}
remainders = pl.col("n").fill_null(0) % pl.col("m").fill_null(0)
measurement = dp.m.make_private_lazyframe(
    dp.with_margin(
        dp.lazyframe_domain([dp.series_domain(name, dp.option_domain(dp.atom_domain(T="i64"))) for name in SCHEMA]),
        dp.polars.Margin(max_length=ROWS, invariant="lengths"),
    ),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    pl.LazyFrame(schema=SCHEMA).select(remainders.count().dp.noise()),
    global_scale=1.0,
)


def function(rows: list[tuple[int, int]]) -> int:
    return measurement(pl.LazyFrame(rows, schema=SCHEMA, orient="row")).collect().item()


data = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=ROWS, max_size=ROWS)
adjacent = change_one()
claim = Claim(epsilon=measurement.map([dp.polars.Bound(per_group=2)]))  # a changed row is two apart
