"""A search climbs: variations of its best pairs lead to better ones, which fresh pairs hardly are."""

import math
import random
from statistics import median
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal import add_or_remove, change_one, within
from subnormal.audit.check.search import Pair, Ranking, search
from subnormal.audit.neighbours.choices import Choice
from subnormal.audit.neighbours.relations import pairs
from subnormal.audit.neighbours.variations import Choices, variation

RECORDS = st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 100)), max_size=20)
EXAMPLES, SEEDS = 120, range(1, 6)


def spread(data: list[tuple[float, int]]) -> float:
    """The sum of the records that lie far out: many of them at once are rare."""
    return math.fsum(number * abs(value) for value, number in data if abs(value) > 8 and number > 80)


def moved(pair: Pair) -> float:
    few, many = sorted(pair, key=len)
    return spread(few) if few == many[: len(few)] else 0.0


def climbed(seed: int, *, climbs: bool = True, **options: Any) -> Ranking:
    data = pairs(RECORDS, add_or_remove())
    return search(data, moved, seed=seed, seconds=600, examples=EXAMPLES, climbs=climbs, **options)


@pytest.fixture(scope="module")
def best() -> list[float]:
    return [climbed(seed).ranked[0][0] for seed in SEEDS]


def test_variations_lead_to_better_pairs_than_fresh_ones(best: list[float]) -> None:
    fresh = [climbed(seed, climbs=False).ranked[0][0] for seed in SEEDS]
    assert median(best) > 3 * median(fresh)  # 14,000 and 1,700; Hypothesis draws other pairs where other code is loaded


def test_the_same_seed_climbs_to_the_same_pairs(best: list[float]) -> None:
    again = [climbed(3), climbed(3)]
    assert again[0].ranked == again[1].ranked
    assert again[0].ranked[0][0] == best[2]
    assert again[0].examples <= EXAMPLES


def test_a_later_search_climbs_from_the_pairs_of_an_earlier_one(best: list[float]) -> None:
    best_choices = [choices for _, choices in climbed(3).parents[:4]]
    assert climbed(5, first=best_choices).ranked[0][0] > best[4]


def test_a_variation_that_convicts_is_made_smaller() -> None:
    convicting = list[Pair]()

    def score(pair: Pair) -> float:
        if moved(pair) < 4000:
            return moved(pair)
        convicting.append(pair)
        return math.inf

    found = search(pairs(RECORDS, add_or_remove()), score, seed=1, seconds=600, examples=2000, climbs=True)
    assert found.convicting is not None
    assert len(repr(found.convicting)) < len(repr(convicting[0])) / 2


def test_a_round_without_any_pair_ends_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    number = st.integers(0, 10**6).filter(lambda one: one % 2 == 0)
    odd = (Choice("integer", 7, {}),)
    monkeypatch.setattr("subnormal.audit.check.search.variation", lambda choices, source: odd)
    pair = st.tuples(number, st.just(-1))
    found = search(pair, lambda pair: float(pair[0]), seed=1, seconds=600, examples=100, climbs=True)
    assert found.examples > 50  # fresh ones follow


def test_first_pairs_that_are_no_neighbours_end_no_search() -> None:
    number = st.integers(0, 10**6)
    same = (Choice("integer", 7, {}),) * 2
    found = search(st.tuples(number, number), lambda _: 0.0, seed=1, seconds=600, examples=20, first=[same])
    assert found.examples == 20  # fresh ones follow


@pytest.mark.parametrize("relation", [add_or_remove(), change_one(), within(1)])
def test_a_domain_with_few_pairs_is_seen_whole(relation: Any) -> None:
    data = st.lists(st.integers(0, 1), min_size=1, max_size=2)
    seen = set[str]()
    search(pairs(data, relation), lambda pair: float(not seen.add(repr(pair))), seed=1, seconds=600, climbs=True)  # type: ignore[func-returns-value]
    sizes = {"add_or_remove": 2 * 8 - 2 * 2, "change_one": 2 + 8}
    assert len(seen) == sizes.get(relation.name, 2 + 12)


BOUNDS = {"min_value": 0, "max_value": 9, "weights": None, "shrink_towards": 0}


def row(*numbers: int) -> Choices:
    follows = Choice("boolean", True, {"p": 0.9})
    return (follows, *(Choice("integer", one, BOUNDS) for one in numbers))


END = (Choice("boolean", False, {"p": 0.9}),)


def variations(choices: Choices, many: int = 4000) -> set[str]:
    source = random.Random(1)
    made = [variation(choices, source) for _ in range(many)]
    return {"".join("ba"[one.value] if one.kind == "boolean" else str(one.value) for one in parts) for parts in made}


def test_rows_are_repeated_left_out_and_replaced_and_equal_numbers_move_alike() -> None:
    made = variations(row(1, 5) + row(2, 5) + END)
    assert {"a15a15a25b", "a15" + 4 * "a25" + "a25b", "a25b", "a15b", "a15a15b", "a25a25b"} <= made  # rows
    assert {"a16a26b", "a15a26b", "a10a20b", "a19a29b", "a12a22b", "a95a25b"} <= made  # numbers
    assert all(one.count("a") + one.count("b") >= 1 for one in made)
    assert not any(set(one) - set("ab0123456789") for one in made)


@pytest.mark.parametrize(
    "choices",
    [(), END, row(3), (Choice("bytes", b"x", {"min_size": 0, "max_size": 5}),)],
    ids=["none", "end", "row", "text"],
)
def test_choices_with_hardly_anything_to_vary_have_variations(choices: Choices) -> None:
    source = random.Random(1)
    for _ in range(200):
        variation(choices, source)
