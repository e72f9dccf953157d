"""Frames that are neighbours: a row is its label and its entries, and both frames lie in the domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra.pandas import column, data_frames, indexes, range_indexes, series

from subnormal import Claim, add_or_remove, change_one, check, within
from subnormal.audit.neighbours.datasets import is_numbered, spliced
from subnormal.audit.neighbours.relations import Adjacency, pairs
from tests.audit.neighbours.test_numbers import numbered
from tests.support.draws import drawn

DIGIT = column("v", elements=st.integers(0, 1), dtype=int)
LABELS = indexes(elements=st.integers(0, 100), min_size=2, max_size=4)
REPEATED = indexes(elements=st.integers(0, 9), unique=False, max_size=4)
TWO_COLUMNS = [column("age", elements=st.integers(0, 99), dtype=int), column("sex", elements=st.sampled_from("mf"))]
MADE = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9)), max_size=5).map(
    lambda rows: pd.DataFrame(rows, columns=["day", "v"]).set_index("day")
)


@pytest.mark.parametrize("adjacent", [change_one(), add_or_remove()], ids=str)
@pytest.mark.parametrize(
    "data",
    [
        data_frames([DIGIT], index=LABELS),
        data_frames([column("v", elements=st.just(0), dtype=int)], index=LABELS),
        data_frames([DIGIT], index=REPEATED),
        data_frames(TWO_COLUMNS, index=range_indexes(max_size=6)),
        data_frames([DIGIT], index=range_indexes(max_size=4, name=st.just("day"))),
        data_frames([column("v", elements=st.floats(0, 1), unique=True)]),
        data_frames([column("born", dtype="datetime64[ns]")], index=range_indexes(min_size=1, max_size=4)),
        data_frames([column("v", dtype=float, elements=st.integers(0, 9).map(lambda one: 2 * one))]),
        data_frames([DIGIT], index=LABELS) | data_frames([DIGIT], index=range_indexes()),
        data_frames([DIGIT], rows=st.tuples(st.integers(0, 1)), index=range_indexes(max_size=4)),
        MADE,
    ],
    ids=["labels", "only labels", "repeated", "numbers", "named", "unique", "dates", "mapped", "two", "rows", "made"],
)
def test_neighbours_differ_by_a_row_and_look_like_what_the_strategy_draws(data: Any, adjacent: Adjacency) -> None:
    def late(frame: pd.DataFrame) -> int:
        return sum(type(label) is int and label >= 50 for label in frame.index)

    found = drawn(pairs(data, adjacent), 20)
    assert len(found) == 20
    for one, other in found:
        assert (len(one) == len(other)) is (adjacent.name == "change_one")
        assert (list(one), one.index.name) == (list(other), other.index.name)
        if is_numbered(one):
            assert list(other.index) == list(range(len(other)))
        else:
            assert abs(late(one) - late(other)) <= 1
        if len(one) and len(other):
            assert list(one.dtypes) == list(other.dtypes)


def test_rows_of_repeated_columns_are_changed_within_a_sample() -> None:
    sample = [pd.DataFrame([[1, value]], columns=["a", "a"]) for value in (2, 0.5)]
    assert len(drawn(pairs(st.sampled_from(sample), change_one()), 5)) > 0


def test_a_row_keeps_its_label_and_others_theirs() -> None:
    pd.testing.assert_frame_equal(spliced(numbered(1, 2, 3), 1, 2, []), numbered(1, 3), check_index_type="exact")
    labelled = pd.DataFrame({"v": [1, 2], "w": [0.5, 1.5]}, index=pd.CategoricalIndex(["a", "b"], name="kind"))
    shorter = spliced(labelled, 0, 1, [])
    assert shorter.index.equals(labelled.index[1:])
    other = spliced(labelled, 1, 2, [{"v": 3, "w": 2}])
    pd.testing.assert_frame_equal(other, pd.DataFrame({"v": [1, 3], "w": [0.5, 2.0]}, index=labelled.index))
    longer = spliced(labelled, 0, 0, [labelled.iloc[[1]]])
    assert list(longer.index) == ["b", "a", "b"]
    assert longer.index.name == "kind"
    with pytest.raises(TypeError, match="need a label: a frame of one row"):
        spliced(labelled, 0, 0, [{"v": 3, "w": 2.0}])


@pytest.mark.parametrize(
    ("adjacent", "message"),
    [
        (change_one(), r"need lists, .*for Series use within\(\.\.\.\)"),
        (add_or_remove(), r"need lists, .*for Series use within\(\.\.\.\)"),
        (within(1), "of type Series is no real number"),
    ],
    ids=str,
)
def test_a_series_is_refused(adjacent: Adjacency, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(np.sum, series(elements=st.integers(0, 1), dtype=int), adjacent, Claim(1.0), seconds=5)
