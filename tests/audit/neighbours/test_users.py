"""Neighbours that differ in all records of one user: the relation by its definition, and the pairs that are drawn."""

import random
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, add_or_remove, change_one, check
from subnormal.audit.neighbours.datasets import users_of
from subnormal.audit.neighbours.relations import Adjacency, pairs
from tests.support.checked_functions import lap
from tests.support.draws import drawn

Dataset = list[tuple[str, int]]
RECORDS = list(product("ab", (0, 1)))
DATASETS = [list(records) for size in range(4) for records in product(RECORDS, repeat=size)]
ORDERS = st.lists(st.fixed_dictionaries({"user": st.sampled_from("abc"), "sum": st.integers(0, 9)}), max_size=8)


def without(dataset: Dataset, user: str) -> Dataset:
    return [record for record in dataset if record[0] != user]


def lost_one(one: Dataset, other: Dataset, most: float) -> bool:
    return any(
        without(many, user) == few != many and len(many) - len(few) <= most
        for user in "ab"
        for few, many in ((one, other), (other, one))
    )


def changed_one(one: Dataset, other: Dataset, most: float) -> bool:
    return any(
        without(one, user) == without(other, whose)
        and 0 < len(one) - len(without(one, user)) <= most
        and 0 < len(other) - len(without(other, whose)) <= most
        for user, whose in product("ab", repeat=2)
        if one != other
    )


@pytest.mark.parametrize("at_most", [None, 1, 2])
@pytest.mark.parametrize(("relation", "brute"), [(add_or_remove, lost_one), (change_one, changed_one)])
def test_every_two_small_datasets_are_neighbours_as_the_definition_says(
    relation: Any, brute: Any, at_most: int | None
) -> None:
    holds = relation(by=0, at_most=at_most).holds
    most = 99 if at_most is None else at_most
    wrong = [(one, other) for one, other in product(DATASETS, repeat=2) if holds(one, other) != brute(one, other, most)]
    assert not wrong


@pytest.mark.parametrize(
    "relation", [add_or_remove(by="user"), change_one(by="user"), add_or_remove(by="user", at_most=2)]
)
def test_pairs_are_neighbours_of_the_domain_and_users_have_several_records(relation: Adjacency) -> None:
    found = drawn(pairs(ORDERS, relation), 50)
    for pair in found:
        assert relation.holds(*pair)
        assert all(len(orders) <= 8 and all(set(one) == {"user", "sum"} for one in orders) for orders in pair)
    sizes = {len(one) - len(other) for one, other in found}
    assert {-2, -1, 1, 2} <= sizes
    assert (max(sizes) > 2) == ("at_most" not in repr(relation))


def test_frames_and_objects_have_users() -> None:
    pandas = pytest.importorskip("pandas")
    frames = ORDERS.map(lambda orders: pandas.DataFrame(orders, columns=["user", "sum"]))
    found = drawn(pairs(frames, add_or_remove(by="user")), 20)
    assert {abs(one["user"].nunique() - other["user"].nunique()) for one, other in found} == {1}

    @dataclass
    class Order:
        user: str

    assert users_of([Order("a"), Order("b")], "user") == ["'a'", "'b'"]
    assert users_of([3, 4], lambda number: number % 2) == ["1", "0"]


@pytest.mark.usefixtures("own_clock")
def test_noise_for_one_record_does_not_hide_a_user() -> None:
    def count(orders: list[dict[str, Any]]) -> float:
        return round(len(orders) + lap(1.0), 2)

    def count_of_users(orders: list[dict[str, Any]]) -> float:
        return round(len({order["user"] for order in orders}) + lap(1.0), 2)

    claim = Claim(1.0)
    assert check(count, ORDERS, add_or_remove(), claim, seconds=1).verdict is Verdict.NOT_REFUTED
    assert check(count_of_users, ORDERS, add_or_remove(by="user"), claim, seconds=1).verdict is Verdict.NOT_REFUTED
    found = check(count, ORDERS, add_or_remove(by="user"), claim, seconds=4)
    assert found.verdict is Verdict.VIOLATED
    assert found.relation == "add_or_remove(by='user')"


@pytest.mark.parametrize("relation", [add_or_remove, change_one])
def test_mistakes_are_named(relation: Any) -> None:
    with pytest.raises(ValueError, match="at_most must be at least 1, got 0"):
        relation(by="user", at_most=0)
    with pytest.raises(TypeError, match=f"{relation.__name__}: at_most goes with by, and by without element"):
        relation(at_most=2)
    with pytest.raises(ValueError, match=r"by = .*name.* names no part of each record"):
        check(lambda orders: random.random(), ORDERS, relation(by="name"), Claim(1.0), seconds=1)
