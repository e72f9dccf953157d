"""Frames that are neighbours: a row is its label and its entries, and both frames lie in the domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.pandas import column, data_frames, indexes, range_indexes, series

from subnormal import Claim, add_or_remove, change_one, check, within
from subnormal.audit.neighbours.datasets import differ_by_one, differ_in_one, is_numbered, spliced
from subnormal.audit.neighbours.relations import Adjacency, pairs

DIGIT = column("v", elements=st.integers(0, 1), dtype=int)
LABELS = indexes(elements=st.integers(0, 100), min_size=2, max_size=4)
REPEATED = indexes(elements=st.integers(0, 9), unique=False, max_size=4)
TWO_COLUMNS = [column("age", elements=st.integers(0, 99), dtype=int), column("sex", elements=st.sampled_from("mf"))]
MADE = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9)), max_size=5).map(
    lambda rows: pd.DataFrame(rows, columns=["day", "v"]).set_index("day")
)


def drawn(data: st.SearchStrategy[Any], adjacent: Any, count: int) -> list[Any]:
    found: list[Any] = []

    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(pairs(data, adjacent))
    def kept(pair: Any) -> None:
        found.append(pair)

    kept()
    return found


def frame(labels: Any, values: Any = 0, **options: Any) -> pd.DataFrame:
    return pd.DataFrame({"v": values}, index=pd.Index(labels, **options))


def numbered(*values: int) -> pd.DataFrame:
    return pd.DataFrame({"v": list(values)})


@pytest.mark.parametrize(
    ("one", "other", "one_changed", "one_more"),
    [
        (frame([0, 68, 70]), frame([0, 49]), False, False),
        (frame([0, 68, 70]), frame([0, 70]), False, True),
        (frame([0, 68]), frame([0, 70]), True, False),
        (frame([0, 68], [1, 2]), frame([0, 68], [1, 3]), True, False),
        (frame([0, 68], [1, 2]), frame([5, 68], [1, 3]), False, False),
        (frame([4, 5, 6]), frame([4, 5]), False, True),
        (frame([4, 5, 6], range(3)), frame([4, 5], [0, 2]), False, False),
        (frame(["a", "b"]), frame(["a"], name="day"), False, False),
        (frame(["a", "b"]), frame(["a"]), False, True),
        (frame([0]), frame([0.0]), True, False),
        (numbered(1, 2, 3), numbered(1, 3), False, True),
        (numbered(1, 2, 3), numbered(1, 2, 3).drop(1), False, True),
        (numbered(1, 2, 3), frame([1, 2], [2, 3]), False, True),
        (numbered(1, 1), numbered(1, 2), True, False),
        (numbered(1, 2, 3).rename_axis("day"), numbered(1, 3).rename_axis("day"), False, False),
        (numbered(1, 1).set_axis(range(1, 3)), numbered(1, 2), False, False),
        (pd.DataFrame(index=range(3)), pd.DataFrame(index=range(2)), False, True),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.DataFrame([[1, 3]], columns=["a", "a"]), True, False),
    ],
)
def test_a_row_is_its_label_and_its_entries(one: Any, other: Any, one_changed: bool, one_more: bool) -> None:
    assert (differ_in_one(one, other), differ_by_one(one, other)) == (one_changed, one_more)
    assert (differ_in_one(other, one), differ_by_one(other, one)) == (one_changed, one_more)


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

    found = drawn(data, adjacent, 20)
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
    assert len(drawn(st.sampled_from(sample), change_one(), 5)) > 0


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


@pytest.mark.parametrize("adjacent", [change_one(), add_or_remove()], ids=str)
def test_a_series_is_refused_with_what_to_use_instead(adjacent: Adjacency) -> None:
    with pytest.raises(ValueError, match=r"need lists, .*for Series use within\(\.\.\.\)"):
        check(np.sum, series(elements=st.integers(0, 1), dtype=int), adjacent, Claim(1.0), seconds=5)


def test_numbers_of_a_series_are_refused_by_a_distance_with_its_type() -> None:
    with pytest.raises(ValueError, match="of type Series is no real number"):
        check(np.sum, series(elements=st.floats(0, 9)), within(1), Claim(1.0), seconds=5)
