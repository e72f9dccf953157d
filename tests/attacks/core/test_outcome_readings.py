"""What is read from texts, times and complex numbers: by the outcome alone, and in words that survive JSON."""

import itertools
import json
import math
import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subnormal.attacks.core.event_words import in_words
from subnormal.attacks.core.events import Category, Learned, OneOf, Term
from subnormal.attacks.core.outcome_features import columns_of
from subnormal.attacks.core.outcome_paths import MISSING, part, paths
from subnormal.attacks.core.outcome_readings import CHARACTERS_MAX, FORM, characters, counted_items, readings
from subnormal.attacks.core.outcome_relations import INVERSIONS, PARTS_MAX, RELATIONS, relations
from subnormal.mechanisms.core.mechanism import Refused


def numbers(text: Any) -> list[float]:
    return [value for name, value in readings(text).items() if name != FORM]


@pytest.mark.parametrize(
    ("text", "expected", "form"),
    [
        ("12.50", [12.5], "#"),
        ("a -3, +4e-2 and .5", [-3, 0.04, 0.5], "a #, # and #"),
        ("2020-01-31", [2020, 1, 31], "#-#-#"),
        ("user17@3-5", [17, 3, 5], "user#@#-#"),
        ('{"count": 3, "noise": -0.25}', [3, -0.25], '{"count": #, "noise": #}'),
        ("-0x1.4p-3 0x1F", [-0.15625, 31.0], "# #"),
        ("0x1p+9999 -0x1p+9999", [math.inf, -math.inf], "# #"),
        ("12345678901234567891 7e2", [12345678901234567891, 700.0], "# #"),
        ("9" * 5_000, [math.inf], "#"),
        (Refused("ValueError: 3.5 of 7"), [3.5, 7], "ValueError: # of #"),
        (b"x=1.5", [1.5], "x=#"),
    ],
    ids=range(11),
)
def test_the_numbers_in_a_text_are_read(text: Any, expected: list[float], form: str) -> None:
    assert numbers(text) == expected
    assert list(map(type, numbers(text))) == list(map(type, expected))
    assert readings(text)[FORM] == form


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (complex(1.5, -2.0), [1.5, -2.0]),
        (date(1970, 1, 3), [2]),
        (datetime(1970, 1, 2, 0, 0, 1, 500_000), [86_401.5]),
        (datetime(1970, 1, 2, tzinfo=UTC), [86_400.0]),
        (datetime(1, 1, 1), [-62_135_596_800.0]),
        (time(1, 1, 1, 250_000), [3661.25]),
        (timedelta(days=-1, microseconds=500_000), [-86_399.5]),
        (b"\xff\x01", [255, 1]),
        ("none", []),
        (None, []),
        (1.5, []),
    ],
    ids=repr,
)
def test_times_and_complex_numbers_are_read_as_numbers(value: Any, expected: list[float]) -> None:
    assert numbers(value) == expected


OUTCOMES = ["a 1.5", ("x 2", 7), Refused("E: 4"), (("k", complex(1, 2)),), 3.0, None, timedelta(seconds=9), ()]


def test_what_is_read_does_not_depend_on_other_outcomes() -> None:
    """Events are learned on some runs and judge others: a part is one of its own outcome alone."""
    for path in paths(OUTCOMES):
        alone = [part([one], path).items.tolist()[0] for one in OUTCOMES]
        assert list(map(repr, part(OUTCOMES, path).items)) == list(map(repr, alone))


def test_paths_lead_into_texts_and_times() -> None:
    number, form = ("number at place 0 in the text",), FORM
    assert {(number,), (form,), (0, number), (0, form), ("k", ("real part",)), (("seconds",),), (1,)} <= set(
        paths(OUTCOMES)
    )
    column = columns_of(OUTCOMES)
    np.testing.assert_array_equal(column((number,), "value"), [1.5, np.nan, 4, *[np.nan] * 5])
    np.testing.assert_array_equal(column(("k", ("imaginary part",)), "value"), [*[np.nan] * 3, 2, *[np.nan] * 4])
    np.testing.assert_array_equal(column((("seconds",),), "value"), [*[np.nan] * 6, 9, np.nan])
    assert part(np.zeros(2), (number,)).items.tolist() == [MISSING] * 2


