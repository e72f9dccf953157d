"""A check keeps its seconds, by a clock that only runs and learning steps advance."""

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, check, within
from subnormal.audit.evidence import event_search

SECONDS = 10.0
VALUES = st.integers(0, 9)


class Clock:
    """Time as the sum of what is spent. longest: of one step."""

    def __init__(self) -> None:
        self.now = self.longest = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds
        self.longest = max(self.longest, seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    monkeypatch.setattr(time, "perf_counter", made)
    return made


def test_inputs_that_take_long_are_left_to_the_others(clock: Clock) -> None:
    def function(value: int) -> float:  # an optimiser that diverges at one input
        clock.spend(0.3 if value == 0 else 0.001)
        return 100 * value + random.uniform(-1, 1)

    result = check(function, VALUES, within(1), Claim(1.0), seconds=SECONDS)
    assert result.verdict == Verdict.VIOLATED
    assert result.worlds is not None
    assert 0 not in result.worlds


@pytest.mark.parametrize("releases", [1, 48])
def test_a_check_ends_with_the_run_in_which_its_time_is_over(clock: Clock, releases: int) -> None:
    """No noise can be read off the sum, but replay looks for each. Few inputs take long."""

    def function(value: int) -> float:
        clock.spend(0.3 if value % 20 == 7 else 0.002)
        return sum(value + np.random.laplace(0.0, 100.0 * releases) for _ in range(releases))

    result = check(function, st.integers(0, 999), within(1), Claim(0.001), seconds=SECONDS)
    assert result.error is None
    assert clock.now <= SECONDS + clock.longest


def test_a_check_ends_with_the_learning_step_in_which_its_time_is_over(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn: Callable[..., Any] = event_search.learn

    def slow(drawn: Any, *arguments: Any, **options: Any) -> Any:
        clock.spend(len(drawn[0]) / 1e4)
        return learn(drawn, *arguments, **options)

    def function(value: int) -> tuple[float, ...]:
        clock.spend(0.002)
        return tuple(value + random.gauss(0.0, 100.0) for _ in range(30))

    monkeypatch.setattr(event_search, "learn", slow)
    result = check(function, VALUES, within(1), Claim(0.5, 0.1), seconds=SECONDS)
    assert result.error is None
    assert clock.now <= SECONDS + clock.longest, (clock.now, clock.longest, result)
