"""A replay hands back what was drawn and released, shifts it where asked to, and says where the calls are others."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from subnormal.audit.check.function import Function
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.randomness.primitives import intercepted

RNG = np.random.default_rng(5)


@contextmanager
def recording(function: Callable[[Any], Any]) -> Iterator[Recorder]:
    recorder = Recorder(Function(function, "function"))
    with intercepted(function, recorder.intercept):
        yield recorder


def replayed(function: Callable[[Any], Any], data: tuple[Any, Any] = (0.0, 1.0), **changes: Any) -> tuple[Any, Any]:
    with recording(function) as recorder:
        first = recorder.run(data[0])
        return first, recorder.run(data[1], first, **changes)


@pytest.mark.parametrize(
    "draw",
    [
        random.gauss,
        np.random.laplace,
        RNG.laplace,
        lambda: RNG.laplace(size=3),
        lambda: RNG.laplace(size=(2, 1)),
        lambda: RNG.standard_normal(3, dtype=np.float32),
        lambda: RNG.laplace(np.zeros(0)),
        lambda: RNG.integers(5),
        lambda: random.choices("ab", k=2),
        lambda: os.urandom(3),
    ],
)
def test_what_a_function_is_given_has_the_type_and_the_shape_that_it_always_has(draw: Callable[..., Any]) -> None:
    def kind(one: Any) -> Any:
        return type(one), getattr(one, "dtype", None), np.shape(one), getattr(getattr(one, "flags", None), "num", None)

    seen = []

    def function(x: float) -> float:
        seen.append(kind(draw()))
        return x

    expected = kind(draw())
    with recording(function) as recorder:
        first = recorder.run(0.0)
        recorder.run(1.0, first)
        recorder.run(1.0, first, {0: np.ones(first.noise.size)})
    assert seen == [expected] * 3


@pytest.mark.parametrize(
    ("function", "is_same"),
    [
        (lambda x: random.gauss(0.0, 1.0), True),
        (lambda x: random.gauss(x, 1.0), False),
        (lambda x: random.gauss(0.0, 1.0 + x), False),
        (lambda x: random.gauss(0.0, 1.0) if x else random.normalvariate(0.0, 1.0), False),
        (lambda x: [random.gauss(0.0, 1.0) for _ in range(1 + int(x))], False),
    ],
)
def test_two_runs_are_drawn_alike_where_all_calls_are_the_same(function: Callable[[Any], Any], is_same: bool) -> None:
    with recording(function) as recorder:
        assert recorder.run(0.0).is_drawn_as(recorder.run(1.0)) is is_same


LAPLACE, GAUSS, NUMBER = "numpy.random.laplace", "random.gauss", "the number of draws from"


@pytest.mark.parametrize(
    ("function", "what", "shown"),
    [
        (lambda x: [random.random() for _ in range(2 + int(x))], f"{NUMBER} random.random", "23"),
        (lambda x: [random.random() for _ in range(2 - int(x))], f"{NUMBER} random.random", "21"),
        (lambda x: np.random.laplace(np.zeros(2 + int(x)), 1.0), f"{NUMBER} {LAPLACE}", "23"),
        (lambda x: np.random.laplace(size=2 + int(x)), f"{NUMBER} {LAPLACE}", "23"),
        (lambda x: random.choices("ab", k=2 + int(x)), f"{NUMBER} random.choices", "23"),
        (lambda x: os.urandom(2 + int(x)), f"{NUMBER} os.urandom", "23"),
        (lambda x: [random.random() for _ in range(int(x))] + [random.gauss()], f"{NUMBER} random.random", ["none", 1]),
        (lambda x: random.gauss() if x else np.random.laplace(), "the kind of noise", [LAPLACE, GAUSS]),
        (
            lambda x: [random.gauss(), np.random.laplace()] if x else [np.random.laplace(), random.gauss()],
            "the order of draws",
            [LAPLACE, GAUSS],
        ),
    ],
)
def test_noise_that_is_not_as_before_is_a_difference_with_both_places(
    function: Callable[[Any], Any], what: str, shown: Sequence[object]
) -> None:
    first, second = replayed(function)
    assert first.difference is None
    each = [str(one) if one == "none" else rf"{one} at test_recorder\.py:\d+" for one in shown]
    assert re.fullmatch(f"{what} depends on the data: {', '.join(each)}", second.difference)
    assert replayed(function, (0.0, 0.0))[1].difference is None


def test_a_choice_among_lists_of_different_lengths_is_replayed() -> None:
    """What is chosen has another length each time, and the number of draws is the same."""
    records = [[1], [1, 2], [1, [2, 3]]]
    for _ in range(20):
        first, second = replayed(lambda x: (random.sample(records, 3), random.choice(records)))
        assert first.outcome == second.outcome
        assert second.difference is None


@pytest.mark.parametrize(("shift", "moved"), [(0.6, 1), (-0.6, -1), (2.0, 2)])
def test_integers_are_shifted_by_integers(shift: float, moved: int) -> None:
    from diffprivlib.mechanisms import Geometric

    mechanism = Geometric(epsilon=1.0, sensitivity=1)
    first, second = replayed(lambda x: mechanism.randomise(int(x)), (3.0, 3.0), shifts={0: np.array([shift])})
    assert second.outcome == first.outcome + moved
    assert type(second.outcome) is int


def test_calls_outside_a_run_are_passed_on() -> None:
    with recording(lambda x: x) as recorder:
        assert isinstance(random.random(), float)
        assert recorder.run(1.0).calls == []
