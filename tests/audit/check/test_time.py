"""A check keeps its seconds, by a clock that only runs and learning steps advance."""

import random
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, NotPrivateError, Verdict, add_or_remove, assert_private, check, within
from subnormal.audit.check.judge import learn_event
from subnormal.audit.check.page import to_html
from subnormal.audit.check.score import Runs
from subnormal.audit.check.search import REPEATED, search
from subnormal.audit.evidence import event_search
from tests.support import work_clock
from tests.support.checks import sequential_of

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
    def timed(value: int) -> float:  # an optimiser that diverges at one input
        clock.spend(0.3 if value == 0 else 0.001)
        return 100 * value + random.uniform(-1, 1)

    result: Any = check(timed, VALUES, within(1), Claim(1.0), seconds=SECONDS)
    assert result.verdict == Verdict.VIOLATED
    assert 0 not in result.worlds


@pytest.mark.parametrize("releases", [1, 48])
def test_a_check_ends_with_the_run_in_which_its_time_is_over(clock: Clock, releases: int) -> None:
    """No noise is a release of its own in the sum. Few inputs take long."""

    def timed(value: int) -> float:
        clock.spend(0.3 if value % 20 == 7 else 0.002)
        return sum(value + np.random.laplace(0.0, 100.0 * releases) for _ in range(releases))

    result = check(timed, st.integers(0, 999), within(1), Claim(0.001), seconds=SECONDS)
    assert result.error is None
    assert clock.now <= SECONDS + clock.longest


def test_a_search_ends_where_the_domain_has_no_other_pair() -> None:
    drawn: list[tuple[int, int]] = []

    def pair(drawn_from: int) -> tuple[int, int]:  # many integers lead to each pair
        drawn.append(((0, 1), (1, 0), (1, 2))[drawn_from % 3])
        return drawn[-1]

    found = search(st.integers().map(pair), lambda pair: 0.0, seed=1, seconds=60.0)
    assert found.examples == 3
    assert REPEATED < len(drawn) < 2 * REPEATED


def test_a_check_ends_with_the_learning_step_in_which_its_time_is_over(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn: Callable[..., Any] = event_search.learn

    def slow(drawn: Any, *arguments: Any, **options: Any) -> Any:
        clock.spend(len(drawn[0]) / 1e4)
        return learn(drawn, *arguments, **options)

    def timed(value: int) -> tuple[float, ...]:
        clock.spend(0.002)
        return tuple(value + random.gauss(0.0, 100.0) for _ in range(30))

    monkeypatch.setattr(event_search, "learn", slow)
    result = check(timed, pairs=[(0, 1)], claim=Claim(0.5, 0.1), seconds=SECONDS)
    assert result.error is None
    assert SECONDS / 2 <= clock.now <= SECONDS + clock.longest, (clock.now, clock.longest, result)


def test_where_no_time_is_left_for_the_last_pair_the_one_before_is_the_verdict(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Learning on the last pair takes all the time that is left. What runs have shown before is not lost by it."""
    pairs = [(0, 1), (1, 2), (2, 3)]

    def slow(runs: Runs, pair: Any, alpha: float) -> Any:
        if pair == pairs[-1]:
            clock.spend(runs.function.left())
        return learn_event(runs, pair, alpha)

    def coin(value: int) -> int:
        clock.spend(1e-3)
        return random.getrandbits(1)

    monkeypatch.setattr("subnormal.audit.check.judge.learn_event", slow)
    monkeypatch.setattr(Runs, "successive_halving", lambda self, candidates: pairs)
    result = check(coin, pairs=pairs, claim=Claim(1.0), seconds=SECONDS)
    assert (result.verdict, result.worlds) == (Verdict.NOT_REFUTED, pairs[1])
    assert result.seconds == pytest.approx(SECONDS)
    monkeypatch.setattr(Runs, "successive_halving", lambda self, candidates: pairs[-1:])
    result = check(coin, pairs=pairs, claim=Claim(1.0), seconds=SECONDS)
    assert (result.verdict, result.worlds) == (Verdict.UNDERPOWERED, pairs[-1])
    assert "before enough runs could judge a pair" in result.notes[-1]
    assert "by runs needs" not in result.notes[-1]


@pytest.mark.parametrize(("epsilon", "seconds"), [(1.0, 2.0), (5.0, 4.0), (5.0, 12.0)])
def test_a_check_that_is_given_the_seconds_that_it_asks_for_has_a_verdict(
    epsilon: float, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is over in a search, in learning, or while runs judge: a larger ε needs more of them."""
    monkeypatch.setattr(work_clock, "RUN", 2e-3)
    verdicts, draw = [], random.Random(1).gauss  # no known primitive
    for _ in range(2):
        with work_clock.work_counted():
            result = check(
                lambda records: sum(records) + draw(0.0, 100.0),
                st.lists(VALUES, max_size=5),
                add_or_remove(),
                Claim(epsilon),
                seconds=seconds,
            )
        verdicts.append(result.verdict)
        if result.verdict is Verdict.UNDERPOWERED:
            (asked,) = re.findall(r"([\d,]+) or more", result.notes[-1])
            seconds = float(asked.replace(",", ""))
    assert verdicts == [Verdict.UNDERPOWERED, Verdict.NOT_REFUTED]


@pytest.mark.parametrize(("pace", "made"), [(0.9, "0 of"), (0.05, r"\d+ of"), (0.0009, r"[1-3],\d{3} of")])
def test_an_assertion_on_one_pair_keeps_its_seconds_and_does_not_pass(clock: Clock, pace: float, made: str) -> None:
    """The time is over while it learns, or while it judges."""

    def release(value: int) -> float:
        clock.spend(pace)
        return random.random()

    with pytest.raises(ValueError, match=rf"the seconds are over after {made} 4,000 runs.*give .*release seconds=\d+"):
        assert_private(release, 6, 5, epsilon=1.0, runs=4_000, seconds=1.7 if pace == 0.9 else 8.0)
    assert clock.now <= 8.0 + clock.longest


def test_an_assertion_that_needs_less_than_its_seconds_takes_all_its_runs(clock: Clock) -> None:
    def release(value: int) -> int:
        clock.spend(0.001)
        return random.getrandbits(1)

    assert_private(release, 1, 0, epsilon=1.0, runs=4_000, seconds=12.0)
    assert clock.now == pytest.approx(10.0)


def test_a_slow_release_is_convicted_by_the_runs_that_time_allows(clock: Clock) -> None:
    def release(value: int) -> int:
        clock.spend(0.01)
        return value

    with pytest.raises(NotPrivateError) as caught:
        assert_private(release, 1, 0, epsilon=1.0, seconds=SECONDS)
    evidence = sequential_of(caught.value.result)
    assert evidence.training == SECONDS / 2 / 0.02


def test_where_the_time_is_over_in_a_search_nothing_was_decided(clock: Clock) -> None:
    def timed(value: int) -> float:
        clock.spend(0.05)
        return value + random.gauss(0.0, 100.0)

    result = check(timed, VALUES, within(1), Claim(1.0), seconds=SECONDS)
    assert (result.verdict, result.stage, result.evidence) == (Verdict.UNDERPOWERED, "replay", {})
    assert "ended in    replay" in str(result)
    assert "decided by" not in str(result).lower()
    assert "Ended in replay" in to_html(result)
    assert "Decided by" not in to_html(result)
