"""Parts that tell nothing alone, nor in pairs: several together do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.adversary.laws import Law, binomial, coin, geometric, joint, mapped, mixed, summed, uniform
from benchmarks.adversary.problem import BIT, Problem, problem, same, whole
from subnormal.audit.neighbours.relations import add_or_remove, within
from subnormal.mechanisms.privacy import Claim

DIGIT = st.integers(0, 2)


def parity(length: int, places: tuple[int, ...], right: float) -> Callable[[int], list[int]]:
    """Return fair coins; the parity of those at some places is the bit with probability `right`."""

    def release(bit: int) -> list[int]:
        coins = [random.getrandbits(1) for _ in range(length)]
        wanted = bit if random.random() < right else 1 - bit
        coins[places[-1]] = (wanted + sum(coins[place] for place in places[:-1])) % 2
        return coins

    release.__name__ = f"parity_of_{len(places)}"
    return release


def parity_problem(length: int, places: tuple[int, ...], right: float) -> Problem:
    return problem(
        parity(length, places, right),
        BIT,
        f"the parity of parts {', '.join(map(str, places))} is 1",
        lambda outcome: sum(outcome[place] for place in places) % 2,
        lambda: (coin(right), coin(1 - right)),
        parity(length, places, 0.7),
    )


def sum_modulo_3(digit: int) -> list[int]:
    """Return nine digits from 0 to 2; the sum of three of them modulo 3 is the input, with probability .8."""
    digits = np.random.randint(0, 3, 9).tolist()
    if np.random.random() < 0.8:
        digits[7] = (digit - digits[1] - digits[4]) % 3
    return digits  # type: ignore[no-any-return]


def one_if_two(bit: int) -> list[int]:
    """Return six digits; the last one's parity is the bit where part 0 is above 5 and part 1 below 3."""
    digits = np.random.randint(0, 10, 6).tolist()
    if digits[0] > 5 and digits[1] < 3 and np.random.random() < 0.9:
        digits[5] = digits[5] - digits[5] % 2 + bit
    return digits  # type: ignore[no-any-return]


def sum_of_two(bit: int) -> list[int]:
    """Return six numbers below 100; for bit 1, part 5 is often the sum of parts 0 and 3 modulo 100."""
    numbers = np.random.randint(0, 100, 6).tolist()
    if bit and np.random.random() < 0.3:
        numbers[5] = (numbers[0] + numbers[3]) % 100
    return numbers  # type: ignore[no-any-return]


def mixed_budgets(records: list[bool]) -> int:
    """Return a count with noise of scale 4, in a tenth of the runs of scale .5."""
    return sum(records) + whole(0.5 if random.random() < 0.1 else 4.0)


def sampled_count(records: list[bool]) -> int:
    """Return the count of a sample of one half with noise of scale 1, as if a sample of a tenth had been taken."""
    return sum(random.random() < 0.5 for one in records if one) + whole(1.0)


def count(function: Any, epsilon: float, law: Callable[[int], Law], words: str, sound: Any) -> Problem:
    return problem(
        function,
        (st.lists(st.booleans(), max_size=10), add_or_remove(), Claim(epsilon), ([True], [])),
        words,
        same,
        lambda: (law(1), law(0)),
        sound,
    )


PROBLEMS = (
    parity_problem(10, (1, 4, 8), 0.9),
    parity_problem(12, (0, 3, 5, 9, 11), 0.95),
    problem(
        sum_modulo_3,
        (DIGIT, within(2), Claim(1.0), (2, 0)),
        "parts 1, 4 and 7 add up to 2 modulo 3",
        lambda outcome: (outcome[1] + outcome[4] + outcome[7]) % 3,
        lambda: tuple(mixed((0.8, {digit: 1.0}), (0.2, uniform(range(3)))) for digit in (2, 0)),
        lambda digit: np.random.randint(0, 3, 9).tolist(),
    ),
    problem(
        one_if_two,
        BIT,
        "part 0 is above 5, part 1 below 3, and part 5 odd",
        lambda outcome: (outcome[0] > 5 and outcome[1] < 3, outcome[5] % 2),
        lambda: tuple(
            mixed((0.88, joint({False: 1.0}, coin(0.5))), (0.12, joint({True: 1.0}, coin(0.05 + 0.9 * bit))))
            for bit in (1, 0)
        ),
        lambda bit: np.random.randint(0, 10, 6).tolist(),
    ),
    problem(
        sum_of_two,
        BIT,
        "part 5 is the sum of parts 0 and 3 modulo 100",
        lambda outcome: outcome[5] == (outcome[0] + outcome[3]) % 100,
        lambda: (mapped(coin(0.3 + 0.7 / 100), bool), mapped(coin(1 / 100), bool)),
        lambda bit: sum_of_two(0),
    ),
    count(
        mixed_budgets,
        0.5,
        lambda one: mixed((0.1, geometric(0.5, one)), (0.9, geometric(4.0, one))),
        "the count is the true one",
        lambda records: sum(records) + whole(4.0),
    ),
    count(
        sampled_count,
        0.16,  # ln(1 + .1·(e − 1)) is .159
        lambda one: summed(binomial(one, 0.5), geometric(1.0)),
        "the count is above 0",
        lambda records: sum(random.random() < 0.1 for one in records if one) + whole(1.0),
    ),
)
