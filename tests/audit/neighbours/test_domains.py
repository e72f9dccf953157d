"""Whatever a strategy is made of: both neighbours lie in its domain, share nothing, and the relation holds.

Membership is decided by functions of their own, which know nothing of strategies. Each draws pairs at each seed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra.pandas import column, data_frames, indexes, range_indexes

from subnormal.audit.check.search import search
from subnormal.audit.neighbours import relations
from subnormal.audit.neighbours.relations import add_or_remove, change_one, pairs, within

SEEDS, EXAMPLES = 5, 6
SHARED = ["a", "b"]  # an object that a strategy hands out again and again


@dataclass
class Person:
    age: int
    friends: list[int]


@st.composite
def sized(draw: Any) -> list[tuple[int, str]]:
    """The number of records, and then as many, each drawn by a call of its own."""
    return [draw(st.tuples(st.integers(0, 9), st.text(max_size=2))) for _ in range(draw(st.integers(1, 6)))]


@st.composite
def numbered_in_place(draw: Any) -> list[dict[str, int]]:
    rows: list[dict[str, int]] = draw(st.lists(st.fixed_dictionaries({"age": st.integers(0, 9)}), max_size=4))
    for number, row in enumerate(rows):
        row["id"] = number
    return rows


@st.composite
def bounded(draw: Any) -> list[int]:
    """A bound, and then numbers that are no smaller."""
    low = draw(st.integers(0, 3))
    return [low, *(draw(st.integers(low, 9)) for _ in range(draw(st.integers(1, 4))))]


@st.composite
def interval(draw: Any) -> list[int]:
    """A bound, and one that lies no lower."""
    low = draw(st.integers(0, 5))
    return [low, draw(st.integers(0, 3).map(lambda width: low + width))]


@st.composite
def kept_interval(draw: Any) -> list[int]:
    low = draw(st.integers(0, 5))
    return [low, draw(st.integers(0, 8).filter(lambda high: high >= low))]


@st.composite
def with_one_of_them(draw: Any) -> list[int]:
    """Digits, and before them one of these."""
    digits = draw(st.lists(st.integers(0, 9), min_size=1, max_size=3))
    return [draw(st.sampled_from(digits).map(lambda digit: digit)), *digits]


class Scores(NamedTuple):
    first: int
    second: int


def doubled(rows: list[list[int]]) -> list[list[int]]:
    for row in rows:
        row[0] *= 2
    return rows


def is_sized(rows: Any) -> bool:
    return 1 <= len(rows) <= 6 and all(0 <= age <= 9 and len(name) <= 2 for age, name in rows)


def is_numbered(rows: Any) -> bool:
    return (
        len(rows) <= 4 and [row["id"] for row in rows] == list(range(len(rows))) and all(len(row) == 2 for row in rows)
    )


def is_tree(one: Any) -> bool:
    return one in range(4) if isinstance(one, int) else len(one) == 2 and all(map(is_tree, one))


def is_frame(data: Any) -> bool:
    """As `data_frames` of two columns over a range draws one."""
    is_range = list(data.index) == list(range(len(data))) and len(data) <= 5
    return (
        is_range
        and list(data) == ["age", "share"]
        and bool(data.age.between(0, 9).all() and data.share.between(0, 1).all())
    )


def is_labelled(data: Any) -> bool:
    return (
        2 <= len(data) <= 4
        and data.index.is_unique
        and set(data.v) <= {0, 1}
        and all(0 <= label <= 100 for label in data.index)
    )


def weight(vector: bytes) -> int:
    return sum(map(int.bit_count, vector))


TREES: Any = st.deferred(lambda: st.integers(0, 3) | st.tuples(TREES, TREES))
DIGITS = st.lists(st.integers(0, 9), max_size=6)
MORE, OTHER, NEAR = add_or_remove(), change_one(), within(1)


def are_any(one: Any, other: Any) -> bool:
    return True


@dataclass(frozen=True)
class Case:
    """A strategy, whether something is one of its values, and its relations."""

    data: Any
    holds: Callable[[Any], bool]
    relations: tuple[Any, ...] = (MORE, OTHER)


CASES = {
    "flatmap, elements within the size": Case(
        st.integers(1, 6).flatmap(lambda size: st.lists(st.integers(0, size), min_size=size, max_size=size)),
        lambda data: 1 <= len(data) <= 6 and min(data) >= 0 and max(data) <= len(data),
    ),
    "flatmap, one size": Case(
        st.integers(1, 6).flatmap(lambda size: st.lists(st.floats(0, 1), min_size=size, max_size=size)),
        lambda data: 1 <= len(data) <= 6 and all(0 <= one <= 1 for one in data),
        (MORE, OTHER, NEAR),
    ),
    "composite of a size and records": Case(sized(), is_sized),
    "composite, changed in place": Case(numbered_in_place(), is_numbered),
    "composite with a bound": Case(
        bounded(), lambda data: 2 <= len(data) <= 5 and min(data) == data[0] <= 3, (OTHER, NEAR)
    ),
    "map, changed in place": Case(
        st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), max_size=4).map(doubled),
        lambda data: len(data) <= 4 and all(row[0] in range(0, 19, 2) and row[1] in range(10) for row in data),
    ),
    "map, sorted": Case(DIGITS.map(sorted), lambda data: data == sorted(data), (MORE, OTHER, NEAR)),
    "filter of an element": Case(
        st.lists(st.integers(0, 99).filter(lambda one: one % 3 == 0), max_size=5),
        lambda data: all(one % 3 == 0 for one in data),
    ),
    "filter of the whole": Case(
        DIGITS.filter(lambda data: sum(data) % 2 == 0), lambda data: sum(data) % 2 == 0, (MORE, OTHER, NEAR)
    ),
    "filter of bytes, any two": Case(
        st.binary(max_size=4).filter(lambda vector: weight(vector) <= 1),
        lambda data: len(data) <= 4 and weight(data) <= 1,
        (are_any,),
    ),
    "frames by number": Case(
        data_frames(
            [column("age", dtype=int, elements=st.integers(0, 9)), column("share", elements=st.floats(0, 1))],
            index=range_indexes(max_size=5),
        ),
        is_frame,
    ),
    "frames by label": Case(
        data_frames(
            [column("v", dtype=int, elements=st.integers(0, 1))],
            index=indexes(elements=st.integers(0, 100), min_size=2, max_size=4),
        ),
        is_labelled,
    ),
    "arrays": Case(
        hnp.arrays(np.float32, st.integers(1, 5), elements=st.floats(0, 1, width=32)),
        lambda data: data.dtype == np.float32 and 1 <= data.size <= 5 and 0 <= data.min() <= data.max() <= 1,
        (MORE, OTHER, NEAR),
    ),
    "arrays of unique entries": Case(
        hnp.arrays(np.int8, 4, elements=st.integers(0, 9), unique=True),
        lambda data: len(set(data.tolist())) == 4,
        (OTHER,),
    ),
    "union": Case(
        DIGITS | st.lists(st.booleans(), max_size=5),
        lambda data: {bool} >= set(map(type, data)) or {int} >= set(map(type, data)),
    ),
    "deferred rows": Case(st.lists(TREES, max_size=5), lambda data: len(data) <= 5 and all(map(is_tree, data))),
    "recursive rows": Case(
        st.lists(st.recursive(st.integers(0, 3), lambda rows: st.tuples(rows, rows), max_leaves=4), max_size=5),
        lambda data: all(map(is_tree, data)),
    ),
    "objects": Case(
        st.lists(st.builds(Person, st.integers(0, 99), st.lists(st.integers(0, 9), max_size=3)), max_size=4),
        lambda data: all(0 <= one.age <= 99 and len(one.friends) <= 3 for one in data),
    ),
    "one object again and again": Case(
        st.lists(st.sampled_from([SHARED, ["c"]]), min_size=1, max_size=4),
        lambda data: all(one in (SHARED, ["c"]) for one in data),
    ),
    "unique": Case(
        st.lists(st.tuples(st.integers(0, 9), st.booleans()), unique_by=lambda row: row[0], max_size=5),
        lambda data: len({key for key, _ in data}) == len(data),
    ),
    "dictionaries": Case(
        st.dictionaries(st.sampled_from("abc"), st.integers(1, 20)),
        lambda data: set(data) <= set("abc") and all(1 <= one <= 20 for one in data.values()),
        (within(1, "l1"),),
    ),
    "composite, the second by a sum": Case(interval(), lambda data: data[0] <= data[1], (OTHER, NEAR)),
    "composite, the second by a filter": Case(kept_interval(), lambda data: data[0] <= data[1], (OTHER, NEAR)),
    "composite, one of the records twice": Case(
        with_one_of_them(), lambda data: data[0] in data[1:], (MORE, OTHER, NEAR)
    ),
    "tuples with a constant": Case(st.tuples(st.just(3), st.integers(0, 9)), lambda data: data[0] == 3, (OTHER, NEAR)),
    "named tuples": Case(
        st.builds(Scores, st.integers(0, 99), second=st.integers(0, 10**6)),
        lambda data: type(data) is Scores and data.first < 100,
        (OTHER, NEAR),
    ),
    "half floats": Case(st.lists(st.floats(0, 9, width=16)), lambda data: all(np.float16(x) == x for x in data)),
    "no subnormal floats": Case(
        st.floats(-1e-300, 1e-300, allow_subnormal=False), lambda x: x == 0 or abs(x) >= 2.0**-1022, (within(1e-308),)
    ),
    "matrices": Case(
        hnp.arrays(int, st.tuples(st.integers(1, 3), st.just(2)), elements=st.integers(0, 9)),
        lambda data: 1 <= len(data) <= 3 and data.shape[1] == 2 and 0 <= data.min() <= data.max() < 10,
    ),
    "a thousand": Case(
        st.lists(st.floats(0, 1), min_size=1000, max_size=1000),
        lambda data: len(data) == 1000 and 0 <= min(data) <= max(data) <= 1,
        (OTHER,),
    ),
}


def parts_that_change(data: Any) -> Iterator[int]:
    """Yield the identity of each mutable object that is a part of data."""
    if isinstance(data, list | tuple):
        if isinstance(data, list):
            yield id(data)
        for one in data:
            yield from parts_that_change(one)
    elif isinstance(data, dict):
        yield id(data)
        for one in data.values():
            yield from parts_that_change(one)
    elif isinstance(data, np.ndarray | pd.DataFrame):
        yield id(data)
    elif isinstance(data, Person):
        yield id(data)
        yield from parts_that_change(data.friends)


def share_memory(one: Any, other: Any) -> bool:
    arrays = [data.to_numpy() if isinstance(data, pd.DataFrame) else data for data in (one, other)]
    return all(isinstance(array, np.ndarray) for array in arrays) and bool(np.shares_memory(*arrays))


def texts(data: Any) -> list[str]:
    """Return the records of a dataset as texts, with the label of a row unless it is its number."""
    if isinstance(data, pd.DataFrame):
        rows = [row.tolist() for _, row in data.iterrows()]
        labels = [""] * len(rows) if list(data.index) == list(range(len(rows))) else data.index.tolist()
        return [f"{label} {row}" for label, row in zip(labels, rows, strict=True)]
    return list(map(repr, data.tolist() if isinstance(data, np.ndarray) else data))


def are_related(relation: Any, one: Any, other: Any) -> bool:
    """By definition, written anew."""
    if relation is MORE:
        few, many = sorted((texts(one), texts(other)), key=len)
        return any([*many[:place], *many[place + 1 :]] == few for place in range(len(many)))
    if relation is OTHER:
        return len(one) == len(other) and sum(a != b for a, b in zip(texts(one), texts(other), strict=True)) == 1
    if relation is NEAR:
        return len(one) == len(other) and bool(
            max(abs(float(a) - float(b)) for a, b in zip(one, other, strict=True)) <= 1
        )
    if isinstance(one, float):
        return bool(abs(one - other) <= 1e-308)
    if isinstance(one, dict):
        return bool(sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {**one, **other}) <= 1)
    return repr(one) != repr(other)


@pytest.mark.parametrize(
    ("name", "relation"),
    [(name, relation) for name, case in CASES.items() for relation in case.relations],
    ids=lambda given: getattr(given, "__name__", str(given)),  # no addresses: each test process has its own
)
def test_neighbours_lie_in_the_domain_and_share_nothing_at_every_seed(name: str, relation: Any) -> None:
    case, before = CASES[name], copy.deepcopy(SHARED)
    for seed in range(SEEDS):
        tried: list[Any] = []

        def look(pair: Any, tried: list[Any] = tried) -> float:
            tried.append(pair)
            return -math.inf

        search(pairs(case.data, relation), look, seed=seed, seconds=600, examples=EXAMPLES)
        assert tried, seed
        for one, other in tried:
            assert case.holds(one), one
            assert case.holds(other), other
            assert are_related(relation, one, other), (one, other)
            assert set(parts_that_change(one)).isdisjoint(parts_that_change(other))
            assert not share_memory(one, other)
    assert before == SHARED


@pytest.mark.parametrize(
    ("data", "element", "is_given"),
    [
        (st.lists(st.integers(0, 99), max_size=5), st.integers(90, 99), lambda one: one >= 90),
        (st.lists(st.integers(0, 99), max_size=5), st.sampled_from([7, 8]), lambda one: one in (7, 8)),
        (st.lists(st.tuples(st.integers(0, 9), st.text()), max_size=5), st.just((3, "b")), lambda one: one == (3, "b")),
        (sized(), st.tuples(st.just(4), st.just("")), lambda one: one == (4, "")),
        (st.lists(st.sampled_from("abc"), max_size=5), st.just("b"), lambda one: one == "b"),
    ],
    ids=["same", "sampled", "tuples", "composite", "by chance"],
)
@pytest.mark.parametrize("relation", [change_one, add_or_remove])
def test_records_that_are_given_are_those_that_change(relation: Any, data: Any, element: Any, is_given: Any) -> None:
    tried: list[Any] = []
    search(pairs(data, relation(element)), lambda pair: tried.append(pair) or 0.0, seed=1, seconds=600, examples=40)  # type: ignore[func-returns-value]
    assert len(tried) > 10
    of_given = 0
    for pair in tried:
        few, many = sorted(pair, key=len)
        if len(few) == len(many):
            of_given += any(is_given(a) or is_given(b) for a, b in zip(few, many, strict=True) if a != b)
        else:
            assert len(many) == len(few) + 1
            of_given += any(map(is_given, many))
    assert of_given == len(tried) if relation is change_one else of_given > 4  # removals are of any record


def test_a_record_outside_the_domain_has_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "TRIES", 1)  # of each of a thousand inputs
    with pytest.raises(ValueError, match="no pair of neighbouring inputs"):
        search(
            pairs(st.lists(st.integers(0, 9), max_size=1), change_one(st.just(10))),
            lambda pair: 0.0,
            seed=1,
            seconds=600,
            examples=1,
        )
