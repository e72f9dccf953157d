"""Answers below the truth are violations, shrunk; above it they are loose; rounding is neither."""

import math
from dataclasses import replace
from typing import Any

import pytest

from subnormal.audit.claims import TOLERANCE
from subnormal.audit.claims.holding import Held, RefusedError, Said, hold
from subnormal.audit.claims.kind import Kind
from subnormal.audit.claims.kinds import kind

ACCURACY = kind("laplace-accuracy")
NOTHING = replace(ACCURACY, bounds=lambda **parameters: (0.0, 0.0))  # the truth is 0


def truth(one: Kind, factor: float = 1.0) -> Any:
    return lambda **parameters: factor * one.bounds(**parameters)[1]


def test_what_is_false_within_the_tolerance_is_named_counted_and_shown() -> None:
    held = hold("own", truth(ACCURACY, 1 - TOLERANCE / 2), ACCURACY, examples=50)
    assert (held.verdict, held.violated) == ("ROUNDED", None)
    assert held.examples >= held.rounded >= 20
    assert held.shortest is not None
    assert held.shortest.shortfall == pytest.approx(TOLERANCE / 2)
    assert hold("own", truth(ACCURACY, 1 - 2 * TOLERANCE), ACCURACY, examples=50).verdict == "VIOLATED"
    assert hold("own", truth(ACCURACY), ACCURACY, examples=50).verdict == "NOT REFUTED"


def test_the_one_that_misses_most_is_shown() -> None:
    def said(scale: float, alpha: float) -> float:
        return ACCURACY.bounds(scale=scale, alpha=alpha)[0] * (1 - (TOLERANCE if scale == 1 else TOLERANCE / 10) / 2)

    shortest = hold("own", said, ACCURACY, examples=50).shortest
    assert shortest is not None
    assert shortest.parameters["scale"] == 1


def test_without_a_tolerance_the_last_bit_convicts() -> None:
    def said(scale: float, alpha: float) -> float:
        return math.nextafter(ACCURACY.bounds(scale=scale, alpha=alpha)[0], 0.0)

    assert hold("own", said, ACCURACY, examples=50).verdict == "ROUNDED"
    assert hold("own", truth(ACCURACY), ACCURACY, examples=50, tolerance=0.0).verdict == "NOT REFUTED"
    held = hold("own", said, ACCURACY, examples=50, tolerance=0.0)
    assert (held.verdict, held.rounded) == ("VIOLATED", 0)
    assert held.violated is not None
    assert 0 < held.violated.shortfall < 1e-15


@pytest.mark.parametrize(
    ("said", "low", "shortfall"),
    [
        (1.0, 1.0, 0.0),
        (2.0, 1.0, 0.0),
        (1.0, 4.0, 0.75),
        (9.0, math.inf, 1.0),
        (math.inf, math.inf, 0.0),
        (-1.0, 0.0, 0.0),
        (-1.0, 2.0, 1.0),
        (-math.inf, 2.0, 1.0),
    ],
)
def test_a_shortfall_is_a_share_of_the_lower_bound(said: float, low: float, shortfall: float) -> None:
    assert Said({}, said, low, math.inf).shortfall == shortfall


@pytest.mark.parametrize(
    ("said", "up", "factor"),
    [
        (3.0, 2.0, 1.5),
        (1.0, 2.0, 0.5),
        (math.inf, 2.0, math.inf),
        (math.inf, 0.0, math.inf),
        (math.inf, math.inf, math.nan),
        (1.0, math.inf, math.nan),
        (1.0, 0.0, math.nan),
        (-1.0, 2.0, 0.0),
    ],
)
def test_a_factor_is_a_multiple_of_the_upper_bound(said: float, up: float, factor: float) -> None:
    assert Said({}, said, 0.0, up).factor == pytest.approx(factor, nan_ok=True)


def test_the_factor_of_many_answers_is_the_median_of_what_is_above_the_bound() -> None:
    assert Held("own", "any", factors=[9.0, 0.5, 1.5]).factor == 1.5
    assert Held("own", "any", factors=[0.5, 0.5, 1.5]).factor == 1.0
    assert Held("own", "any").factor is None


