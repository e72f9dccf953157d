"""Many small losses that add up: an input that moves all of them is far worse than one that moves a single one."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import stats

from benchmarks.adversary.laws import Law, binomial, cells, geometric, mapped, summed
from benchmarks.adversary.problem import BIT, problem, same, whole, wholes
from subnormal.audit.neighbours.relations import add_or_remove, change_one, within
from subnormal.mechanisms.privacy import Claim

STREAM = st.lists(st.booleans(), min_size=16, max_size=16)
FORTY = st.lists(st.integers(0, 50), min_size=40, max_size=40)
TWELVE = st.lists(st.integers(-20, 20), min_size=12, max_size=12)
HUNDRED = st.lists(st.floats(0, 1), min_size=100, max_size=100)
BLOCKS = [(start, size) for size in (1, 2, 4, 8, 16) for start in range(0, 16, size)]
OF_FIVE = [place for place, (start, size) in enumerate(BLOCKS) if start <= 5 < start + size]


def nearer(outcome: list[int], first: list[int], second: list[int], places: Any = None) -> int:
    """Return by how much the outcome is nearer to the first input's answers, in the sum of distances."""
    chosen = range(len(outcome)) if places is None else places
    return sum(abs(outcome[place] - second[place]) - abs(outcome[place] - first[place]) for place in chosen)


def nearness(scale: float, shift: int, count: int) -> tuple[Law, Law]:
    """Return the laws of `nearer` for so many answers, each of which moves by `shift`."""
    one = summed(*[mapped(geometric(scale), lambda noise: abs(noise + shift) - abs(noise))] * count)
    return one, mapped(one, lambda value: -value)


def blocks(stream: list[bool], scale: float) -> list[int]:
    """Return noisy sums of the blocks of a binary tree; a record is in five of them."""
    return [sum(stream[start : start + size]) + whole(scale) for start, size in BLOCKS]


def tree_counter(stream: list[bool]) -> list[int]:
    return blocks(stream, 1.0)


def forty_answers(values: list[int]) -> list[int]:
    """Return values with noise, as if neighbours differed in a single one."""
    return [value + noise for value, noise in zip(values, wholes(10.0, 40), strict=True)]


def differences_of_12(values: list[int]) -> list[int]:
    """Return the differences_of_12 of neighbours with noise, as if each moved by 1."""
    return [right - left + whole(4.0) for left, right in pairwise(values)]


def hundred_means(values: list[float]) -> list[float]:
    return (np.array(values) + np.random.normal(0.0, 4.0, 100)).round(4).tolist()  # type: ignore[no-any-return]


def bits_of_a_number(number: int) -> list[int]:
    """Return 20 bits, each wrong with probability .4."""
    return [int((number >> place & 1) ^ (np.random.random() < 0.4)) for place in range(20)]


def rows_of_a_user(rows: list[tuple[str, int]]) -> int:
    """Return a count of rows with the noise of one row for each user."""
    return len(rows) + whole(2.0)


def letters_of_a_text(bit: int) -> str:
    """Return a text of 40 letters, of which more are b where the bit is 1."""
    return "".join("b" if np.random.random() < (0.65 if bit else 0.4) else "a" for _ in range(40))


def mean_of_a_hundred(shift: float) -> Law:
    spread = stats.norm(shift * 10 / 4, 1.0)  # of the sum of outcomes, over 10 · 4
    return cells(spread.cdf, 0.04, -8.0, 11.0)


PROBLEMS = (
    problem(
        tree_counter,
        (STREAM, change_one(), Claim(1.0), ([place == 5 for place in range(16)], [False] * 16)),
        "the five blocks of the record are large, in sum",
        lambda outcome: nearer(outcome, [1] * 31, [0] * 31, OF_FIVE),
        lambda: nearness(1.0, 1, 5),
        lambda stream: blocks(stream, 5.0),
    ),
    problem(
        forty_answers,
        (FORTY, within(1), Claim(1.0), ([1] * 40, [0] * 40)),
        "all parts are large, in sum",
        lambda outcome: nearer(outcome, [1] * 40, [0] * 40),
        lambda: nearness(10.0, 1, 40),
        lambda values: [value + noise for value, noise in zip(values, wholes(40.0, 40), strict=True)],
    ),
    problem(
        differences_of_12,
        (TWELVE, within(1), Claim(2.75), ([1, 0] * 6, [0, 1] * 6)),
        "the differences fall and rise by turns",
        lambda outcome: nearer(outcome, [-1, 1] * 5 + [-1], [1, -1] * 5 + [1]),
        lambda: nearness(4.0, 2, 11),
        lambda values: [right - left + whole(8.0) for left, right in pairwise(values)],
    ),
    problem(
        hundred_means,
        (HUNDRED, within(1), Claim(2.0, 1e-5), ([1.0] * 100, [0.0] * 100)),
        "the sum of all parts is large",
        lambda outcome: math.floor(sum(outcome) / 40 / 0.04),
        lambda: (mean_of_a_hundred(1.0), mean_of_a_hundred(0.0)),
        error=0.4 * 100 * 0.5e-4 / 40,  # by rounding, times the density of a normal number
    ),
    problem(
        bits_of_a_number,
        (st.integers(0, 2**20 - 1), within(2**20), Claim(2.0), (2**20 - 1, 0)),
        "most bits are 1",
        sum,
        lambda: (binomial(20, 0.6), binomial(20, 0.4)),
        lambda number: [int((number >> place & 1) ^ (np.random.random() < 0.49)) for place in range(20)],
    ),
    problem(
        rows_of_a_user,
        (
            st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=12),
            add_or_remove(by=0, at_most=6),
            Claim(0.5),
            ([("a", 0)] * 6, []),
        ),
        "the count is large",
        same,
        lambda: (geometric(2.0, 6), geometric(2.0)),
        lambda rows: len(rows) + whole(12.0),
    ),
    problem(
        letters_of_a_text,
        BIT,
        "the text has many b",
        lambda outcome: outcome.count("b"),
        lambda: (binomial(40, 0.65), binomial(40, 0.4)),
        lambda bit: letters_of_a_text(0),
    ),
)
