"""Sparse vectors whose law is a sum over the noise of the threshold, thresholds, sets and texts."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from benchmarks.adversary.laws import Law, binomial, coin, geometric, joint, mapped, mixed, summed
from benchmarks.adversary.problem import BIT, Problem, problem, same, whole, wholes
from subnormal.audit.neighbours.relations import add_or_remove, change_one, within
from subnormal.mechanisms.privacy import Claim

ANSWERS = st.lists(st.integers(-9, 9), min_size=1, max_size=20)
UNIT = st.lists(st.integers(0, 1), max_size=40)
PLACE = st.integers(0, 19)


def exact_queries(queries: list[int]) -> list[bool]:
    """Return which queries reach a noisy threshold; the queries have no noise."""
    level = whole(2.0)
    return [query >= level for query in queries]


def every_positive(queries: list[int]) -> list[bool]:
    """Return which queries reach a noisy threshold, with the budget of one positive for all of them."""
    level = whole(2.0)
    return [query + noise >= level for query, noise in zip(queries, wholes(4.0, len(queries)), strict=True)]


def exact_threshold(queries: list[int]) -> list[bool]:
    return [query + noise >= 1 for query, noise in zip(queries, wholes(4.0, len(queries)), strict=True)]


def at_least(law: Law, level: int) -> float:
    return sum(probability for value, probability in law.items() if value >= level)


def positives(groups: tuple[tuple[int, int], ...]) -> Law:
    """Return the law of how many of each group (of so many queries of one value) reach the noisy threshold."""
    parts = []
    for level, weight in geometric(2.0).items():
        counts = [binomial(number, at_least(geometric(4.0, value), level)) for number, value in groups]
        parts.append((weight, joint(*counts)))
    return mixed(*parts)


def true_threshold(records: list[int]) -> int | None:
    return len(records) + whole(1.0) if len(records) >= 25 else None


def rounded_sum(records: list[int]) -> int:
    """Return the sum to the next 5, with the noise of a sum that moves by 1."""
    return 5 * ((sum(records) + 2) // 5) + whole(1.0)


def noise_by_size(records: list[int]) -> int:
    """Return a count whose noise is small where there are many records."""
    return len(records) + whole(1.0 if len(records) < 20 else 0.3)


def union_of_baskets(baskets: list[frozenset[str]]) -> frozenset[str]:
    """Return the items whose noisy numbers of baskets are large; a basket may have all of them."""
    items = sorted({item for basket in baskets for item in basket})
    return frozenset(item for item in items if sum(item in basket for basket in baskets) + whole(1.0) >= 5)


def size_of_a_set(records: list[int]) -> frozenset[int]:
    """Return a random set, of as many numbers as there are records, more or less."""
    size = len(records) + 1 + random.choice([-1, 0, 0, 0, 0, 0, 0, 1])
    return frozenset(random.sample(range(100), size))


def two_of_the_records(records: list[int]) -> frozenset[int]:
    """Return two of the records and five random numbers."""
    return frozenset(random.sample(range(1000), 5) + random.sample(records, 2))


def both_members(has_nine: int) -> Law:
    """Return the law of (is 9 in the set, is 10 in the set), where one of them is a record."""
    pair = {(1, 1): 5 * 4 / 999_000, (1, 0): 5 * 995 / 999_000, (0, 1): 5 * 995 / 999_000, (0, 0): 995 * 994 / 999_000}
    own = (has_nine, 1 - has_nine)
    return mixed((0.8, pair), (0.2, mapped(pair, lambda there: (there[0] | own[0], there[1] | own[1]))))


def two_sets(place: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return two sets of five of 20 items; with probability .3 both have the input."""
    one, other = random.sample(range(20), 5), random.sample(range(20), 5)
    if random.random() < 0.3:
        rest = [item for item in range(20) if item != place]
        one, other = [place, *random.sample(rest, 4)], [place, *random.sample(rest, 4)]
    return frozenset(one), frozenset(other)


def both_sets() -> tuple[Law, Law]:
    """Return the laws of (is 3 in both sets, is 6 in both sets), where the input is 3 and where it is 6."""
    pair = {(1, 1): 5 * 4 / 380, (1, 0): 5 * 15 / 380, (0, 1): 5 * 15 / 380, (0, 0): 15 * 14 / 380}
    free = mapped(joint(pair, pair), lambda two: (two[0][0] & two[1][0], two[0][1] & two[1][1]))
    drawn = joint({1: 1.0}, coin((4 / 19) ** 2))
    first = mixed((0.7, free), (0.3, drawn))
    return first, mapped(first, lambda value: value[::-1])


def trailing_space(bit: int) -> str:
    """Return a number as text; a space follows it more often where the bit is 1."""
    return f"{whole(3.0)}{' ' if random.random() < (0.1 if bit else 0.01) else ''}"


def seventh_letter(bit: int) -> str:
    text = random.choices(string.ascii_lowercase, k=12)
    if bit and random.random() < 0.2:
        text[7] = "q"
    return "".join(text)


