"""A check that counts examples: no clock decides, and its generators are seeded and given back."""

import functools
import logging
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, add_or_remove, assert_private, change_one, check, stability, within
from subnormal.audit.check.first_calls import FIRST_PAIRS
from subnormal.audit.check.function import function, isolated
from subnormal.audit.check.result import Result

LISTS = st.lists(st.integers(0, 9), max_size=5)
RNG = np.random.default_rng()  # from the system's entropy, as the next
OWN = random.Random()


def of_module(records: list[int]) -> float:
    return round(len(records) + RNG.laplace(0.0, 0.9) + 0.0 * OWN.random(), 1)


def of_system(records: list[int]) -> float:
    return round(len(records) + np.random.default_rng().laplace(0.0, 1.0), 1)


def by_a_jumping_clock(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Result]) -> Result:
    """Return the result where each reading of the machine's clock is a random time later, up to 1,000 s."""
    now, jumps = [time.monotonic()], random.Random(7)

    def jumping() -> float:
        now[0] += 1_000 * jumps.random()
        return now[0]

    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", jumping)
        return replace(call(), seconds=0.0)


@pytest.mark.parametrize("release", [of_module, of_system])
def test_with_examples_one_seed_has_one_result_whatever_the_clock_shows(
    release: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of nearly its claim, so that scores, their order and the judged pair depend on each draw."""

    def checked() -> Result:
        return check(release, LISTS, add_or_remove(), Claim(1.0), examples=12, runs=500, seed=3)

    result = replace(checked(), seconds=0.0)
    assert result.verdict is not None
    assert by_a_jumping_clock(monkeypatch, checked) == result


@pytest.mark.parametrize("examples", [5, 40])
def test_examples_bound_the_pairs_that_are_tried(examples: int) -> None:
    release = lambda value: random.getrandbits(1)  # noqa: E731
    result = check(release, st.integers(0, 999), within(1), Claim(1.0), examples=examples, runs=500)
    assert result.verdict is Verdict.NOT_REFUTED
    replayed = 3 * 8  # at most: the first pairs of each round, each of which counts a fifth
    assert examples / 2 <= result.examples <= examples + replayed * 4 / 5


def test_a_pair_that_is_only_replayed_counts_a_fifth() -> None:
    release = lambda value: value + np.random.laplace(0.0, 1.0)  # noqa: E731
    result = check(release, st.integers(0, 999), within(1), Claim(1.0), examples=40, runs=500, grid=1e-6)
    assert result.verdict is Verdict.NOT_REFUTED
    assert 40 < result.examples <= 5 * 40


def test_half_as_many_pairs_make_a_finding_smaller() -> None:
    def leaks(records: list[int]) -> int:
        return sum(records) + random.getrandbits(1)

    data = st.lists(st.integers(0, 10**6), min_size=30, max_size=30)
    result = check(leaks, data, change_one(), Claim(1.0), examples=8, runs=200)
    assert result.verdict is Verdict.VIOLATED
    assert result.examples <= FIRST_PAIRS + 8 + 8 / 2


def test_examples_bound_a_transformation() -> None:
    result = stability(lambda value: value, st.integers(), within(1), bound=1, examples=20)
    assert result.verdict is Verdict.NOT_REFUTED
    assert 10 <= result.examples <= 20


def test_seconds_end_a_check_that_counts_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    result = by_a_jumping_clock(
        monkeypatch, lambda: check(of_module, LISTS, add_or_remove(), Claim(1.0), examples=1_000, seconds=3_000.0)
    )
    assert result.verdict is Verdict.UNDERPOWERED
    assert result.examples < 100
    assert "the time was over" in result.notes[-1]


def test_too_few_runs_are_called_so() -> None:
    result = check(of_module, LISTS, add_or_remove(), Claim(1.0), examples=5, runs=10)
    assert result.verdict is Verdict.UNDERPOWERED
    assert "not even a perfect attack could refute the claim" in result.notes[-1]


class Holder:
    def __init__(self) -> None:
        self.rng, self.legacy = np.random.default_rng(), np.random.RandomState()
        self.twins = [random.Random(5), random.Random(5)]

    def states(self) -> list[Any]:
        legacy = self.legacy.get_state(legacy=False)
        return [legacy, RNG.bit_generator.state, OWN.getstate(), self.twins[0].getstate()]

    def release(self, value: int) -> Any:
        closure = random.Random()

        def inner(value: int) -> Any:
            twins = [one.random() for one in self.twins]
            drawn = (RNG.random(), OWN.random(), self.rng.random(), self.legacy.normal(), closure.random(), *twins)
            return drawn, os.urandom(4), random.SystemRandom().random()

        return inner(value) if value else inner


def test_generators_that_a_function_leads_to_are_seeded_and_restored() -> None:
    drawn = []
    for _ in range(2):
        holder = Holder()
        RNG.random()
        OWN.random()
        holder.legacy.normal()  # keeps the second number of a pair
        held = holder.states()
        with isolated(1, function(holder.release(0))):
            drawn.append(holder.release(1)[0][:4])
            drawn.append(function(holder.release(0)).function(1))
            assert holder.twins[0].getstate() != holder.twins[1].getstate(), "two generators must not draw alike"
        assert repr(holder.states()) == repr(held)
    assert drawn[0] == drawn[2]


def test_a_forked_child_draws_bytes_of_its_own() -> None:
    """Else each run of a function that forks would draw the same, and a sound one would be accused."""
    drawn = []
    with isolated(1, function(of_system)):
        for _ in range(2):
            here, there = os.pipe()
            if (child := os.fork()) == 0:
                os.write(there, os.urandom(16))
                os.kill(os.getpid(), 9)
            os.waitpid(child, 0)
            drawn.append(os.read(here, 16))
    assert drawn[0] != drawn[1]


def test_what_a_function_logs_is_shown_once_and_what_others_log_is_not_lost(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("of a function")

    def logs(value: int) -> int:
        log.error("no such column, at %s", value)
        log.error("and again")
        raise ValueError

    audited = function(logs)
    with isolated(1, audited):
        for _ in range(3):
            audited.outcome(1)
            log.error("progress")
    assert caplog.messages == ["no such column, at 1", "and again", *["progress"] * 3]
    log.error("afterwards")
    log.error("afterwards")
    assert caplog.messages[-2:] == ["afterwards"] * 2


@pytest.mark.parametrize(
    ("call", "claim"), [(check, {"claim": Claim(1.0)}), (stability, {"bound": 1}), (assert_private, {"epsilon": 1.0})]
)
def test_bad_numbers_of_examples_are_refused(call: Callable[..., Any], claim: dict[str, Any]) -> None:
    arguments = {"data": LISTS, "adjacent": add_or_remove(), **claim}
    with pytest.raises(ValueError, match="examples must be at least 1, got 0"):
        call(len, **arguments, examples=0)
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        call(len, **arguments, examples="9")


PACKAGE, TABLE, LATE = ModuleType("package"), ModuleType("table"), random.Random()
PACKAGE.inner = ModuleType("inner")  # type: ignore[attr-defined]
PACKAGE.inner.rng, TABLE.made = np.random.default_rng(), random.Random()  # type: ignore[attr-defined]


def in_a_comprehension(value: int) -> float:
    return sum(LATE.random() + one for one in [value])


@pytest.mark.parametrize(
    "release",
    [
        lambda value: PACKAGE.inner.rng.random(),
        lambda value: float(getattr(TABLE, "made").random()),  # noqa: B009
        in_a_comprehension,
        lambda value: functools.partial(in_a_comprehension)(value),
    ],
)
def test_generators_are_found_by_what_the_code_names(release: Callable[[int], float]) -> None:
    drawn = []
    for _ in range(2):
        release(0)
        with isolated(1, function(release)):
            drawn.append(release(0))
    assert drawn[0] == drawn[1]


def test_long_data_are_not_looked_through() -> None:
    """A generator among them keeps its own noise; a function beside a million records begins at once."""
    data = [random.Random() for _ in range(2_000)]

    def release(value: int) -> float:
        return data[value].random()

    first = data[0].getstate()
    with isolated(1, function(release)):
        assert data[0].getstate() == first