def test_keys_that_few_outcomes_have_are_named_by_their_places() -> None:
    rare = [((f"user{place}", 0.5 * place), ("z", 1)) for place in range(32)]
    number = ("number at place 0 in the text",)
    assert set(paths(rare)) == {*((), ("z",), (0, 0), (0, 1), (1, 0), (1, 1), (0, 0, number), (0, 0, FORM))}
    assert part(rare, (0, 1)).items.tolist() == [0.5 * place for place in range(32)]
    often = [(("a", 1), ("b", 2)), (("a", 1),), (("c", 1),)]
    assert set(paths(often)) == {(), ("a",), ("b",), ("c",)}


def test_numbers_in_tuples_are_related() -> None:
    """In an array and in a list alike."""
    size, total = (("size of the difference of parts 0 and 1",),), (("sum of parts 0 and 1",),)
    pairs = [(1.5, 1.5), (1.5, -1.5), (math.inf, math.inf), (2.0, math.nan), (-0.0, 3.0)]
    for outcomes in (np.array(pairs), pairs, [*pairs, None, ("a", 1.0), (1.0,), 2.0]):
        column = columns_of(outcomes)
        np.testing.assert_array_equal(column(size, "value")[:5], [0, 3, np.nan, np.nan, 3])
        np.testing.assert_array_equal(column(total, "value")[:5], [3, 0, np.inf, np.nan, 3])
        assert np.isnan(column(total, "value")[5:]).all()


def test_each_relation_is_what_its_name_says() -> None:
    parts = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11]
    column = columns_of([tuple(parts)])
    for (name,) in RELATIONS:
        kind, (one, other, *less) = (
            name.removeprefix("size of the ").split()[0],
            [int(n) for n in re.findall("[0-9]+", name)],
        )
        value = parts[one] + (parts[other] if kind == "sum" else -parts[other]) - sum(parts[place] for place in less)
        assert column(((name,),), "value") == (abs(value) if name.startswith("size") else value)


@pytest.mark.parametrize(
    ("width", "count"), [(0, 0), (1, 0), (2, 5), (3, 19), (6, 181), (7, 85), (PARTS_MAX, 265), (PARTS_MAX + 1, 0)]
)
def test_so_many_relations_are_there(width: int, count: int) -> None:
    """Two signs and their sizes for each two numbers, three for each three; and the number of inversions."""
    assert len(set(relations(width))) == count


@given(st.lists(st.one_of(st.integers(-3, 3), st.lists(st.integers(-3, 3), max_size=14).map(tuple)), max_size=9))
def test_inversions_are_pairs_whose_first_number_is_larger(outcomes: list[Any]) -> None:
    expected = [
        sum(one > other for one, other in itertools.combinations(each, 2))
        if isinstance(each, tuple) and 2 <= len(each) <= PARTS_MAX
        else math.nan
        for each in outcomes
    ]
    np.testing.assert_array_equal(part(outcomes, (INVERSIONS,)).values, expected)


@pytest.mark.parametrize(
    "rows", [[[2, 1, 1, 0], [0, 1, 1, 2]], [[2.0, math.nan, 1.0], [math.nan] * 3], [[2**53 + 1, 2**53]]]
)
def test_inversions_of_an_array_are_those_of_its_rows(rows: list[list[Any]]) -> None:
    found = part(np.array(rows), (INVERSIONS,)).values
    np.testing.assert_array_equal(found, part(list(map(tuple, rows)), (INVERSIONS,)).values)


@pytest.mark.parametrize("outcomes", [np.array([[3, 1], [1, 1]]), [(3, 1), (1, True)]], ids=["array", "tuples"])
def test_items_of_tuples_are_counted(outcomes: Any) -> None:
    names = counted_items([(3, 1), (1, 1)])
    assert names == [("count of 1",), ("count of 3",)]
    assert [part(outcomes, (name,)).items.tolist() for name in names] == [[1, 2], [1, 0]]
    assert part([(0, (3, 3)), (1, 3)], (1, ("count of 3",))).items.tolist() == [2, MISSING]


