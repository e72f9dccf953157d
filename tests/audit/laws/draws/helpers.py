"""Functions that draw often, and functions that call them. Not in a module of tests, where none is joined."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.audit.laws.samplers import geometric

RNG = np.random.default_rng(1)


def two_geometric(answer: int, ratio: float = math.exp(-1)) -> int:
    return answer + geometric(ratio) - geometric(ratio)


def tries(most: int) -> int:
    count = 0
    while count < most and random.random() < 0.5:
        count += 1
    return count


def tries_twice(most: int) -> int:
    return tries(most) + tries(most)


def of_a_random_number(_: object) -> int:
    return tries(20) + tries(random.getrandbits(1) + 20)


def histogram(counts: list[int]) -> list[int]:
    return [two_geometric(count) for count in counts]


def text(ratio: float) -> Any:
    return "many" if random.random() < ratio or random.random() < ratio else "few"


def raises(ratio: float) -> Any:
    return 1 if random.random() < ratio else 1 // int(random.random() < ratio)


def float_of_all_digits(ratio: float) -> Any:
    return random.random() + (random.random() if random.random() < ratio else 0)


def of_two_types(ratio: float) -> Any:
    return 1 if random.random() < ratio else 1.0 if random.random() < ratio else 2


def keeps_a_number(ratio: float) -> Any:
    random.gauss(0.0, 1.0)
    return int(random.random() < ratio) + int(random.random() < ratio)


def compares_two(ratio: float) -> Any:
    return int(random.random() < ratio) + int(random.random() < random.random())


def of_two_normals(ratio: float) -> Any:
    return int(RNG.normal() < ratio) + int(RNG.normal() < ratio)


def draws_nothing(ratio: float) -> Any:
    return round(10 * ratio)


def has_some_digits(ratio: float) -> Any:
    return 0.5 if random.random() < ratio or random.random() < ratio else 1.5


def of_a_draw_of_its_own(ratio: float) -> Any:
    return geometric(ratio) + geometric(ratio)


def never_ends(ratio: float) -> Any:
    count = 0
    while random.random() < 0.999:
        count += 1
    return count


def calls(helper: Callable[[float], Any]) -> Callable[[float], Any]:
    return lambda ratio: str(helper(ratio))


def raises_late(ratio: float) -> int:
    count = 0
    while random.random() < ratio:
        count += 1
        if count > 60:
            raise ValueError("too long")
    return count


def leaks_by_an_exception(secret: int) -> Any:
    try:
        return [raises_late(0.5), raises_late(0.5)]
    except ValueError:
        return secret


def leaks_by_a_value(secret: int) -> Any:
    one, other = geometric(0.5), geometric(0.5)
    return secret if one > 60 else [one, other]


def leaks_by_a_normal(secret: int) -> Any:
    one, other = RNG.normal(), RNG.normal()
    return secret if one > 9.5 else [round(one), round(other)]


def differs_seldom(shift: float) -> Any:
    """Return 1 with probability 2^−40 or 2^−61."""
    count = geometric(0.5)
    number = math.floor(random.random() + shift)
    return [1 if count > 60 else number, count]