def test_the_loosest_answer_is_shown_and_no_factor_is_none() -> None:
    def said(scale: float, alpha: float) -> float:
        return ACCURACY.bounds(scale=scale, alpha=alpha)[1] * (2 if scale == 1 else 1.5)

    loosest = hold("own", said, ACCURACY, examples=30).loosest
    assert loosest is not None
    assert loosest.parameters["scale"] == 1
    held = hold("own", lambda **parameters: 1.0, NOTHING, examples=1)
    assert (held.examples, held.factors, held.loosest, held.verdict) == (1, [], None, "NOT REFUTED")


def test_an_answer_that_misses_just_the_tolerance_is_rounded() -> None:
    four = replace(ACCURACY, bounds=lambda **parameters: (4.0, 4.0))
    for tolerance, verdict in ((0.75, "ROUNDED"), (math.nextafter(0.75, 0.0), "VIOLATED")):
        assert hold("own", lambda **parameters: 1.0, four, examples=5, tolerance=tolerance).verdict == verdict


def test_the_same_question_is_asked_once() -> None:
    """An answer that changes between two calls is a violation all the same."""
    asked: list[Any] = []

    def said(**parameters: float) -> float:
        known = parameters in asked
        asked.append(parameters)
        return math.inf if known else 0.0

    assert hold("own", said, ACCURACY, examples=10).verdict == "VIOLATED"
    assert all(asked.count(one) == 1 for one in asked)


def test_no_smaller_delta_is_asked_for() -> None:
    seen: list[float] = []

    def said(delta: float, **rest: Any) -> float:
        seen.append(delta)
        return math.inf

    hold("own", said, kind("laplace"), examples=60, least_delta=1e-10)
    assert min(seen) >= 1e-10
    assert len(seen) > 20


@pytest.mark.parametrize("name", ["gaussian", "gaussian-delta"])
def test_no_larger_epsilon_is_asked_for(name: str) -> None:
    one, seen = kind(name), list[float]()

    def said(**parameters: Any) -> float:
        seen.append(parameters.get("epsilon", one.bounds(**parameters)[0]))
        return math.inf

    hold("own", said, one, examples=60, most_epsilon=3.0)
    assert 1.0 <= max(seen) <= 3.0
    assert len(seen) > 20


def test_a_violation_is_shrunk() -> None:
    """Wrong at large scales alone; the simplest of them that are drawn is shown."""

    def said(scale: float, alpha: float) -> float:
        return ACCURACY.bounds(scale=scale, alpha=alpha)[1] * (0.5 if scale >= 100 else 1)

    found = hold("own", said, ACCURACY, examples=100).violated
    assert found is not None
    assert found.parameters["scale"] == 100
    assert found.said == found.up / 2 < found.low


def test_what_is_refused_says_nothing() -> None:
    def refuses(**parameters: float) -> float:
        raise RefusedError("not today")

    held = hold("own", refuses, ACCURACY, examples=20)
    assert (held.examples, held.violated, held.why, held.verdict) == (0, None, "not today", "NO ANSWER")
    assert held.refused > 5


def test_below_zero_is_judged_as_zero() -> None:
    """(−0.1, 0.5)-privacy is true of what ignores its data."""
    gaussian = kind("sampled-gaussian")

    def said(sampling: float, **rest: Any) -> float:
        return -0.1 if sampling == 0 else math.inf

    assert hold("own", said, gaussian, examples=20).violated is None
    violated = hold("own", truth(ACCURACY, -2.0), ACCURACY, examples=5).violated
    assert violated is not None
    assert (violated.said, violated.shortfall) == (pytest.approx(-2 * violated.low), 1.0)


def test_the_same_seed_draws_the_same() -> None:
    drawn: list[list[Any]] = []
    for _ in range(2):
        seen: list[Any] = []

        def said(seen: list[Any] = seen, **parameters: Any) -> float:
            seen.append(parameters)
            return math.inf

        hold("own", said, ACCURACY, examples=20, seed=7)
        drawn.append(seen)
    assert drawn[0] == drawn[1]
    assert hold("own", truth(ACCURACY), ACCURACY, seconds=0.0).examples == 0
