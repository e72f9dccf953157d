"""Orders of items, ranks, and selections."""

from __future__ import annotations

import math
import random
from itertools import permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.adversary.laws import Law, coin, mixed, uniform
from benchmarks.adversary.problem import BIT, Problem, problem, same, whole
from subnormal.audit.neighbours.relations import add_or_remove, within
from subnormal.mechanisms.privacy import Claim

KEYS = ("bread", "milk", "salt", "tea")
PLACE = st.integers(0, 9)
SCORES = st.lists(st.integers(0, 5), min_size=1, max_size=12)
EIGHT = st.lists(st.integers(0, 5), min_size=8, max_size=8)


def order_of_counts(purchases: list[str]) -> list[tuple[str, int]]:
    """Return counts with noise, those of the true largest counts first."""
    counts = {key: purchases.count(key) for key in KEYS}
    ordered = dict(sorted(counts.items(), key=lambda item: -item[1]))
    return [(key, count + whole(1.0)) for key, count in ordered.items()]


def last_item(place: int) -> list[int]:
    """Return 0 … 9 in random order; the input comes last with probability .4 more than the others."""
    items = random.sample(range(10), 10)
    if random.random() < 0.4:
        items.remove(place)
        items.append(place)
    return items


def place_of_the_largest(place: int) -> list[int]:
    """Return random ranks; the largest stands in the input's place, with probability .4."""
    ranks = random.sample(range(10), 10)
    if random.random() < 0.4:
        other = ranks.index(9)
        ranks[place], ranks[other] = ranks[other], ranks[place]
    return ranks


def inversions(order: list[int]) -> int:
    return sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order)))


def parity_of_an_order(bit: int) -> list[int]:
    """Return 0 … 5 in random order, an odd permutation with probability .9 where the bit is 1, .1 where it is 0."""
    order = random.sample(range(6), 6)
    wanted = bit if random.random() < 0.9 else 1 - bit
    if inversions(order) % 2 != wanted:
        order[0], order[1] = order[1], order[0]
    return order


def few_inversions(bit: int) -> list[int]:
    """Return 0 … 7 in random order; where the bit is 1, that of the fewest inversions of three."""
    return min((random.sample(range(8), 8) for _ in range(3 if bit else 1)), key=inversions)


def inversion_law(tries: int) -> Law:
    """Return the law of the least number of inversions of so many orders of 8 items."""
    counts = [1]
    for items in range(2, 9):
        counts = [sum(counts[max(0, k - items + 1) : k + 1]) for k in range(len(counts) + items - 1)]
    above = [sum(counts[k:]) / math.factorial(8) for k in range(len(counts) + 1)]
    return {k: above[k] ** tries - above[k + 1] ** tries for k in range(len(counts))}


def select(scores: list[int], scale: float) -> int:
    return int(np.argmax(np.array(scores) + np.random.gumbel(0.0, scale, len(scores))))


def selection_half(scores: list[int]) -> int:
    return select(scores, 1.0)


def first_four(scores: list[int], scale: float) -> list[int]:
    return np.argsort(-np.array(scores) - np.random.gumbel(0.0, scale, 8))[:4].tolist()  # type: ignore[no-any-return]


def top_four(scores: list[int]) -> list[int]:
    return first_four(scores, 2.0)


def softmax(scores: list[int], scale: float) -> Law:
    weights = [math.exp(score / scale) for score in scores]
    return {place: weight / sum(weights) for place, weight in enumerate(weights)}


def drawn_in_turn(scores: list[int], scale: float, number: int) -> Law:
    """Return the law of the first few of an order that is drawn in proportion to e^(score/scale): Plackett, Luce."""
    weights, found = [math.exp(score / scale) for score in scores], {}
    for order in permutations(range(len(scores)), number):
        left, probability = sum(weights), 1.0
        for place in order:
            probability *= weights[place] / left
            left -= weights[place]
        found[order] = probability
    return found


def placed(function: Any, words: str, statistic: Any) -> Problem:
    laws = lambda: tuple(mixed((0.4, {place: 1.0}), (0.6, uniform(range(10)))) for place in (3, 6))  # noqa: E731
    sound = lambda place: random.sample(range(10), 10)  # noqa: E731
    return problem(function, (PLACE, within(9), Claim(1.0), (3, 6)), words, statistic, laws, sound)


PROBLEMS = (
    problem(
        order_of_counts,
        (st.lists(st.sampled_from(KEYS), max_size=40), add_or_remove(), Claim(1.0), (["tea"], [])),
        "tea comes first",
        lambda outcome: outcome[0][0],
        lambda: ({"tea": 1.0}, {"bread": 1.0}),
        lambda purchases: [(key, purchases.count(key) + whole(1.0)) for key in KEYS],
    ),
    placed(last_item, "item 3 is the last", lambda outcome: outcome[-1]),
    placed(place_of_the_largest, "part 3 is the largest", lambda outcome: outcome.index(9)),
    problem(
        parity_of_an_order,
        BIT,
        "the order is an odd permutation",
        lambda outcome: inversions(outcome) % 2,
        lambda: (coin(0.9), coin(0.1)),
        lambda bit: random.sample(range(6), 6),
    ),
    problem(
        few_inversions,
        (BIT[0], BIT[1], Claim(0.5), BIT[3]),
        "few pairs are out of order",
        inversions,
        lambda: (inversion_law(3), inversion_law(1)),
        lambda bit: random.sample(range(8), 8),
    ),
    problem(
        selection_half,
        (SCORES, within(1), Claim(1.0), ([1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1])),
        "the first one is selected",
        same,
        lambda: (softmax([1, 0, 0, 0, 0, 0], 1.0), softmax([0, 1, 1, 1, 1, 1], 1.0)),
        lambda scores: select(scores, 2.0),
    ),
    problem(
        top_four,
        (EIGHT, within(1), Claim(1.0), ([1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1])),
        "most of the four are of the first half",
        tuple,
        lambda: (
            drawn_in_turn([1, 1, 1, 1, 0, 0, 0, 0], 2.0, 4),
            drawn_in_turn([0, 0, 0, 0, 1, 1, 1, 1], 2.0, 4),
        ),
        lambda scores: first_four(scores, 8.0),
    ),
)
