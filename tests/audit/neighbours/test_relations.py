"""Neighbours of more strategies than `test_domains` has: both are drawn by the strategy, and differ in one record."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subnormal.audit.neighbours.datasets import differ_by_one, differ_in_one
from subnormal.audit.neighbours.relations import Adjacency, add_or_remove, change_one, pairs, within

DIGITS = st.lists(st.integers(0, 9), min_size=1, max_size=6)
PERCENT = st.integers(0, 99)
LONG, IN_THE_MIDDLE = np.arange(1100.0), np.where(np.arange(1100) == 500, 2, 1)  # whose repr leaves the middle out
MORE, OTHER, NEAR = add_or_remove(), change_one(), within(1)
SEQUENCES = (MORE, OTHER, NEAR)


class Person(NamedTuple):
    age: int
    income: int


@st.composite
def with_one_of_them(draw: Any) -> list[int]:
    """Digits, and before them one of these."""
    digits = draw(DIGITS.map(lambda data: data[:3]))
    return [draw(st.lists(st.sampled_from(digits).map(lambda digit: digit), min_size=1, max_size=1))[0], *digits]


@st.composite
def two_of_one_kind(draw: Any) -> list[float]:
    """Both are made anew each time, and do not depend on each other."""
    return [
        *draw(st.lists(st.floats(0, 1), min_size=3, max_size=3).map(lambda data: sorted(data))),
        *draw(st.lists(st.floats(0, 1).map(lambda one: one / 2), min_size=3).filter(lambda data: min(data) < 1)),
    ]


def drawn(data: st.SearchStrategy[Any], adjacent: Any, count: int = 15) -> list[Any]:
    found: list[Any] = []

    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(pairs(data, adjacent))
    def kept(pair: Any) -> None:
        found.append(pair)

    kept()
    return found


CASES: list[tuple[st.SearchStrategy[Any], Callable[[Any], bool], tuple[Any, ...]]] = [
    (DIGITS.map(sorted).filter(lambda data: data[0] > 0), lambda data: data == sorted(data) and data[0] > 0, SEQUENCES),
    (with_one_of_them(), lambda data: data[0] in data[1:], (OTHER, NEAR)),
    (two_of_one_kind(), lambda data: data[:3] == sorted(data[:3]) and max(data[3:]) <= 0.5, (OTHER,)),
    (
        st.integers(0, 5).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, low + 3))),
        lambda data: data[0] <= data[1],
        (NEAR,),
    ),
    (
        st.integers(1, 3).flatmap(lambda size: st.just([7] * size) | DIGITS.map(lambda data: [*data, 1])),
        bool,
        SEQUENCES,
    ),
    (DIGITS.map(np.array), lambda data: data.dtype == np.int64 and data.max() < 10, (OTHER, NEAR)),
    (DIGITS.map(tuple), lambda data: isinstance(data, tuple) and max(data) < 10, SEQUENCES),
    (st.lists(st.floats(0, 1).map(str)), lambda data: all(0 <= float(one) <= 1 for one in data), SEQUENCES[:2]),
    (
        st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=5).map(
            lambda rows: pd.DataFrame(rows, columns=["age", "share"])
        ),
        lambda data: list(data) == ["age", "share"] and data["share"].between(0, 1).all(),
        SEQUENCES[:2],
    ),
    (hnp.arrays(float, st.integers(1, 5)), lambda data: data.ndim == 1 and 1 <= data.size <= 5, SEQUENCES),
    (
        hnp.arrays(int, st.tuples(st.integers(1, 3), st.just(2)), elements=st.integers(0, 9)),
        lambda data: len(data) <= 3 and data.shape[1] == 2 and data.max() < 10,
        (NEAR,),
    ),
    (
        hnp.arrays(float, 3, elements=st.integers(0, 9)),
        lambda data: data.max() < 10 and (data % 1 == 0).all(),
        (OTHER, NEAR),
    ),
    (
        st.lists(st.integers(0, 4).map(str)) | st.lists(st.integers(5, 9).map(str)),
        lambda data: len({one < "5" for one in data}) <= 1,  # no list of both kinds
        SEQUENCES[:2],
    ),
]


@pytest.mark.parametrize(
    ("data", "holds", "adjacent"),
    [
        pytest.param(data, holds, adjacent, id=f"{place}-{adjacent}")
        for place, (data, holds, relations) in enumerate(CASES)
        for adjacent in relations
    ],
)
def test_both_neighbours_are_drawn_by_the_strategy(
    data: st.SearchStrategy[Any], holds: Callable[[Any], bool], adjacent: Adjacency
) -> None:
    """The function of a strategy is not known; what all its inputs have in common is."""
    found = drawn(data, adjacent)
    assert len(found) > 10
    for pair in found:
        assert all(map(holds, pair))
        if adjacent in (MORE, OTHER):
            related = differ_by_one if adjacent is MORE else differ_in_one
            assert related(*pair) or str(pair[0]) == str(pair[1])


def test_a_predicate_finds_neighbours_of_what_is_mapped() -> None:
    found = drawn(DIGITS.map(sorted), lambda one, other: len(one) == len(other) + 1)
    assert all(one == sorted(one) and other == sorted(other) for one, other in found)


def test_a_predicate_finds_neighbours_that_are_named_tuples() -> None:
    people = [Person(age, 1) for age in range(9)]
    assert all(type(one) is Person for pair in drawn(st.sampled_from(people), lambda *pair: True) for one in pair)


@pytest.mark.parametrize(
    ("one", "other", "one_changed", "one_more"),
    [
        ([1, 2], [1, 3], True, False),
        ([1, 2], [1, 2], False, False),
        ([1, 2], [2, 1], False, False),
        ([1, 2], [1], False, True),
        ([2], [1, 2], False, True),
        ([1, 2, 3], [1, 3], False, True),
        ([1, 2, 3], [3, 1], False, False),
        ([1, 2, 3], [1], False, False),
        ([0.0], [-0.0], True, False),
        ([math.nan], [math.nan], False, False),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]), True, False),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1]}), False, True),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 3]}), False, False),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1]}), False, False),
        (pd.DataFrame(), pd.DataFrame({"b": [1]}), False, True),
        ([LONG, LONG], [LONG, LONG * IN_THE_MIDDLE], True, False),
        ([LONG, LONG], [LONG * IN_THE_MIDDLE, LONG * IN_THE_MIDDLE], False, False),
        ([np.array([0.1]), np.array([0.2])], [np.array([0.1 + 1e-12]), np.array([0.3])], False, False),
        ([(np.array([0.1]), 1)], [(np.array([0.1 + 1e-12]), 1)], True, False),
    ],
)
def test_datasets_that_differ_in_one_record(one: Any, other: Any, one_changed: bool, one_more: bool) -> None:
    assert (differ_in_one(one, other), differ_by_one(one, other)) == (one_changed, one_more)
    assert (differ_in_one(other, one), differ_by_one(other, one)) == (one_changed, one_more)
