"""Where a function changes its ways: found by bisection, and between neighbours."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import find
from hypothesis import strategies as st

from subnormal import Claim, Verdict, check
from subnormal.audit.check.refusals import crossed, way_between
from subnormal.audit.check.search import in_example
from subnormal.audit.neighbours.choices import Choice, Input, Source, Tree, follow
from subnormal.audit.neighbours.relations import Adjacency, add_or_remove, change_one, within
from subnormal.audit.values.distance import apart

pytestmark = pytest.mark.usefixtures("own_clock")


class Scores(NamedTuple):
    first: int
    second: int


@st.composite
def numbers_of_a_size(draw: Any) -> list[int]:
    return [draw(st.tuples(st.integers(0, 9)))[0] for _ in range(draw(st.integers(0, 4)))]


def number(value: Any) -> Tree:
    constraints = {"min_value": None, "max_value": None, "smallest_nonzero_magnitude": 5e-324}
    return (Choice("float" if isinstance(value, float) else "integer", value, constraints),)


def drawn_tree(data: Any, value: Any) -> Tree:
    """Return the choices that make a value."""
    found = find(
        st.builds(lambda: follow(data, None, Source())), lambda drawn: drawn is not None and drawn.value == value
    )
    assert found is not None
    return found.tree


def at_place(data: Any, tree: Tree) -> Any:
    drawn = in_example(1, lambda: follow(data, tree, None))
    return None if drawn is None else drawn.value


@pytest.mark.parametrize(
    ("relation", "data", "one", "other", "last"),
    [
        (within(1), st.integers(-100, 100), 3, -40, 43),
        (within(3), st.tuples(st.integers(0, 20), st.integers(0, 20)), (0, 10), (7, 10), 3),
        (within(1, norm="l1"), st.lists(st.integers(0, 9), max_size=3), [5, 0], [0, 5], 10),
        (change_one(), st.lists(st.integers(0, 9), max_size=3), [1, 2], [3, 4], 2),
        (add_or_remove(), st.lists(st.integers(0, 9), max_size=3), [1, 2, 3], [4], 4),
        (add_or_remove(), numbers_of_a_size(), [1, 2], [4], 3),
        (change_one(), st.builds(Scores, st.integers(0, 9), st.integers(0, 9)), Scores(1, 2), Scores(3, 4), 2),
    ],
    ids=str,
)
def test_a_way_goes_from_neighbour_to_neighbour(
    relation: Adjacency, data: Any, one: Any, other: Any, last: int
) -> None:
    way: Any = way_between(drawn_tree(data, one), drawn_tree(data, other), relation.step)
    assert way[0] == last
    places = [at_place(data, way[1](step)) for step in range(last + 1)]
    assert (places[0], places[-1]) == (one, other)
    assert all(relation.holds(*both) for both in pairwise(places))


@pytest.mark.parametrize("start", [0.49999999999999994, 0.3, -1.1, 1e6 + 0.1])
@pytest.mark.parametrize("distance", [1.0, 0.1])
def test_floats_on_the_way_are_never_further_apart_than_neighbours(start: float, distance: float) -> None:
    """0.49999999999999994 + 1 is rounded to 1.5: no neighbour, and rounding to integers moves the two 2 apart."""
    way = way_between(number(start), number(start + 9.5), distance)
    assert way is not None
    steps, at = way
    places = [choice.value for step in range(steps + 1) for choice in at(step) if isinstance(choice, Choice)]
    assert max(apart(*both, "l1") for both in pairwise(places)) <= Fraction(distance)
    assert places == sorted(set(places))


def test_there_is_no_way_between_inputs_of_other_forms() -> None:
    assert way_between(number(1.0), number(1), 1) is None
    assert way_between(number(0), number(9), 0.5) is None
    assert way_between(number(1e17), number(2e17), 1.0) is None
    assert way_between(number(1.0), (*number(1.0), *number(2.0)), 1) is None
    assert way_between(number(0), number(1), None) is None  # no row can be removed


def test_a_bisection_ends_where_the_kind_changes() -> None:
    way = way_between(number(-1000), number(9000), 1)
    assert way is not None

    def drawn(tree: Tree) -> Input:
        (choice,) = tree
        assert isinstance(choice, Choice)
        return Input(choice.value, tree)

    pair: Any = crossed(way, drawn, lambda value: value > 1491)
    assert [one.value for one in pair] == [1491, 1492]


def test_a_function_that_refuses_beyond_a_size_is_convicted() -> None:
    """No pair that is drawn is likely to lie at the one place of 10^5 where it begins to refuse."""

    def refusing(count: int) -> float:
        if count > 31_415:
            raise OverflowError("weights underflow")
        return round(random.gauss(0.0, 100.0))

    found: Any = check(refusing, st.integers(0, 10**5), within(1), Claim(1.0, 1e-6), seconds=20)
    assert found.verdict is Verdict.VIOLATED
    assert set(found.worlds) == {31_415, 31_416}


def test_the_place_is_found_between_inputs_of_one_size_where_the_first_of_each_kind_have_different_sizes() -> None:
    def refusing(scores: list[int]) -> float:
        if max(scores) < -31_415:
            raise ValueError("total of weights must be greater than zero")
        return round(random.gauss(0.0, 100.0))

    scores = st.lists(st.integers(-(10**5), 10**5), min_size=1, max_size=9)
    found: Any = check(refusing, scores, within(1), Claim(1.0, 1e-6), seconds=20)
    assert found.verdict is Verdict.VIOLATED
    assert {max(world) for world in found.worlds} == {-31_416, -31_415}


@pytest.mark.parametrize(("adjacent", "seed", "sizes"), [(change_one(), 1, {2}), (add_or_remove(), 5, {2, 3})], ids=str)
def test_records_that_the_kind_does_not_need_are_left_out(adjacent: Adjacency, seed: int, sizes: set[int]) -> None:
    def without_sevens(records: list[int]) -> float | None:
        return None if 7 in records else round(random.gauss(0.0, 100.0))

    records = st.lists(st.integers(0, 9), min_size=2)
    found: Any = check(without_sevens, records, adjacent, Claim(1.0, 1e-6), seconds=20, seed=seed)
    assert found.verdict is Verdict.VIOLATED
    assert set(map(len, found.worlds)) == sizes
    assert [7 in world for world in found.worlds].count(True) == 1
