"""Counts of records by their key; those above a threshold are released."""

import opendp.prelude as dp
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

dp.enable_features("contrib")

counts = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
function = counts >> dp.m.then_laplace_threshold(scale=1.0, threshold=5)
data = st.lists(st.text(max_size=3))
adjacent = add_or_remove()
claim = Claim(*function.map(1))
