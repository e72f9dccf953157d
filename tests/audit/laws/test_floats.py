"""Floats that one input alone leads to, in noise that people add to a number; and no such float where there is none."""

import itertools
import math
import random
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from subnormal.audit.laws.floats import _takes_many, one_world_only
from subnormal.audit.laws.lazy import integer
from subnormal.audit.laws.path import NotFollowedError, Path
from tests.audit.laws import samplers
from tests.audit.laws.short_uniforms import short_uniforms

RNG = np.random.default_rng(3)
NOISY: dict[str, Callable[[float], float]] = {
    "textbook Laplace": lambda x: x + samplers.textbook_laplace(1.0),
    "random.gauss": lambda x: random.gauss(x, 1.0),
    "a difference of exponentials": lambda x: x + (random.expovariate(1) - random.expovariate(1)),
    "Box-Muller": lambda x: x + math.sqrt(-2 * math.log(1 - random.random())) * math.cos(2 * math.pi * random.random()),
    "a sign that is copied": lambda x: x - math.copysign(math.log(1 - random.random()), random.random() - 0.5),
    "a difference of logarithms": lambda x: x - math.log(1 - random.random()) + math.log(1 - random.random()),
    "random.uniform": lambda x: x + random.uniform(-1, 1),
}


def replayed(function: Callable[[float], float], data: float, numbers: tuple[int, ...]) -> float:
    left = iter(numbers)
    with (
        patch.object(random, "random", lambda: next(left) * 2.0**-53),
        patch.object(random.Random, "random", lambda self: random.random()),
    ):
        return function(data)


@pytest.mark.parametrize("name", NOISY)
def test_a_float_of_one_world_alone_is_found_and_its_numbers_lead_to_it(name: str) -> None:
    found: Any = one_world_only(NOISY[name], 0.0, 1.0, seconds=10.0)
    random._inst.gauss_next = None  # type: ignore[attr-defined]
    assert replayed(NOISY[name], [0.0, 1.0][found.world], found.numbers) == found.outcome
    assert found.loss == math.inf


def test_equal_functions_have_no_such_float() -> None:
    assert one_world_only(lambda x: random.gauss(0.0, 1.0), 0.0, 1.0) is None
    assert one_world_only(lambda x: random.random(), 0.0, 1.0) is None
    with pytest.raises(NotFollowedError, match="may be no number"):
        one_world_only(lambda x: (random.random() + math.inf) - math.inf, 0.0, 1.0)


FALLING: list[Callable[[float, float], float]] = [
    lambda u, v: 1.0 - (u + v),
    lambda u, v: 3.0 * (1.0 - (u - v)),
    lambda u, v: -(math.log(1 - u) - math.log(1 - v)),
    lambda u, v: 0.5 - 0.3 * (v - 2.0 * u),
]


@pytest.mark.parametrize("function", FALLING)
def test_equal_functions_of_two_numbers_have_no_such_float(function: Callable[[float, float], float]) -> None:
    assert one_world_only(lambda x: function(random.random(), random.random()), 0.0, 1.0) is None


SUMS: list[Callable[[float, float, float], float]] = [
    lambda x, u, v: (x + 0.1 * u) - 0.3 * v,
    lambda x, u, v: (x - 0.1 * u) + 0.3 * v,
    lambda x, u, v: 0.7 * ((x + 3.0 * u) + 0.1 * v),
    lambda x, u, v: (x + u) - (1.0 + v),
    lambda x, u, v: (x - u) - math.exp(v),
    lambda x, u, v: 1.0 - ((x + 2.0**-50 * u) - v),
]


@pytest.mark.parametrize("function", SUMS)
@pytest.mark.parametrize("shift", [2.0**-53, 0.1, 1.0, 3.0])
def test_no_float_of_two_short_words_is_missed(function: Callable[[float, float, float], float], shift: float) -> None:
    size = 16
    with short_uniforms(size):
        found = one_world_only(lambda x: function(x, random.random(), random.random()), 0.0, shift)
    words = [k / size for k in range(size)]
    reachable = [{function(x, u, v) for u in words for v in words} for x in (0.0, shift)]
    assert found is None or found.outcome in reachable[found.world] - reachable[1 - found.world]


@pytest.mark.parametrize("seed", range(200))
def test_every_float_that_two_numbers_lead_to_is_possible(seed: int) -> None:
    draw, size, path = random.Random(seed), 8, Path()
    made = []
    for _ in range(2):
        first, step = (draw.uniform(-1, 1) * 2.0 ** draw.randrange(-6, 3) for _ in range(2))
        made.append(first + step * integer(path, size))
    x = made[0] + made[1] if seed % 2 else made[0] - made[1]
    number = (x, 3.0 * x, x + 2.0**20, 2.0**-30 - x)[seed % 4]
    for numbers in itertools.product(range(size), repeat=2):
        assert _takes_many(number, number.f(dict(enumerate(numbers))))


def test_what_was_not_followed_bounds_the_loss() -> None:
    """numpy draws anew for one uniform in 2^53."""
    found = one_world_only(lambda x: x + RNG.laplace(), 0.0, 1.0)
    assert found is not None
    assert 0 < found.most < 2.0**-100 * found.least
    assert 70 < found.loss < math.inf


def test_a_part_of_an_outcome_is_enough() -> None:
    found = one_world_only(lambda x: [1, (random.random(), x + random.uniform(-1, 1))], 0.0, 1.0)
    assert found is not None
    assert (found.place, found.loss) == ((1, 1), math.inf)
    assert one_world_only(lambda x: (random.random(), x), 0, 0) is None


@pytest.mark.parametrize("shift", [0.25, 0.5, 1.0])
def test_all_floats_of_short_words_are_known(shift: float) -> None:
    size = 16
    with short_uniforms(size):
        found = one_world_only(lambda x: 3 * random.random() + x, 0.0, shift)
    reachable = [{3 * k / size + x for k in range(size)} for x in (0.0, shift)]
    if found is None:
        assert reachable[0] == reachable[1]
    else:
        assert found.outcome in reachable[found.world] - reachable[1 - found.world]


def test_what_is_found_is_of_paths_that_plain_numbers_repeat() -> None:
    def by_type(x: float) -> float:
        return number if type(number := random.random()) is float else number + x

    with pytest.raises(NotFollowedError, match="the same random numbers"):
        one_world_only(by_type, 0.0, 0.5)


def test_an_integer_that_an_array_of_floats_shows_is_a_float() -> None:
    def function(x: int) -> Any:
        noise = np.append(np.rint(RNG.random(1)), RNG.random(1))
        if x and noise[0] == 1:
            noise[0] = 1
        return np.where([x and noise[0] == 0, False], 0, noise)

    assert one_world_only(function, 0, 1) is None
