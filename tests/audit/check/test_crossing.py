"""Where a function changes its ways: found by bisection, and between neighbours."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from subnormal.audit.check.adjacency import Adjacency, add_or_remove, change_one, within
from subnormal.audit.check.check import check
from subnormal.audit.check.crossing import crossed, without_records
from subnormal.audit.check.distance import apart
from subnormal.audit.model import Verdict
from subnormal.mechanisms.privacy import Claim

pytestmark = pytest.mark.usefixtures("own_clock")


class Scores(NamedTuple):
    first: int
    second: int


class Grades(list[int]):
    """A list of a type of its own, which is made in a way of its own."""

    def __init__(self, given: list[int], scale: str = "points") -> None:
        super().__init__(given)
        self.scale = scale


@pytest.mark.parametrize(
    ("adjacent", "one", "other", "last"),
    [
        (within(1), 3, -40, 43),
        (within(2.5), 0.1, 7.3, 3),
        (within(3), (0, 10), (7, 10), 3),
        (within(1, norm="l1"), [5, 0], [0, 5], 10),
        (change_one(), ["a", "b"], ["c", "d"], 2),
        (add_or_remove(), [1, 2, 3], [4], 4),
        (within(1), Scores(3, 0), Scores(0, 4), 7),
        (change_one(), Scores(1, 2), Scores(3, 4), 2),
        (add_or_remove(), Grades([1, 2, 3]), Grades([4]), 4),
    ],
    ids=str,
)
def test_a_way_goes_from_neighbour_to_neighbour(adjacent: Adjacency, one: Any, other: Any, last: int) -> None:
    way = adjacent.way(one, other)
    assert way is not None
    steps, at = way
    assert (steps, at(0), at(steps)) == (last, one, other)
    for step in range(steps):
        before, after = at(step), at(step + 1)
        assert type(before) is type(after) is type(one)
        if adjacent.name.startswith("within"):
            moved = apart(before, after, "l1")  # one entry moves
            assert 0 < moved <= (1 if "l1" in adjacent.name else 3)
        elif adjacent.name == "change_one":
            assert sum(first != second for first, second in zip(before, after, strict=True)) == 1
        else:
            assert abs(len(before) - len(after)) == 1


@pytest.mark.parametrize("start", [0.49999999999999994, 0.3, -1.1, 1e6 + 0.1])
@pytest.mark.parametrize("distance", [1.0, 0.1])
def test_floats_on_the_way_are_never_further_apart_than_neighbours(start: float, distance: float) -> None:
    """0.49999999999999994 + 1 is rounded to 1.5: no neighbour, and rounding to integers moves the two 2 apart."""
    way = within(distance).way(start, start + 9.5)
    assert way is not None
    steps, at = way
    places = [at(step) for step in range(steps + 1)]
    assert max(apart(*both, "l1") for both in pairwise(places)) <= Fraction(distance)
    assert places == sorted(set(places))


def test_there_is_no_way_between_inputs_of_other_forms() -> None:
    assert within(1).way("a", "b") is None
    assert within(0.5).way(0, 9) is None
    assert within(1.0).way(1e17, 2e17) is None
    assert within(1).way((1,), (1, 2)) is None
    assert change_one().way([1], [1, 2]) is None
    assert add_or_remove().way(Scores(1, 2), Scores(1, 3)) is None  # none of its fields can be removed


def test_a_bisection_ends_where_the_kind_changes() -> None:
    way = within(1).way(-1000, 9000)
    assert way is not None
    assert crossed(way, lambda number: number > 1491) == (1491, 1492)


def test_a_function_that_refuses_beyond_a_size_is_convicted() -> None:
    """No pair that is drawn is likely to lie at the one place of 10^5 where it begins to refuse."""

    def refusing(count: int) -> float:
        if count > 31_415:
            raise OverflowError("weights underflow")
        return round(random.gauss(0.0, 100.0))

    found = check(refusing, st.integers(0, 10**5), within(1), Claim(1.0, 1e-6), seconds=20)
    assert found.verdict is Verdict.VIOLATED
    assert found.worlds is not None
    assert set(found.worlds) == {31_415, 31_416}


def test_the_place_is_found_between_inputs_of_one_size_where_the_first_of_each_kind_have_different_sizes() -> None:
    def refusing(scores: list[int]) -> float:
        if max(scores) < -31_415:
            raise ValueError("total of weights must be greater than zero")
        return round(random.gauss(0.0, 100.0))

    scores = st.lists(st.integers(-(10**5), 10**5), min_size=1, max_size=9)
    found = check(refusing, scores, within(1), Claim(1.0, 1e-6), seconds=20)
    assert found.verdict is Verdict.VIOLATED
    assert found.worlds is not None
    assert {max(world) for world in found.worlds} == {-31_416, -31_415}


@pytest.mark.parametrize(("adjacent", "seed", "sizes"), [(change_one(), 1, {2}), (add_or_remove(), 5, {2, 3})], ids=str)
def test_records_that_the_kind_does_not_need_are_left_out(adjacent: Adjacency, seed: int, sizes: set[int]) -> None:
    def without_sevens(records: list[int]) -> float | None:
        return None if 7 in records else round(random.gauss(0.0, 100.0))

    records = st.lists(st.integers(0, 9), min_size=2)
    found = check(without_sevens, records, adjacent, Claim(1.0, 1e-6), seconds=20, seed=seed)
    assert found.verdict is Verdict.VIOLATED
    assert found.worlds is not None
    assert set(map(len, found.worlds)) == sizes
    assert [7 in world for world in found.worlds].count(True) == 1


def test_named_tuples_whose_outcomes_are_of_two_kinds_are_neighbours_where_a_field_changes() -> None:
    def refusing(scores: Scores) -> float | None:
        return None if scores.first + scores.second > 150 else round(random.gauss(0.0, 100.0))

    scores = st.builds(Scores, st.integers(0, 100), st.integers(0, 100))
    found = check(refusing, scores, change_one(), Claim(1.0, 1e-6), seconds=20)
    assert found.verdict is Verdict.VIOLATED
    assert found.worlds is not None
    assert [sum(world) > 150 for world in found.worlds].count(True) == 1


def test_what_else_a_list_of_its_own_type_holds_is_kept() -> None:
    mine = Grades([1, 2], "percent")
    one, other = without_records((mine, Grades([1, 3], "percent")), lambda pair: pair[0] != pair[1])
    assert (one, one.scale, other, other.scale) == ([2], "percent", [3], "percent")
    pair = Scores(1, 2), Scores(1, 3)
    assert without_records(pair, lambda pair: True) == pair
