"""Values that are released as they are, seldom or in one part of many; and rare events."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.adversary.laws import Law, coin, geometric, joint, mapped, mixed
from benchmarks.adversary.problem import Problem, problem, same, whole, wholes
from subnormal.audit.neighbours.relations import add_or_remove, change_one, within
from subnormal.mechanisms.privacy import Claim

FOUR = st.lists(st.integers(-9, 9), min_size=4, max_size=4)
SIXTEEN = st.lists(st.integers(0, 20), min_size=16, max_size=16)
TWELVE = st.lists(st.integers(-5, 5), min_size=12, max_size=12)
NUMBER = st.integers(0, 99_999)
UNIT = st.lists(st.integers(0, 1), max_size=30)


def noisy(values: list[int], scale: float) -> list[int]:
    return [value + noise for value, noise in zip(values, wholes(scale, len(values)), strict=True)]


def raw_part_of_4(values: list[int]) -> list[int]:
    released = [value + whole(50.0) for value in values]
    if random.random() < 0.3:
        released[0] = values[0]
    return released


def raw_part_of_16(values: list[int]) -> list[int]:
    released = noisy(values, 30.0)
    if np.random.random() < 0.1:
        released[11] = values[11]
    return released


def two_raw_parts(values: list[int]) -> list[int]:
    released = noisy(values, 12.0)
    if np.random.random() < 0.03:
        released[2], released[5] = values[2], values[5]
    return released


def beside(value: int) -> int:
    """Return −1, 0, 1 or 2 for a value below 0, 0, 1 or above: the ratio of two laws of noise depends on no more."""
    return min(max(value, -1), 2)


def raw_anywhere(number: int) -> list[int]:
    """Return 12 decoys, and with probability .05 the number in the place of one of them."""
    decoys = np.random.randint(0, 100_000, 12).tolist()
    if np.random.random() < 0.05:
        decoys[np.random.randint(12)] = number
    return decoys  # type: ignore[no-any-return]


def anywhere() -> tuple[Law, Law]:
    """Return the laws of (is 7 there, is 8 there), where the number is 7 and where it is 8."""
    n = 100_000

    def decoys(count: int) -> Law:
        none, seven_not = (1 - 2 / n) ** count, (1 - 1 / n) ** count
        one = seven_not - none
        return {(0, 0): none, (1, 0): one, (0, 1): one, (1, 1): 1 - none - 2 * one}

    seven = mixed((0.95, decoys(12)), (0.05, mapped(decoys(11), lambda there: (1, there[1]))))
    return seven, mapped(seven, lambda there: there[::-1])


def coarse_noise(values: list[int]) -> list[int]:
    """Return values with noise, of which half is a multiple of 5: part 1 alone."""
    released = noisy(values, 20.0)
    if np.random.random() < 0.5:
        released[1] = values[1] + 5 * whole(4.0)
    return released


def shared_noise(values: list[int]) -> list[int]:
    """Return values with noise; parts 3 and 9 have the same."""
    released = noisy(values, 12.0)
    released[9] = released[3] - values[3] + values[9]
    return released


def raw_as_text(records: list[int]) -> int | str:
    return str(sum(records)) if random.random() < 1 / 200 else sum(records) + whole(1.0)


def raw_where_large(values: list[int]) -> list[int]:
    """Return values with noise; a part whose noise is more than 60 is released as it is."""
    noise = wholes(20.0, 4)
    return [value if one > 60 else value + one for value, one in zip(values, noise, strict=True)]


def large_noise(value: int) -> Law:
    return mixed((1.0, mapped(geometric(20.0), lambda noise: value if noise > 60 else value + noise)))


def raw_in_500(records: list[int]) -> int:
    return -1000 - len(records) if random.random() < 1 / 500 else len(records) + whole(1.0)


def raw_in_2000(records: list[int]) -> int:
    return -1000 - len(records) if random.random() < 1 / 2000 else len(records) + whole(1.0)


def fails_seldom(records: list[int]) -> int:
    if 20 in records and random.random() < 0.01:
        raise ValueError("20")
    return 16 + whole(1.0)


def rare_key(records: list[int]) -> dict[str, int]:
    """Return a count with noise; a key is there with a probability that depends on the count of 1."""
    released = {"count": len(records) + whole(2.0)}
    if np.random.random() < (0.013 if sum(records) > 3 else 0.0049):
        released["more"] = 1
    return released


def special_record(records: list[int]) -> int:
    return len(records) + whole(1.0) + (5 if 54_321 in records else 0)


def keys_above_5(purchases: list[str]) -> dict[str, int]:
    counts = {key: count + whole(1.0) for key, count in Counter(purchases).items()}
    return {key: count for key, count in sorted(counts.items()) if count >= 5}


def of_part(part: int) -> Any:
    return lambda outcome: outcome[part]


def vector(function: Any, data: Any, place: int, law: Any, statistic: Any, words: str, **given: Any) -> Any:
    """Return a problem whose pair is 0 everywhere, and 1 in one place."""
    length = {FOUR: 4, SIXTEEN: 16, TWELVE: 12}[data]
    pair = [0] * length, [int(each == place) for each in range(length)]
    laws = lambda: (law(0), law(1))  # noqa: E731
    return problem(function, (data, within(1, "l1"), given.pop("claim"), pair), words, statistic, laws, **given)


def raw_count(share: float, count: int) -> Law:
    """Return the law of a count with noise, of which a share is the count itself, below −1000."""
    return mixed((share, {-1000 - count: 1.0}), (1 - share, geometric(1.0, count)))


def counted(function: Any, share: float) -> Problem:
    """Return a problem that releases the raw count with a probability."""
    return problem(
        function,
        (UNIT, add_or_remove(), Claim(1.0), ([0], [])),
        "the count, below −1000",
        same,
        lambda: (raw_count(share, 1), raw_count(share, 0)),
        lambda records: len(records) + whole(1.0),
    )


PROBLEMS = (
    vector(
        raw_part_of_4,
        FOUR,
        0,
        lambda value: mixed((0.3, {value: 1.0}), (0.7, geometric(50.0, value))),
        of_part(0),
        "part 0 is its value",
        claim=Claim(2.0),
        sound=lambda values: [value + whole(50.0) for value in values],
    ),
    vector(
        raw_part_of_16,
        SIXTEEN,
        11,
        lambda value: mixed((0.1, {value: 1.0}), (0.9, geometric(30.0, value))),
        of_part(11),
        "part 11 is its value",
        claim=Claim(1.0),
        sound=lambda values: noisy(values, 30.0),
    ),
    problem(
        two_raw_parts,
        (TWELVE, within(1), Claim(1.0), ([0] * 12, [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])),
        "parts 2 and 5 are their values, both",
        lambda outcome: (beside(outcome[2]), beside(outcome[5])),
        lambda: tuple(
            mixed((0.03, {(value, value): 1.0}), (0.97, joint(*[mapped(geometric(12.0, value), beside)] * 2)))
            for value in (0, 1)
        ),
        lambda values: noisy(values, 12.0),
    ),
    problem(
        raw_anywhere,
        (NUMBER, within(99_999), Claim(1.0), (7, 8)),
        "the number is in some part",
        lambda outcome: (int(7 in outcome), int(8 in outcome)),
        anywhere,
        lambda number: np.random.randint(0, 100_000, 12).tolist(),
    ),
    vector(
        coarse_noise,
        FOUR,
        1,
        lambda value: mixed(
            (0.5, mapped(geometric(4.0), lambda noise: value + 5 * noise)), (0.5, geometric(20.0, value))
        ),
        of_part(1),
        "part 1 is its value modulo 5",
        claim=Claim(0.5),
        sound=lambda values: noisy(values, 20.0),
    ),
    vector(
        shared_noise,
        TWELVE,
        9,
        lambda value: {value: 1.0},
        lambda outcome: outcome[9] - outcome[3],
        "part 9 minus part 3 is the difference of their values",
        claim=Claim(1.0),
        sound=lambda values: noisy(values, 12.0),
    ),
    problem(
        raw_as_text,
        (UNIT, add_or_remove(), Claim(1.0), ([1], [])),
        "the sum, as text",
        same,
        lambda: tuple(mixed((1 / 200, {str(one): 1.0}), (199 / 200, geometric(1.0, one))) for one in (1, 0)),
        lambda records: sum(records) + whole(1.0),
    ),
    vector(
        raw_where_large,
        FOUR,
        2,
        large_noise,
        of_part(2),
        "part 2 is 61, of which no 0 comes",
        claim=Claim(0.5),
        sound=lambda values: noisy(values, 20.0),
    ),
    counted(raw_in_500, 1 / 500),
    counted(raw_in_2000, 1 / 2000),
    problem(
        fails_seldom,
        (st.lists(st.integers(0, 20), max_size=30), change_one(), Claim(1.0), ([20], [0])),
        "it raises ValueError",
        lambda outcome: isinstance(outcome, ValueError),
        lambda: (mapped(coin(0.01), bool), {False: 1.0}),
        lambda records: 16 + whole(1.0),
    ),
    problem(
        rare_key,
        (UNIT, add_or_remove(), Claim(0.5), ([1] * 4, [1] * 3)),
        "the key `more` is there, and the count at least 4",
        lambda outcome: (outcome["count"], int("more" in outcome)),
        lambda: tuple(joint(geometric(2.0, n), coin(share)) for n, share in ((4, 0.013), (3, 0.0049))),
        lambda records: {"count": len(records) + whole(2.0)},
    ),
    problem(
        special_record,
        (st.lists(NUMBER, max_size=20), add_or_remove(), Claim(1.0), ([54_321], [])),
        "the count is too large by 5",
        same,
        lambda: (geometric(1.0, 6), geometric(1.0)),
        lambda records: len(records) + whole(1.0),
    ),
    problem(
        keys_above_5,
        (
            st.lists(st.sampled_from(["bread", "milk", "salt", "tea"]), max_size=40),
            add_or_remove(),
            Claim(1.0, 1e-6),
            (["tea"], []),
        ),
        "the key of the one record is there",
        lambda outcome: outcome.get("tea", 0),
        lambda: (mapped(geometric(1.0, 1), lambda count: count if count >= 5 else 0), {0: 1.0}),
        lambda purchases: {key: purchases.count(key) + whole(1.0) for key in ("bread", "milk", "salt", "tea")},
    ),
)
