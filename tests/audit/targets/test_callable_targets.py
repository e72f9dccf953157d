"""Python callables under audit: exceptions as outcomes, and mistakes that cost a row."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.exponential.zero_rounding import zero_rounding, zero_rounding_refusal
from subnormal.audit import interrupts
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.model import Row, Verdict
from subnormal.audit.targets.outcome_warnings import OutcomeMonitor
from subnormal.audit.targets.stated_claim import StatedClaim
from subnormal.audit.targets.target import CallableTarget, mechanism
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.families import family

ALPHA = 1e-6  # chance that a statistical test here fails a sound function


def callable_row(function: Callable[..., Any], attack: AnyAttack, runs: int = 2_000) -> Row:
    member = mechanism("f", attack.family, CallableTarget(function), StatedClaim(), OutcomeMonitor())
    return examine(Crossing(attack, member), seed=1, runs=runs, alpha=ALPHA)


def test_an_exception_of_a_callable_is_the_outcome_of_its_run() -> None:
    def release(data: Any, parameters: dict[str, Any], runs: int) -> Any:
        if min(data) < max(data):
            raise ValueError("a weight is zero")
        return np.zeros(runs, dtype=np.int64)

    found = callable_row(release, zero_rounding_refusal())
    assert found.sampled is not None
    assert found.sampled.verdict is Verdict.VIOLATED


def test_an_exception_now_and_then_may_not_speak_for_a_whole_call() -> None:
    calls: list[int] = []

    def release(data: Any, parameters: dict[str, Any], runs: int) -> Any:
        calls.append(runs)
        if runs > 1:
            raise OverflowError("noise too large")
        return [0.5]

    found = callable_row(release, grid_precision())
    assert found.error is not None
    assert "raised in a call for 10 runs and not in one for 1: 'OverflowError: noise too large'" in found.error
    assert calls == [1, 10]


def test_exceptions_may_be_returned_among_the_outcomes() -> None:
    def release(data: Any, parameters: dict[str, Any], runs: int) -> Any:
        return [ValueError("no") if run % 2 else np.float32(0.1) for run in range(runs)]

    outcomes = CallableTarget(release)(0, grid_precision().parameters, family("laplace"), 2)
    assert outcomes == [float(np.float32(0.1)), Refused("ValueError: no")]


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (lambda n: 0.5, "returned '0.5', not a sequence"),
        (lambda n: [0.5], "answered with 1 outcomes, not 10"),
        (lambda n: [None] * n, "answered with the outcome null"),
        (lambda n: np.full(n, np.inf), "not finite"),
        (lambda n: np.full((n, 1, 1), 0.5), "not a list of numbers"),
    ],
)
def test_a_callable_that_misbehaves_costs_its_row(returned: Callable[[int], Any], told: str) -> None:
    found = callable_row(lambda data, parameters, runs: returned(runs), grid_precision())
    assert found.error is not None
    assert told in found.error


def test_a_callable_cannot_spoil_the_data() -> None:
    def release(data: Any, parameters: dict[str, Any], runs: int) -> Any:
        data[:] = 7
        parameters["limits"]["utility_max"] = -1
        return np.zeros(runs, dtype=np.int64)

    attack = zero_rounding()
    data = attack.worlds()[0]
    before = data.copy()
    CallableTarget(release)(data, attack.parameters, family("exponential"), 5)
    assert np.array_equal(data, before)
    assert attack.parameters == zero_rounding().parameters


def test_integers_of_a_callable_are_exact_however_large() -> None:
    target = CallableTarget(lambda data, parameters, runs: [data + 1] * runs)
    assert target((1 << 60) + 128, grid_precision().parameters, family("laplace"), 2) == [(1 << 60) + 129] * 2


def test_a_callable_that_exits_does_not_take_the_audit_along() -> None:
    def leaving(data: object, parameters: object, runs: int) -> object:
        raise SystemExit(0)

    made = callable_row(leaving, grid_precision())
    assert made.error is not None or made.sampled is not None  # a row all the same: refused in both worlds
    assert not made.violated


@pytest.mark.parametrize("wrong", [lambda n: [[0.5]] * n, lambda n: np.ones((n, 1)), lambda n: [(0.5,) * 5] * n])
def test_lists_are_no_outcomes_where_a_number_is_released(wrong: Callable[[int], Any]) -> None:
    made = callable_row(lambda data, parameters, runs: wrong(runs), grid_precision())
    assert made.error is not None
    assert "where the outcome is a number" in made.error


class Panic(BaseException):
    """As a panic of Rust code comes."""


def test_what_is_no_exception_does_not_take_the_audit_along_either() -> None:
    def panicking(data: object, parameters: object, runs: int) -> object:
        raise Panic("no noise")

    target = CallableTarget(panicking)
    assert target(0, grid_precision().parameters, family("laplace"), 1) == [Refused("Panic: no noise")]


@pytest.mark.parametrize("error", [None, RuntimeError("release unlocked lock")])
def test_an_interrupt_that_ends_in_a_callable_ends_the_audit(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Swallowed there, or become another exception, it came all the same: after this call there is no other."""
    calls: list[int] = []

    def release(data: Any, parameters: dict[str, Any], runs: int) -> Any:
        calls.append(runs)
        monkeypatch.setattr(interrupts, "_interrupted", True)
        if error is not None:
            raise error
        return [0] * runs

    with pytest.raises(KeyboardInterrupt):
        callable_row(release, zero_rounding())
    assert calls == [1]
