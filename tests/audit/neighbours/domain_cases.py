"""Strategies of every form, with functions that know nothing of strategies and say what lies in their domains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra.pandas import column, data_frames, indexes, range_indexes

from subnormal.audit.neighbours.relations import add_or_remove, change_one, within

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


@st.composite
def two_of_one_kind(draw: Any) -> list[float]:
    """Both are made anew each time, and do not depend on each other."""
    return [
        *draw(st.lists(st.floats(0, 1), min_size=3, max_size=3).map(lambda data: sorted(data))),
        *draw(st.lists(st.floats(0, 1).map(lambda one: one / 2), min_size=3).filter(lambda data: min(data) < 1)),
    ]


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
        and bool((data.age.isin(range(10)) & data.share.between(0, 1)).all())
    )


def is_labelled(data: Any) -> bool:
    labels = 2 <= len(data) <= 4 and data.index.is_unique and all(0 <= label <= 100 for label in data.index)
    return labels and set(data.v) <= {0, 1}


def weight(vector: bytes) -> int:
    return sum(map(int.bit_count, vector))


TREES: Any = st.deferred(lambda: st.integers(0, 3) | st.tuples(TREES, TREES))
DIGITS, SOME = st.lists(st.integers(0, 9), max_size=6), st.lists(st.integers(0, 9), min_size=1, max_size=6)
MORE, OTHER, NEAR = ALL = add_or_remove(), change_one(), within(1)


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
        ALL,
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
    "map, sorted": Case(DIGITS.map(sorted), lambda data: data == sorted(data), ALL),
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
        (lambda one, other: True,),
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
        ALL,
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
    "map and filter": Case(
        SOME.map(sorted).filter(lambda data: data[0] > 0), lambda data: data == sorted(data) and data[0] > 0, ALL
    ),
    "composite, two of one kind": Case(
        two_of_one_kind(), lambda data: data[:3] == sorted(data[:3]) and max(data[3:]) <= 0.5, (OTHER,)
    ),
    "flatmap of a bound": Case(
        st.integers(0, 5).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, low + 3))),
        lambda data: data[0] <= data[1],
        (NEAR,),
    ),
    "flatmap of a union": Case(
        st.integers(1, 3).flatmap(lambda size: st.just([7] * size) | SOME.map(lambda data: [*data, 1])), bool, ALL
    ),
    "lists as arrays": Case(SOME.map(np.array), lambda data: data.dtype == np.int64 and data.max() < 10, (OTHER, NEAR)),
    "lists as tuples": Case(SOME.map(tuple), lambda data: isinstance(data, tuple) and max(data) < 10, ALL),
    "numbers as texts": Case(
        st.lists(st.floats(0, 1).map(str)), lambda data: all(0 <= float(one) <= 1 for one in data)
    ),
    "lists as frames": Case(
        st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=5).map(
            lambda rows: pd.DataFrame(rows, columns=["age", "share"])
        ),
        lambda data: list(data) == ["age", "share"] and data["share"].between(0, 1).all(),
    ),
    "arrays of floats": Case(
        hnp.arrays(float, st.integers(1, 5), elements=st.floats(-1e9, 1e9)),
        lambda data: data.ndim == 1 and 1 <= data.size <= 5,
        ALL,
    ),
    "arrays of whole floats": Case(
        hnp.arrays(float, 3, elements=st.integers(0, 9)),
        lambda data: data.max() < 10 and (data % 1 == 0).all(),
        (OTHER, NEAR),
    ),
    "union of texts, no list of both kinds": Case(
        st.lists(st.integers(0, 4).map(str)) | st.lists(st.integers(5, 9).map(str)),
        lambda data: len({one < "5" for one in data}) <= 1,
    ),
    "a predicate of what is mapped": Case(
        SOME.map(sorted), lambda data: data == sorted(data), (lambda one, other: len(one) == len(other) + 1,)
    ),
    "a predicate of named tuples": Case(
        st.sampled_from([Scores(age, 1) for age in range(9)]),
        lambda data: type(data) is Scores,
        (lambda one, other: True,),
    ),
    "a thousand": Case(
        st.lists(st.floats(0, 1), min_size=1000, max_size=1000),
        lambda data: len(data) == 1000 and 0 <= min(data) <= max(data) <= 1,
        (OTHER,),
    ),
}
