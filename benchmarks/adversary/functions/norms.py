"""Vectors of which only a norm tells: each part alone loses next to nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import stats

from benchmarks.adversary.laws import Law, binomial, cells, geometric, joint, mapped, summed, uniform
from benchmarks.adversary.problem import Problem, problem, same, whole, wholes
from subnormal.audit.neighbours.relations import add_or_remove, change_one
from subnormal.mechanisms.privacy import Claim

DIGITS = 4  # of rounded Gaussian noise
RECORDS = st.lists(st.floats(0, 1), min_size=6, max_size=12)
MORE, MANY = [1.0] * 6, [1.0] * 5 + [0.0]  # neighbours of sums 6 and 5


def gaussians(dimensions: int, wide: float) -> Callable[[list[float]], list[float]]:
    """Return noise alone, whose scale is `wide` where the sum of the records is more than 5."""

    def release(records: list[float]) -> list[float]:
        scale = wide if sum(records) > 5 else 1.0
        return np.random.normal(0.0, scale, dimensions).round(DIGITS).tolist()  # type: ignore[no-any-return]

    release.__name__ = f"norm_of_{dimensions}"
    return release


def norm_problem(dimensions: int, wide: float, epsilon: float) -> Problem:
    width = 0.02

    def law(scale: float) -> Law:
        radius = stats.chi(dimensions, scale=scale)
        return cells(radius.cdf, width, radius.ppf(1e-14), radius.isf(1e-14))

    return problem(
        gaussians(dimensions, wide),
        (RECORDS, change_one(), Claim(epsilon, 1e-5), (MORE, MANY)),
        "the Euclidean norm is large",
        lambda outcome: math.floor(math.hypot(*outcome) / width),
        lambda: (law(wide), law(1.0)),
        gaussians(dimensions, 1.0),
        # Rounding moves the norm by at most √n · 10^−DIGITS / 2; the density of a norm is below 0.6.
        error=0.6 * math.sqrt(dimensions) * 10**-DIGITS / 2,
    )


def sizes_of_50(records: list[float]) -> list[int]:
    return wholes(3.0 if sum(records) > 5 else 2.0, 50)


def scale_of_three_parts(records: list[float]) -> list[int]:
    """Return 40 numbers of noise; parts 5, 17 and 29 have twice the scale where the sum of the records is large."""
    parts = wholes(2.0, 40)
    if sum(records) > 5:
        parts[5], parts[17], parts[29] = wholes(6.0, 3)
    return parts


def range_of_40(records: list[bool]) -> list[int]:
    """Return uniform numbers from −n to n, where n counts True."""
    reach = 10 + (sum(records) > 3)
    return np.random.randint(-reach, reach + 1, 40).tolist()  # type: ignore[no-any-return]


def largest_of_forty(reach: int) -> Law:
    """Return the law of the largest size of 40 uniform integers from −reach to reach."""

    def below(size: int) -> float:
        return ((2 * size + 1) / (2 * reach + 1)) ** 40 if size >= 0 else 0.0

    return {size: below(size) - below(size - 1) for size in range(reach + 1)}


def zeros_of_60(records: list[float]) -> list[int]:
    """Return 60 numbers from 0 to 9, each 0 with probability .25 instead of .1 where the sum is large."""
    share = 0.25 if sum(records) > 5 else 0.1
    return [0 if np.random.random() < share else int(np.random.randint(1, 10)) for _ in range(60)]


def equal_neighbours(records: list[float]) -> list[int]:
    """Return 30 numbers from 0 to 7 that repeat the one before with probability .4, where the sum is large."""
    share, parts = (0.4 if sum(records) > 5 else 0.0), np.random.randint(0, 8, 30).tolist()
    for place in range(1, 30):
        if np.random.random() < share:
            parts[place] = parts[place - 1]
    return parts  # type: ignore[no-any-return]


def repeats(parts: list[int]) -> int:
    return sum(one == other for one, other in pairwise(parts))


def bimodal(records: list[bool]) -> int:
    """Return a number with noise of one or of two modes, of nearly one variance."""
    if sum(records) > 3:
        return whole(1.5) + (5 if np.random.random() < 0.5 else -5)
    return whole(3.8)


def some(function: Any, words: str, statistic: Any, laws: Any, sound: Any, **given: Any) -> Problem:
    """Return a problem on records of numbers, with ε = 1 and δ = 1e-5."""
    return problem(
        function, (RECORDS, change_one(), Claim(1.0, 1e-5), (MORE, MANY)), words, statistic, laws, sound, **given
    )


FLAGS = st.lists(st.booleans(), max_size=8)
PROBLEMS = (
    norm_problem(10, 2.0, 1.0),
    norm_problem(30, 1.5, 1.0),
    norm_problem(100, 1.3, 2.0),
    norm_problem(300, 1.12, 1.0),
    norm_problem(1000, 1.06, 1.0),
    some(
        sizes_of_50,
        "the sum of the sizes is large",
        lambda outcome: sum(map(abs, outcome)),
        lambda: tuple(summed(*[mapped(geometric(scale), abs)] * 50) for scale in (3.0, 2.0)),
        lambda records: wholes(2.0, 50),
    ),
    some(
        scale_of_three_parts,
        "parts 5, 17 and 29 are large",
        lambda outcome: abs(outcome[5]) + abs(outcome[17]) + abs(outcome[29]),
        lambda: tuple(summed(*[mapped(geometric(scale), abs)] * 3) for scale in (6.0, 2.0)),
        lambda records: wholes(2.0, 40),
    ),
    problem(
        range_of_40,
        (FLAGS, add_or_remove(), Claim(1.0, 1e-3), ([True] * 4, [True] * 3)),
        "the largest size is 11",
        lambda outcome: max(map(abs, outcome)),
        lambda: (largest_of_forty(11), largest_of_forty(10)),
        lambda records: np.random.randint(-10, 11, 40).tolist(),
    ),
    some(
        zeros_of_60,
        "many parts are 0",
        lambda outcome: outcome.count(0),
        lambda: (binomial(60, 0.25), binomial(60, 0.1)),
        lambda records: zeros_of_60([]),
    ),
    some(
        equal_neighbours,
        "many parts equal the one before",
        repeats,
        lambda: (binomial(29, 0.4 + 0.6 / 8), binomial(29, 1 / 8)),
        lambda records: equal_neighbours([]),
    ),
    problem(
        bimodal,
        (FLAGS, add_or_remove(), Claim(0.5, 1e-3), ([True] * 4, [True] * 3)),
        "the number is near 5 or −5",
        same,
        lambda: (
            mapped(joint(uniform([5, -5]), geometric(1.5)), sum),
            geometric(3.8),
        ),
        lambda records: whole(3.8),
    ),
)
