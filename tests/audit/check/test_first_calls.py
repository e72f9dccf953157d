"""A function that keeps its answers has one outcome in all runs of an input. That is no violation, and no pass."""

from __future__ import annotations

import functools
import os
import random
import secrets
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, add_or_remove, assert_private, check
from subnormal.audit.check.first_calls import before_any_call
from subnormal.audit.check.function import Function, function

GENERATOR = np.random.default_rng()
PAIR = [(0, 1)]

DRAWS: dict[str, Callable[[], float]] = {
    "random": lambda: random.gauss(0.0, 2.0),
    "numpy": lambda: np.random.laplace(0.0, 2.0),
    "a generator of the module": lambda: GENERATOR.laplace(0.0, 2.0),
    "a generator of the call": lambda: np.random.default_rng().laplace(0.0, 2.0),
    "secrets": lambda: secrets.randbelow(1 << 30) / (1 << 28),
    "the system": lambda: int.from_bytes(os.getrandom(4)) / (1 << 30),  # that nobody watches
    "one bit": lambda: 0.0 if random.random() < 1e-9 else 1.0,  # seldom another outcome
}


def cached(draw: Callable[[], float]) -> Callable[[float], float]:
    @functools.cache
    def answer(value: float) -> float:
        return value + draw()

    return answer


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_kept_answers_are_an_error_and_no_violation(draw: Callable[[], float]) -> None:
    result = check(cached(draw), pairs=PAIR, claim=Claim(1.0), seconds=20)
    assert (result.verdict, result.evidence) == (None, {})
    assert "repeats its answers" in (result.error or "")


BLOCK: list[float] = []


def from_a_block(value: float) -> float:
    if not BLOCK:
        BLOCK.extend(np.random.laplace(0.0, 2.0, 8))
    return value + BLOCK.pop()


KEEPS: dict[str, tuple[Callable[[float], float], bool]] = {
    "kept noise": (cached(lambda: random.gauss(0.0, 2.0)), True),
    "no noise": (abs, False),
    "noise that is lost": (lambda value: value + 0.0 * random.random(), False),
    "noise from a block": (from_a_block, False),
}


@pytest.mark.parametrize(("given", "keeps"), KEEPS.values(), ids=KEEPS)
def test_answers_are_kept_where_a_second_call_draws_no_more(given: Callable[[float], float], *, keeps: bool) -> None:
    BLOCK[:] = [0.0]  # for the second input, whose first call is not watched
    with before_any_call(function(given)) as first_calls_of:
        first: Any = first_calls_of((1.5, 0.5))
    assert first.keeps is keeps


@pytest.mark.parametrize("seed", [1, 2])
def test_answers_that_an_earlier_check_has_kept_are_none_of_a_function_without_noise(seed: int) -> None:
    total = cached(lambda: random.gauss(0.0, 2.0))
    records = st.lists(st.integers(0, 100), max_size=5).map(tuple)

    def checked(seed: int) -> Any:
        return check(lambda given: total(sum(given)), records, add_or_remove(), Claim(1.0), seconds=20, seed=seed)

    assert [checked(one).verdict for one in (1, seed)] == [None, None]


def test_a_table_that_is_drawn_once_from_a_constant_seed_is_no_noise() -> None:
    @functools.cache
    def places(size: int) -> list[int]:
        return [random.Random(size).randrange(size) for _ in range(size)]

    def median(given: list[int]) -> int:
        return sum(given) if len(given) < 3 else sorted(given)[places(len(given))[0]]

    records = st.lists(st.integers(0, 100), max_size=5)
    assert check(median, records, add_or_remove(), Claim(1.0), seconds=20).verdict is Verdict.VIOLATED


def test_answers_of_an_object_that_only_first_calls_take_long_for() -> None:
    """The mean of its runs says that there is no time for more of them."""

    class Server:
        def __init__(self) -> None:
            self.answers: dict[int, float] = {}

        def count(self, records: list[int]) -> float:
            size = len(records)
            if size not in self.answers:
                time.sleep(0.1)
                self.answers[size] = size + random.gauss(0.0, 2.0)
            return self.answers[size]

    records = st.lists(st.just(0), max_size=3)
    with pytest.raises(ValueError, match="repeats its answers"):
        assert_private(Server().count, data=records, adjacent=add_or_remove(), epsilon=1.0, seconds=20)


@pytest.mark.usefixtures("own_clock")
def test_a_fresh_function_for_each_call_keeps_no_answers() -> None:
    def server() -> Callable[[int], bool]:
        return functools.cache(lambda bit: random.random() < (0.6 if bit else 0.4))

    assert check(server(), pairs=PAIR, claim=Claim(1.0), seconds=20).error is not None
    result = check(None, pairs=PAIR, claim=Claim(1.0), seconds=1, runs=1_000, fresh=server)
    assert (result.verdict, result.error) == (Verdict.NOT_REFUTED, None)


def test_what_a_function_does_once_is_no_noise() -> None:
    started: list[bytes] = []

    def late(value: int) -> int:
        if not started:
            started.append(os.urandom(4))  # as modules do that it imports
        return value

    assert check(late, pairs=PAIR, claim=Claim(1.0), seconds=20).verdict is Verdict.VIOLATED


def test_first_calls_are_those_of_the_state_before() -> None:
    calls: list[int] = []

    def counted(value: int) -> tuple[int, int]:
        calls.append(value)
        return value, len(calls)

    with before_any_call(function(counted)) as first_calls_of:
        counted(7)
        first: Any = first_calls_of((0, 1))
    assert (first.outcomes, first.draws) == ((("tuple", 0, 2), ("tuple", 1, 1)), False)
    assert calls == [7]


class Unpicklable(int):
    def __reduce__(self) -> Any:
        raise TypeError("no pickle")


def dies(value: int) -> int:
    os.kill(os.getpid(), 9)
    return value


@pytest.mark.parametrize(("given", "pair"), [(abs, (Unpicklable(1), 0)), (dies, (0, 1))])
def test_where_first_calls_cannot_be_made_again_nothing_is_said(given: Callable[[Any], Any], pair: Any) -> None:
    with before_any_call(function(given)) as first_calls_of:
        assert first_calls_of(pair) is None


def test_first_calls_that_do_not_return_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subnormal.audit.check.first_calls.SECONDS", 0.2)
    parent = os.getpid()

    def hangs(value: int) -> int:
        while os.getpid() != parent:
            time.sleep(60)
        return value

    assert check(hangs, pairs=PAIR, claim=Claim(1.0), seconds=20).verdict is Verdict.VIOLATED


def test_a_program_is_one_process_and_is_not_asked_by_another() -> None:
    with before_any_call(Function(abs, "cmd: ./program", batch=True)) as first_calls_of:
        assert first_calls_of((0, 1)) is None
