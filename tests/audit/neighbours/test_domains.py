"""Whatever a strategy is made of: both neighbours lie in its domain, share nothing, and the relation holds.

Membership is decided by functions of their own, which know nothing of strategies. Each draws pairs at each seed.
"""

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from subnormal import add_or_remove, change_one
from subnormal.audit.check.search import search
from subnormal.audit.neighbours import relations
from subnormal.audit.neighbours.relations import pairs
from tests.audit.neighbours.domain_cases import CASES, MORE, NEAR, OTHER, SHARED, Person, sized

SEEDS, EXAMPLES = 6, 6  # every other seed varies the pairs that it has drawn, half of the time


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
    ids=lambda given: given if isinstance(given, str) else getattr(given, "name", "any"),
)
def test_neighbours_lie_in_the_domain_and_share_nothing_at_every_seed(name: str, relation: Any) -> None:
    case, before = CASES[name], copy.deepcopy(SHARED)
    for seed in range(SEEDS):
        tried: list[Any] = []

        def look(pair: Any, tried: list[Any] = tried) -> float:
            tried.append(pair)
            return -math.inf

        search(pairs(case.data, relation), look, seed=seed, seconds=600, examples=EXAMPLES, climbs=seed % 2 == 0)
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
