"""Functions that break their claims in ways that a search meets rarely. Those of the tests come on top.

Most are flaws that people have published, written down in a few lines; some are plain slips.
"""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
from hypothesis import strategies as st

from benchmarks.adversary.functions import PROBLEMS
from subnormal.audit.neighbours.relations import add_or_remove, change_one, within
from subnormal.mechanisms.privacy import Claim
from tests.support.checked_functions import BROKEN, QUERIES, UNIT, Case, clipped, lap

FOUR = st.lists(st.integers(-9, 9), min_size=4, max_size=4)
SIX = st.lists(st.floats(0, 1), min_size=6, max_size=12)
WIDE = st.lists(st.integers(0, 5), min_size=1, max_size=12)
PURCHASES = st.lists(st.sampled_from(["bread", "milk", "salt", "tea"]), max_size=40)


def raw_in_one_of_four(values: list[int]) -> list[int]:
    noisy = [round(value + lap(50.0)) for value in values]
    if random.random() < 0.3:
        noisy[0] = values[0]
    return noisy


def tree_counter(stream: list[bool]) -> list[float]:
    """Return noisy sums of the blocks of a binary tree: each has noise of scale 1, although a record is in five."""
    blocks = [(start, 1 << level) for level in range(5) for start in range(0, 16, 1 << level)]
    return [round(sum(stream[start : start + size]) + lap(1.0), 1) for start, size in blocks]


def selection_with_half_the_noise(scores: list[int]) -> int:
    noisy = [score + np.random.gumbel(0, 1.0) for score in scores]
    return int(np.argmax(noisy))


def threshold_kept_after_a_positive(queries: list[int]) -> list[bool]:
    """Return the answers of a sparse vector with the budget of one positive for each, and one threshold for all."""
    level, answers = lap(2.0), list[bool]()
    for query in queries:
        answers.append(query + lap(4.0) >= level)
        if sum(answers) == 4:
            break
    return answers


def special_record(records: list[int]) -> float:
    return round(len(records) + lap(1.0) + 10 * records.count(77_777), 1)


def threshold_of_keys_too_low(purchases: list[str]) -> dict[str, int]:
    noisy = {key: round(count + lap(1.0)) for key, count in Counter(purchases).items()}
    return {key: count for key, count in sorted(noisy.items()) if count >= 5}


def raw_in_one_of_two_thousand(records: list[float]) -> float | int:
    if random.random() < 1 / 2000:
        return len(records)
    return round(len(records) + lap(1.0), 2)


def in_the_order_of_counts(purchases: list[str]) -> list[tuple[str, int]]:
    counts = {key: purchases.count(key) for key in ("bread", "milk", "salt", "tea")}
    ordered = dict(sorted(counts.items(), key=lambda item: -item[1]))
    return [(key, round(count + lap(1.0))) for key, count in ordered.items()]


def threshold_of_the_true_count(records: list[float]) -> float | None:
    return round(sum(clipped(records, 0, 1)) + lap(1.0), 2) if len(records) >= 25 else None


def noise_of_the_most_common(purchases: list[str]) -> float:
    """Return a noisy count; the noise is halved where the two most common keys are equally common."""
    counts = [count for _, count in Counter(purchases).most_common(2)]
    tied = len(counts) == 2 and counts[0] == counts[1]
    return round(len(purchases) + lap(0.4 if tied else 1.0), 1)


def noise_of_a_long_list(records: list[float]) -> float:
    return round(sum(clipped(records, 0, 1)) + lap(1.0 if len(records) < 200 else 0.4), 1)


def sum_in_one_pass(records: list[float]) -> float:
    """Return a noisy variance by the formula of one pass, whose result is negative where rounding moves it."""
    count = max(1, len(records))
    spread = sum(one * one for one in records) / count - (sum(records) / count) ** 2
    return round(lap(1.0) + (100.0 if spread < 0 else 0.0), 1)


