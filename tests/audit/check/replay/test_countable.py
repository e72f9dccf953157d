"""A loss counts only where each number of noise is one release, and nothing else decides where a release lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal.audit.check.function import Function, isolated
from subnormal.audit.check.replay.countable import countable, is_repeated
from subnormal.audit.check.replay.primitives import intercepted
from subnormal.audit.check.replay.recorder import Recorder

PAIR = (0.0, 1.0)


def laplace(scale: float = 1.0) -> float:
    return np.random.laplace(0.0, scale)


def counted(function: Callable[[Any], Any], pair: tuple[Any, Any] = PAIR) -> set[tuple[int, int]]:
    recorder = Recorder(Function(function, "function"))
    with isolated(3), intercepted(function, recorder.intercept):
        first = recorder.run(pair[0])
        return countable(recorder, pair, first, recorder.run(pair[1], first))


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (lambda x: x + laplace(), {(0, 0)}),
        (lambda x: [x + laplace(), 2 * x + laplace()], {(0, 0), (1, 0)}),
        (lambda x: (x + np.random.laplace(0.0, 1.0, 3)).tolist(), {(0, 0), (0, 1), (0, 2)}),
        (lambda x: np.random.laplace([x, 0.0], 1.0).tolist(), {(0, 0), (0, 1)}),
        (lambda x: (x + np.random.laplace(0.0, 1.0, 64)).tolist(), {(0, place) for place in range(64)}),
    ],
)
def test_releases_that_lie_where_they_do_count(function: Callable[[Any], Any], numbers: set[tuple[int, int]]) -> None:
    assert counted(function) == numbers


def places_of_two(x: float) -> float:
    noise = np.random.laplace(0.0, 1.0, 2)
    return x + noise[0]  # type: ignore[no-any-return]  # of numpy


def twice(x: float) -> list[float]:
    noise = laplace()
    return [x + noise, x + noise]


def released_and_used(x: float) -> list[float]:
    noise = laplace()
    return [x + noise, float(noise > 0)]


def beside_a_release(x: float) -> float:
    return (x + laplace()) - x


def after_a_release(x: float) -> list[float]:
    one = 1.0 + laplace()
    return [one, min(one, 50.0) * x + laplace()]


def again_for_a_release(x: float) -> float:
    return x + laplace() if x + laplace() > 2 else -1.0


def scaled_by_a_release(x: float) -> list[float]:
    one = 1.0 + laplace()
    return [one, x + abs(one) * laplace()]


def one_of_two_twice(x: float) -> list[float]:
    noise = np.random.laplace(0.0, 1.0, 2)
    return [float(x + noise[0]), float(x + noise[0])]


def calls_more_for_large_noise(x: float) -> float:
    noise = laplace()
    released = x + noise
    if noise > 25:
        np.random.random()
    return released


def shows_large_noise_of_one_input(x: float) -> list[float]:
    noise = laplace()
    return [x + noise, float(noise > 25 and x > 0)]


@pytest.mark.parametrize(
    "function",
    [
        one_of_two_twice,
        calls_more_for_large_noise,
        shows_large_noise_of_one_input,
        lambda x: [x + laplace(), np.random.random() < 0.5],
        lambda x: (x + np.random.laplace(0.0, 1.0, 65)).tolist(),
        lambda x: (math.inf if x else 0.0) + laplace(),
        places_of_two,
        twice,
        released_and_used,
        beside_a_release,
        again_for_a_release,
    ],
)
def test_nothing_counts_where_the_outcome_holds_more_than_releases(function: Callable[[Any], Any]) -> None:
    assert counted(function) == set()


@pytest.mark.parametrize("function", [after_a_release, scaled_by_a_release])
def test_a_release_that_depends_on_another_does_not_count(function: Callable[[Any], Any]) -> None:
    assert counted(function) == {(0, 0)}


def test_a_difference_of_the_outcomes_counts_in_either_input() -> None:
    def function(x: float) -> list[float]:
        one = 1.0 + laplace()
        return [one, x if one > 20 else 0.0]  # the data, where a release is large

    assert counted(function) == counted(function, PAIR[::-1]) == set()


def test_outcomes_that_differ_for_the_very_release_count_for_nothing() -> None:
    first: list[float] = []

    def function(x: float) -> list[float]:
        one = x + laplace()
        first.append(one)
        return [one, x if one == first[0] else 0.0]

    assert counted(function) == set()


def test_a_location_that_moves_close_to_a_release_only_does_not_count() -> None:
    first: list[float] = []

    def function(x: float) -> list[float]:
        one = 1.0 + laplace()
        first.append(one)
        return [one, (5.0 if 0.1 < abs(one - first[0]) < 1 else 0.0) + laplace()]

    assert counted(function) == {(0, 0)}


def test_a_location_that_moves_with_large_noise_of_a_large_scale_does_not_count() -> None:
    def function(x: float) -> list[float]:
        one = 1.0 + laplace(1000.0)
        return [one, (5.0 if one > 20_000 else 0.0) + laplace()]

    assert counted(function) == {(0, 0)}


def test_a_release_that_another_leaves_out_does_not_count() -> None:
    def function(x: float) -> list[float]:
        one, noise = 1.0 + laplace(), np.random.laplace(0.0, 1.0, 2)
        return [one, float(x + noise[0]), float(x + noise[1]) if one < 20 else 0.0]

    assert counted(function) == {(0, 0), (1, 0)}


def test_a_location_that_a_release_decides_for_one_input_only_does_not_count() -> None:
    def function(x: float) -> list[float]:
        one = 1.0 + laplace()
        return [one, (one if x else 0.0) + laplace()]

    assert counted(function) == counted(function, PAIR[::-1]) == {(0, 0)}


def test_a_replay_of_the_same_input_is_a_repetition() -> None:
    calls: list[int] = []

    def function(x: float) -> Any:
        calls.append(1)
        return [x + laplace(), len(calls) // 3]

    recorder = Recorder(Function(function, "function"))
    with isolated(3), intercepted(function, recorder.intercept):
        first = recorder.run(0.0)
        assert is_repeated(recorder.run(0.0, first), first)
        assert not is_repeated(recorder.run(0.0, first), first)


@pytest.mark.parametrize("moved", ["location", "scale"])
def test_a_replay_with_another_location_or_scale_is_no_repetition(moved: str) -> None:
    def function(x: float) -> float:
        return (x if moved == "location" else 0.0) + laplace(1.0 + (x if moved == "scale" else 0.0))

    recorder = Recorder(Function(function, "function"))
    with isolated(3), intercepted(function, recorder.intercept):
        first = recorder.run(0.0)
        again = recorder.run(1.0, first)
        assert again.outcome == first.outcome
        assert not is_repeated(again, first)
