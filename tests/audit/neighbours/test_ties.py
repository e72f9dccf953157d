"""What is drawn besides what Hypothesis draws: ties, long lists, and vectors whose entries move together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal.audit.check.search import search
from subnormal.audit.neighbours import choice_edits
from subnormal.audit.neighbours.choice_edits import with_ties
from subnormal.audit.neighbours.relations import add_or_remove, change_one, pairs, within
from tests.support.draws import drawn

EXAMPLES = 400
NUMBERS = st.lists(st.integers(-100, 100), max_size=12)


@st.composite
def bounds_and_records(draw: Any) -> tuple[int, list[int]]:
    high = draw(st.integers(1, 9))
    return high, draw(st.lists(st.integers(0, high), min_size=1, max_size=50))


COMPOSED = bounds_and_records()


def records(drawn: Any) -> Any:
    """Return the list inside."""
    return drawn[1] if isinstance(drawn, tuple) and len(drawn) == 2 and isinstance(drawn[1], list) else drawn


@pytest.mark.parametrize(
    ("strategy", "longest"),
    [
        (NUMBERS, 12),
        (st.lists(st.floats(0, 1), max_size=200), 200),
        (st.lists(st.text(max_size=3), min_size=9, max_size=9), 9),
        (NUMBERS.map(tuple), 12),
        (NUMBERS.filter(bool), 12),
        (st.tuples(st.integers(0, 9), st.lists(st.booleans(), max_size=30)), 30),
        (st.integers(3, 5).flatmap(lambda size: st.lists(st.integers(), min_size=size, max_size=40)), 40),
        (st.none() | NUMBERS, 12),
        (COMPOSED, 50),
    ],
    ids=repr,
)
def test_lists_of_equal_entries_are_drawn_up_to_the_longest(
    strategy: st.SearchStrategy[Any], longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice_edits, "OFTEN", 1)
    seen = drawn(with_ties(strategy), EXAMPLES)
    lists = [records(one) for one in seen if one is not None]
    assert any(len(set(one)) == 1 and len(one) == longest for one in lists)
    assert any(len(set(one)) == 2 and one.count(one[-1]) == 1 and len(one) > 4 for one in lists)
    assert any(len(set(one)) == 2 and one.count(one[-1]) == len(one) // 2 > 2 for one in lists)
    assert all(len(set(one)) <= 2 for one in lists)
    if strategy is COMPOSED:
        assert all(1 <= len(numbers) <= 50 and 0 <= min(numbers) <= max(numbers) <= high for high, numbers in seen)


def test_rows_are_alike_in_one_column_and_differ_in_others() -> None:
    """All records of one user, at several shops: by chance, six users of ten are one in 1 of 100,000 lists."""
    rows = st.lists(st.tuples(st.integers(0, 9), st.text("abc", max_size=2), st.floats(0, 1)), min_size=6)
    columns = [list(zip(*one, strict=True)) for one in drawn(with_ties(rows), 1200)]
    for alike, other, least in ((0, 2, 40), (1, 2, 4)):
        found = [one for one in columns if len(set(one[alike])) == 1 and len(set(one[other])) > 2]
        assert len(found) >= least


def test_most_lists_are_drawn_entry_by_entry() -> None:
    lists = drawn(with_ties(NUMBERS), EXAMPLES)
    assert len(lists) / 2 < sum(len(set(one)) == len(one) or len(set(one)) > 2 for one in lists) < len(lists)


def test_equal_entries_are_no_shared_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_edits, "OFTEN", 1)
    lists = drawn(with_ties(st.lists(st.lists(st.integers()), min_size=9, max_size=9)), EXAMPLES)
    assert lists
    assert all(len(set(map(id, one))) == 9 for one in lists)


def test_ties_that_convict_are_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_edits, "OFTEN", 1)

    def score(pair: Any) -> float:
        return math.inf if pair[0].count(7) > 50 else -math.inf

    found: Any = search(pairs(st.lists(st.integers(0, 9)), change_one()), score, seed=1, seconds=600, examples=500)
    assert len(found.convicting[0]) <= 64
    assert {7} <= set(found.convicting[0]) <= {0, 7}


MOVES: dict[str, Callable[[list[int]], bool]] = {
    "one entry": lambda steps: steps.count(0) == len(steps) - 1,
    "all alike": lambda steps: len(set(steps)) == 1,
    "one against the others": lambda steps: steps[-1] == -steps[0] and steps.count(steps[0]) == len(steps) - 1,
    "halves": lambda steps: steps == [steps[0]] * (len(steps) // 2) + [-steps[0]] * (len(steps) - len(steps) // 2),
    "each its own": lambda steps: len(set(steps)) == 3,
}


@pytest.mark.parametrize("tied", [False, True])
def test_neighbours_within_a_distance_move_in_every_way_by_all_of_it(
    tied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice_edits, "OFTEN", 1 if tied else 1 << 30)
    moved = [[other - one for one, other in zip(*pair, strict=True)] for pair in drawn(pairs(NUMBERS, within(7)), 200)]
    assert all(max(map(abs, steps)) <= 7 for steps in moved if steps)
    for name, is_so in MOVES.items():
        assert any(is_so(steps) and max(map(abs, steps)) == 7 for steps in moved if len(steps) > 3), name


@pytest.mark.parametrize(("norm", "share"), [("l1", 2.0), ("l2", 4.0)])
def test_what_moves_together_keeps_the_distance_of_another_norm(norm: Any, share: float) -> None:
    vectors = st.lists(st.floats(-100, 100), min_size=4, max_size=4)
    steps = [
        [abs(other - one) for one, other in zip(*pair, strict=True)]
        for pair in drawn(pairs(vectors, within(8.0, norm)), EXAMPLES)
    ]
    assert any(all(share / 2 < step <= share for step in one) for one in steps)


@pytest.mark.parametrize(
    "adjacent",
    [change_one(), add_or_remove(), within(1), lambda one, other: one != other, st.tuples(NUMBERS, NUMBERS)],
    ids=["change-one", "add-or-remove", "within", "predicate", "pairs"],
)
def test_every_relation_has_neighbours_with_ties(adjacent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_edits, "OFTEN", 1)
    assert all(min(len(set(one)) for one in pair) <= 3 for pair in drawn(pairs(NUMBERS, adjacent), 50))


@st.composite
def rising(draw: Any) -> tuple[float, float]:
    low = draw(st.floats(-1e18, 1e17))
    return low, draw(st.floats(low, 1e18, exclude_min=True))


RISING = rising()


@pytest.mark.parametrize(
    "strategy",
    [st.tuples(st.floats(-1e18, 1e18), st.floats(0, 1e18)), RISING, st.lists(st.floats(-9, 9), min_size=2, max_size=2)],
    ids=repr,
)
def test_a_float_is_close_to_the_one_before_it_now_and_then(strategy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_edits, "OFTEN", 1)
    seen = drawn(with_ties(strategy), EXAMPLES)
    assert strategy is not RISING or all(-1e18 <= low < high <= 1e18 for low, high in seen)
    ulps = {abs(high - low) / math.ulp(low) for low, high in seen}
    assert any(0 < far <= 16 for far in ulps)
    assert any(far > 1_000 for far in ulps)