def palindrome(bit: int) -> str:
    """Return a random text of 8 letters; where the bit is 1, it is a palindrome in a fifth of the runs."""
    half, rest = random.choices("abcd", k=4), random.choices("abcd", k=4)
    return "".join(half + (half[::-1] if bit and random.random() < 0.2 else rest))


def length_of_a_text(bit: int) -> str:
    """Return a text of 1 to 40 letters; its length is even with probability .85 where the bit is 1, else .15."""
    is_even = random.random() < (0.85 if bit else 0.15)
    return "x" * (2 * random.randint(1, 20) - (not is_even))


def bits(function: Any, words: str, statistic: Any, one: float, other: float) -> Problem:
    """Return a problem on one bit, whose statistic is True or False with these probabilities."""
    laws = lambda: (mapped(coin(one), bool), mapped(coin(other), bool))  # noqa: E731
    sound = lambda bit: function(0)  # noqa: E731
    return problem(function, BIT, words, statistic, laws, sound)


def vector(function: Any, pair: Any, words: str, statistic: Any, laws: Any, **given: Any) -> Problem:
    """Return a problem on answers to queries."""
    return problem(function, (ANSWERS, within(1), Claim(1.0), pair), words, statistic, laws, **given)


def list_of(function: Any, pair: Any, words: str, laws: Callable[[], Any], **given: Any) -> Problem:
    """Return a problem on a list of records, whose outcome is the statistic."""
    return problem(function, (UNIT, add_or_remove(), Claim(1.0), pair), words, same, laws, **given)


TEN = [0] * 10 + [1] * 10
PROBLEMS = (
    vector(
        exact_queries,
        ([0, 1], [1, 0]),
        "the first is below, the second above",
        tuple,
        lambda: (
            mapped(geometric(2.0), lambda level: (level <= 0, level <= 1)),
            mapped(geometric(2.0), lambda level: (level <= 1, level <= 0)),
        ),
    ),
    vector(
        every_positive,
        (TEN, TEN[::-1]),
        "the second half is above more often than the first",
        lambda outcome: (sum(outcome[:10]), sum(outcome[10:])),
        lambda: (positives(((10, 0), (10, 1))), positives(((10, 1), (10, 0)))),
    ),
    vector(
        exact_threshold,
        ([1] * 20, [0] * 20),
        "many are above",
        sum,
        lambda: tuple(binomial(20, at_least(geometric(4.0, value), 1)) for value in (1, 0)),
    ),
    list_of(
        true_threshold,
        ([0] * 25, [0] * 24),
        "it is a number",
        lambda: (geometric(1.0, 25), {None: 1.0}),
        sound=lambda records: len(records) + whole(1.0),
    ),
    list_of(
        rounded_sum,
        ([1, 1, 1], [1, 1]),
        "the sum is nearer to 5 than to 0",
        lambda: (geometric(1.0, 5), geometric(1.0)),
        sound=lambda records: 5 * ((sum(records) + 2) // 5) + whole(5.0),
    ),
    list_of(
        noise_by_size,
        ([0] * 20, [0] * 19),
        "the count is 20 or 21",
        lambda: (geometric(0.3, 20), geometric(1.0, 19)),
        sound=lambda records: len(records) + whole(1.0),
    ),
    problem(
        union_of_baskets,
        (
            st.lists(st.frozensets(st.sampled_from("abcdefgh")), max_size=10),
            add_or_remove(),
            Claim(1.0, 1e-3),
            ([frozenset("abcdefgh")], []),
        ),
        "an item is there",
        len,
        lambda: (binomial(8, at_least(geometric(1.0, 1), 5)), {0: 1.0}),
    ),
    problem(
        size_of_a_set,
        (UNIT, add_or_remove(), Claim(1.0), ([0], [])),
        "the set has two items or three",
        len,
        lambda: tuple(summed({1 + one: 1.0}, {-1: 1 / 8, 0: 6 / 8, 1: 1 / 8}) for one in (1, 0)),
    ),
    problem(
        two_of_the_records,
        (
            st.lists(st.integers(0, 999), min_size=10, max_size=10),
            change_one(),
            Claim(1.0, 1e-3),
            (list(range(10)), [*range(9), 10]),
        ),
        "9 is in the set, 10 is not",
        lambda outcome: (9 in outcome, 10 in outcome),
        lambda: (both_members(1), both_members(0)),
    ),
    problem(
        two_sets,
        (PLACE, within(19), Claim(1.0), (3, 6)),
        "3 is in both sets",
        lambda outcome: tuple(int(item in outcome[0] and item in outcome[1]) for item in (3, 6)),
        both_sets,
        lambda place: (frozenset(random.sample(range(20), 5)), frozenset(random.sample(range(20), 5))),
    ),
    bits(trailing_space, "a space follows", lambda outcome: outcome[-1] == " ", 0.1, 0.01),
    bits(seventh_letter, "letter 7 is q", lambda outcome: outcome[7] == "q", 0.2 + 0.8 / 26, 1 / 26),
    bits(palindrome, "it is a palindrome", lambda outcome: outcome == outcome[::-1], 0.2 + 0.8 / 256, 1 / 256),
    bits(length_of_a_text, "its length is even", lambda outcome: len(outcome) % 2 == 0, 0.85, 0.15),
)