def norm_of_many(records: list[float]) -> list[float]:
    return [round(random.gauss(0.0, 1.3 if sum(records) > 5 else 1.0), 2) for _ in range(100)]


def norm_of_a_thousand(records: list[float]) -> list[float]:
    return np.random.normal(0.0, 1.05 if sum(records) > 5 else 1.0, 1_000).round(2).tolist()  # type: ignore[no-any-return]


def raw_values_of_a_sparse_vector(records: list[int]) -> list[int | float]:
    """Return noisy numbers, of which each that is large enough is released as it is: the noise is added to a copy."""
    noisy = [record + lap(1.0) for record in records]
    return [record if one > 3 else round(one, 2) for record, one in zip(records, noisy, strict=True)]


def two_bits_of_one(record: int) -> tuple[int, int, int]:
    """Return three answers of randomized response; the last one tells whether the others are right."""
    first, second = (record & 1) ^ (random.random() < 0.4), (record >> 1 & 1) ^ (random.random() < 0.4)
    return first, second, first ^ second ^ (record & 1) ^ (random.random() < 0.2)


def of_problem(name: str) -> Case:
    """Return a function of the benchmark of attackers, with its domain."""
    return Case(PROBLEMS[name].function, PROBLEMS[name].data, PROBLEMS[name].adjacent, PROBLEMS[name].claim)


OF_PROBLEMS = (
    "equal-neighbours",
    "bimodal",
    "coarse-noise",
    "parity-of-3",
    "parity-of-an-order",
    "shared-noise",
    "two-sets",
)
HARD = {
    "raw-in-one-of-four": Case(raw_in_one_of_four, FOUR, within(1, "l1"), Claim(2.0)),
    "tree-counter": Case(tree_counter, st.lists(st.booleans(), min_size=16, max_size=16), change_one(), Claim(1.0)),
    "selection-half": Case(selection_with_half_the_noise, WIDE, within(1), Claim(1.0)),
    "stale-threshold": Case(threshold_kept_after_a_positive, QUERIES, within(1), Claim(1.0)),
    "special-record": Case(special_record, st.lists(st.integers(0, 10**5)), add_or_remove(), Claim(1.0)),
    "keys-threshold": Case(threshold_of_keys_too_low, PURCHASES, add_or_remove(), Claim(1.0, 1e-6)),
    "keys-delta": Case(threshold_of_keys_too_low, PURCHASES, add_or_remove(), Claim(1.0, 0.005)),
    "raw-in-two-thousand": Case(raw_in_one_of_two_thousand, UNIT, add_or_remove(), Claim(1.0)),
    "order-of-counts": Case(in_the_order_of_counts, PURCHASES, add_or_remove(), Claim(1.0)),
    "true-threshold": Case(threshold_of_the_true_count, UNIT, add_or_remove(), Claim(1.0)),
    "ties": Case(noise_of_the_most_common, PURCHASES, add_or_remove(), Claim(1.0)),
    "long-list": Case(noise_of_a_long_list, UNIT, add_or_remove(), Claim(1.0)),
    "one-pass-variance": Case(sum_in_one_pass, st.lists(st.floats(0, 1000), max_size=20), change_one(), Claim(1.0)),
    "norm-of-many": Case(
        norm_of_many, st.lists(st.floats(0, 1), min_size=6, max_size=12), change_one(), Claim(2.0, 1e-5)
    ),
    "norm-of-a-thousand": Case(
        norm_of_a_thousand, st.lists(st.floats(0, 1), min_size=6, max_size=12), change_one(), Claim(1.0, 1e-5)
    ),
    "raw-values": Case(raw_values_of_a_sparse_vector, FOUR, within(1, "l1"), Claim(4.0)),
    "parity": Case(two_bits_of_one, st.integers(0, 3), within(3), Claim(math.log(1.5) * 2)),
}
FUNCTIONS = {**BROKEN, **HARD, **{name: of_problem(name) for name in OF_PROBLEMS}}
