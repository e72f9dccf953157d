"""Neighbours of numbers are drawn at once; datasets that differ in one record, or by one."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from subnormal import Claim, Zcdp, check
from subnormal.audit.check.search import search, written
from subnormal.audit.neighbours.datasets import differ_by_one, differ_in_one
from subnormal.audit.neighbours.relations import change_one, pairs, within

KEYS = st.sampled_from("abc")
ROWS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), unique_by=itemgetter(0))
SAMPLED_ROWS = st.lists(st.tuples(KEYS, st.integers(1, 9)), unique_by=itemgetter(0))


@pytest.mark.parametrize(
    ("strategy", "adjacent"),
    [(st.dictionaries(KEYS, st.integers(1, 20)), within(1, "l1")), (ROWS, change_one()), (SAMPLED_ROWS, change_one())],
    ids=repr,
)
def test_neighbours_in_the_domain_are_drawn_for_every_seed(strategy: st.SearchStrategy[Any], adjacent: Any) -> None:
    for seed in range(3):
        found = search(pairs(strategy, adjacent), lambda pair: float(len(pair[0])), seed=seed, seconds=60, examples=30)
        assert found.examples > 10
        assert found.ranked[0][0] > 1


def test_long_inputs_that_differ_in_the_middle_are_told_apart() -> None:
    """The repr of a long array leaves its middle out: such neighbours would be taken for one input."""
    one = np.random.default_rng(1).normal(size=2_000)
    other = one.copy()
    other[1_000] += 1
    assert repr(one) == repr(other)
    texts = written((one, other))
    assert texts[0] != texts[1]
    assert written((one.copy(), one)) == (texts[0], texts[0])


def drawn(data: Any, relation: Any) -> list[tuple[Any, Any]]:
    pairs: list[tuple[Any, Any]] = []
    search(relation.pairs(data), lambda pair: pairs.append(pair) or 0.0, seed=1, seconds=20, examples=30)  # type: ignore[func-returns-value]
    return pairs


def entries_of(data: Any) -> list[Any]:
    return (
        [data] if isinstance(data, bool | int | float | np.generic) else np.asarray(data, dtype=object).ravel().tolist()
    )


VECTORS: list[Any] = [
    st.lists(st.floats(), max_size=4),
    st.lists(st.lists(st.integers(), min_size=2, max_size=2), max_size=2),
    arrays(np.float64, 3),
    arrays(np.int8, (2, 2), elements=st.sampled_from([-128, -127, 126, 127])),
]
NUMBERS: list[Any] = [
    *VECTORS,
    st.floats(),
    st.booleans(),
    st.lists(st.booleans(), max_size=4),
    st.sampled_from([np.int64(1), np.int64(2), np.int64(4)]),
    arrays(np.uint8, 3),
    arrays(np.int64, st.integers(1, 3)),
    arrays(np.uint64, 2, elements=st.integers(2**64 - 2, 2**64 - 1)),
    arrays(bool, 3),
]


@pytest.mark.parametrize(
    ("data", "norm"),
    [(data, "linf") for data in NUMBERS] + [(data, norm) for data in VECTORS for norm in ("l1", "l2")],
    ids=lambda given: " ".join(str(given).split())[:40],
)
def test_neighbours_of_numbers_of_every_kind_are_drawn(data: Any, norm: Any) -> None:
    """By definition: equal infinities and NaN do not count, and one of another kind is no neighbour."""
    pairs = drawn(data, within(1, norm))
    assert pairs
    for one, other in pairs:
        assert type(one) is type(other)
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
        assert np.shape(one) == np.shape(other)
        steps = []
        for a, b in zip(entries_of(one), entries_of(other), strict=True):
            assert type(a) is type(b)
            assert math.isfinite(a) or repr(a) == repr(b)
            steps.append(abs(Fraction(a) - Fraction(b)) if math.isfinite(a) else Fraction(0))
        assert {"linf": max(steps), "l1": sum(steps), "l2": sum(step**2 for step in steps)}[norm] <= 1


@pytest.mark.parametrize(
    ("point", "distance", "is_near"),
    [
        *(([3, 4], 5, True), ([2, 2], 3, True), ([1, 0], 1, True)),
        *(([3, 4], 4.99, False), ([2, 2], 2, False), ([1, 1], 1.4, False)),  # although each coordinate is
    ],
)
def test_the_distance_of_l2_is_euclidean(point: list[int], distance: float, is_near: bool) -> None:
    data = st.sampled_from([[0, 0], point])
    with contextlib.nullcontext() if is_near else pytest.raises(ValueError, match="no pair of neighbouring inputs"):
        assert {str(sorted(pair)) for pair in drawn(data, within(distance, norm="l2"))} == {str([[0, 0], point])}


def test_whole_numbers_stay_within_their_type() -> None:
    """Entries at both ends of the type have one neighbour each."""
    ends = arrays(np.int8, 1, elements=st.sampled_from([-128, -127, 126, 127]))
    found = {(int(one[0]), int(other[0])) for one, other in drawn(ends, within(1))}
    assert found == {(-128, -127), (-127, -128), (126, 127), (127, 126)}


@pytest.mark.parametrize("distance", [np.int64(1), np.float32(1)])
def test_a_distance_may_be_a_number_of_every_kind(distance: Any) -> None:
    assert drawn(st.floats(), within(distance))


@pytest.mark.parametrize("claim", [Claim, Zcdp, int])
def test_a_class_is_no_claim(claim: Any) -> None:
    with pytest.raises(TypeError, match=f"claim must be a claim, .* got the class {claim.__name__}"):
        check(lambda data: 0, pairs=[(0, 1)], claim=claim)


LONG, IN_THE_MIDDLE = np.arange(1100.0), np.where(np.arange(1100) == 500, 2, 1)  # whose repr leaves the middle out


def frame(labels: Any, values: Any = 0, **options: Any) -> pd.DataFrame:
    return pd.DataFrame({"v": values}, index=pd.Index(labels, **options))


def numbered(*values: int) -> pd.DataFrame:
    return pd.DataFrame({"v": list(values)})


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
        # A row is its label and its entries.
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
def test_datasets_that_differ_in_one_record(one: Any, other: Any, one_changed: bool, one_more: bool) -> None:
    assert (differ_in_one(one, other), differ_by_one(one, other)) == (one_changed, one_more)
    assert (differ_in_one(other, one), differ_by_one(other, one)) == (one_changed, one_more)