def test_items_are_counted_where_they_are_few_and_plain() -> None:
    assert len(counted_items([tuple(range(CHARACTERS_MAX))])) == CHARACTERS_MAX
    assert counted_items([(0.5, 1)]) == counted_items([tuple(range(CHARACTERS_MAX + 1))]) == counted_items([]) == []
    assert counted_items([(10**5000, 1)]) == []
    assert counted_items([("a", "b"), ("b",)]) == [("count of 'a'",), ("count of 'b'",)]


def test_characters_of_texts_are_read() -> None:
    texts = ["abba", "b", "", "q\"'"]
    names = characters(texts)
    assert len(names) == 4 + 5
    counts = {name: part(texts, (name,)).items.tolist() for name in names}
    assert counts["character at place 1",] == ["b", MISSING, MISSING, '"']
    assert counts["count of 'b'",] == [2, 1, 0, 0]
    assert counts['count of "\'"',] == [0, 0, 0, 1]
    assert part([(3, "bb"), 5, None], (1, ("count of 'b'",))).items.tolist() == [2, MISSING, MISSING]


@pytest.mark.parametrize(
    ("event", "told", "marked"),
    [
        (
            Learned((Term("value", (("number at place 0 in the text",),)),), 2.0, math.inf),
            "the number at place 0 in the text of the outcome is at least 2",
            [False, False, True, *[False] * 5],
        ),
        (
            Learned((Term("value", ("k", ("real part",))),), -math.inf, 1.0),
            "the real part of the value for 'k' of the outcome is at most 1",
            [*[False] * 3, True, *[False] * 4],
        ),
        (
            Category(((FORM,),), OneOf(("a #",), by_type=True)),
            "the text with # for each number of the outcome is a #",
            [True, *[False] * 7],
        ),
        (
            Category(((0,),), OneOf(tuple(f"x {place}" for place in range(100)), by_type=True)),
            "part 0 of the outcome is one of 100",
            [False, True, *[False] * 6],
        ),
        (
            Category(((1,), (("count of 3",),)), OneOf(((1.0, 0), ("b", 1)))),
            "(part 1 of the outcome, the count of 3 of the outcome) is one of (1, 0), ('b', 1)",
            [*[False] * 8],
        ),
        (
            Category(((0,), (1,)), OneOf((("x 2", 7), ("k", MISSING), (MISSING, MISSING), ("", "missing")))),
            "(part 0 of the outcome, part 1 of the outcome) is one of "
            "('x 2', 7), ('k', missing), (missing, missing), ('', 'missing')",
            [True, True, True, False, True, True, True, True],
        ),
    ],
    ids=range(6),
)
def test_events_on_what_is_read_are_told_from_their_json(event: Any, told: str, marked: list[bool]) -> None:
    described = event.to_json()
    again = json.loads(json.dumps(described, allow_nan=False))
    assert again == described
    assert in_words(again) == f"learned on other runs: {told}"
    assert event(OUTCOMES).tolist() == marked


def test_places_are_named_where_the_order_of_keys_may_tell() -> None:
    keys, items = {("a",), ("b",)}, {(0, 0), (0, 1), (1, 0), (1, 1)}
    sorted_one, other = (("a", 1), ("b", 2)), (("b", 2), ("a", 1))
    assert set(paths([sorted_one, sorted_one])) == set(paths([other, other])) == {(), *keys}
    assert set(paths([sorted_one], [other])) == set(paths([sorted_one, other])) == {(), *keys, *items}
    assert set(paths([sorted_one, (("a", 1),), (("b", 2), ("c", 3))])) == {(), *keys, ("c",)}
    assert set(paths([((sorted_one, 1),), ((other, 1),)])) >= {(0, 0, "a"), (0, 0, 0, 0)}


def test_items_of_equal_keys_are_named_by_their_places() -> None:
    assert set(paths([(("a", 1), ("a", 2))])) == {(), (0, 0), (0, 1), (1, 0), (1, 1)}
