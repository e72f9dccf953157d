"""Lab 5: the flaws of a small codebase, `clinic`, and their repair."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Any
from unittest.mock import patch

from clinic import noise, queries, sensitivity
from grader.answers import AnswerError, Other, RaisedError, shown
from grader.evidence import REAL, as_pair, finding, is_violated, require_function
from grader.marks import Marks, part
from subnormal import Claim
from subnormal.audit.evidence import exact
from subnormal.audit.model import ExactEvidence
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Refused

EPSILON = 1.0
BOUNDS = ((40, 90), (0, 60), (-5, 30), (-50, 10))
HIDDEN = 2  # bounds at random, beside BOUNDS
RANDOM = 40  # weights at random that a clip is tried with, a third of them within the bounds
INFINITE, MISSING = float("inf"), float("nan")


def evidence(world_in: list[float], world_out: list[float], bounds: tuple[int, int] = queries.WEIGHTS) -> ExactEvidence:
    """Return what the exact laws of `total_weight` say of two lists of weights."""
    return exact.compare(_law(world_in, bounds), _law(world_out, bounds), Claim(EPSILON))


def _law(weights: list[float], bounds: tuple[int, int]) -> Law[Any]:
    try:
        law: Law[Any] = queries.total_weight(weights, EPSILON, _law_of_noise, bounds)
    except Exception as error:  # an exception is an outcome
        return exact_law([Refused(f"{type(error).__name__}: {error}")], [1], [1], 1)
    return law


@lru_cache(maxsize=256)
def _law_of_noise(value: Fraction | int, scale: float) -> Law[Any]:
    return noise.law(value, scale)


@part(1, "Two neighbours that break the sum", 3)
def part_1(worlds: Any) -> Marks:
    if isinstance(worlds, Other) and worlds.kind == "Result":
        raise AnswerError("`worlds` is the whole result of a check.", "The two lists are in `result.worlds`.")
    world_in, world_out = (_weights(world) for world in as_pair(worlds, "worlds"))
    if not _one_more(world_in, world_out):
        hint = "Neighbours are two lists, one of which has one weight more. The other weights are the same."
        raise AnswerError(f"{shown(world_in)} and {shown(world_out)} are no neighbours.", hint)
    found = evidence(world_in, world_out)
    if is_violated(found):
        return Marks(3, finding(found))
    return Marks(1, finding(found), "Whose weight moves the sum most? Compare that with the scale of the noise.")


def _weights(world: Any) -> list[float]:
    if not isinstance(world, list) or not all(isinstance(one, REAL) for one in world):
        raise AnswerError(f"Each world must be a list of weights, got {shown(world)}.", "As in ([58, 71], [58]).")
    return [float(one) for one in world]


def _one_more(one: list[float], other: list[float]) -> bool:
    short, long = sorted((one, other), key=len)
    if len(long) != len(short) + 1:
        return False
    rest = [repr(weight) for weight in long]  # so that NaN equals NaN
    return any(rest[:at] + rest[at + 1 :] == [repr(weight) for weight in short] for at in range(len(rest)))


@part(2, "The sensitivity of a sum", 4)
def part_2(sensitivity_of_sum: Any, *, draw: Random) -> Marks:
    require_function(sensitivity_of_sum, "sensitivity_of_sum")
    wasteful = None
    tried = _bounds(draw)
    for bounds in tried:
        answer = sensitivity_of_sum(*bounds)
        if not isinstance(answer, REAL) or not 0 < float(answer) < math.inf:
            message = f"sensitivity_of_sum{bounds} must be a positive number, got {shown(answer)}."
            raise AnswerError(message, "It is how far the sum can move: 0 means that nobody can move it.")
        with patch.object(sensitivity, "of_sum", lambda low, high, answer=answer: float(answer)):
            found = _worst(bounds, [*bounds, sum(bounds) / 2, bounds[0] - 7, bounds[1] + 7])
        if is_violated(found):
            message = f"With weights clipped to {list(bounds)}, sensitivity_of_sum{bounds} = {answer}: {finding(found)}"
            return Marks(0, message, _mistaken(bounds))
        if found.epsilon < 0.99 * EPSILON and wasteful is None:
            wasteful = (
                f"sensitivity_of_sum{bounds} = {answer}: the largest loss is {found.epsilon:.3g}, and 1 is allowed."
            )
    if wasteful is not None:
        hint = "It is private, with more noise than needed: how far does one patient move the sum at most?"
        return Marks(2, wasteful, hint)
    return Marks(
        4,
        f"For {len(tried)} pairs of bounds all neighbours tried keep the claim, with no more noise than needed.",
    )


def _bounds(draw: Random) -> list[tuple[int, int]]:
    lows = [draw.randint(-50, 40) for _ in range(HIDDEN)]
    return [*BOUNDS, *((low, low + draw.randint(5, 50)) for low in lows)]


def _mistaken(bounds: tuple[int, int]) -> str:
    if bounds[0] < 0:
        return "Numbers may be negative. Which end of the interval lies further from 0?"
    return "A new patient adds a weight and removes none. Compare the sum without any patient and the sum with one."


def _worst(bounds: tuple[int, int], added: list[float]) -> ExactEvidence:
    """Return the evidence with the largest loss, over neighbours that differ by one of the weights."""
    starts: list[list[float]] = [[], [bounds[0]]]
    found = [evidence([*start, weight], start, bounds) for start in starts for weight in added]
    return max(found, key=lambda one: (is_violated(one), one.epsilon))


@part(3, "A clip for missing weights", 3)
def part_3(clip: Any, *, draw: Random) -> Marks:
    require_function(clip, "clip")
    for bounds in _bounds(draw):
        _require_clipped(clip, bounds, draw)
    return Marks(3, "Every float is clipped, NaN and the infinite ones too, and what lies between the bounds stays.")


def _require_clipped(clip: Callable[..., Any], bounds: tuple[int, int], draw: Random) -> None:
    """Raise AnswerError where a clip moves what lies within the bounds, or lets the sum move further than that does."""
    low, high = map(float, bounds)
    weights = _weights_about(low, high, draw)
    inside = [weight for weight in weights if low <= weight <= high]
    for weight in inside:
        if _sum_with(clip, weight, bounds) != Fraction(weight):
            message = f"{weight!r} lies within {list(bounds)}, and your clip moves it."
            raise AnswerError(message, "Move only what lies outside.")
    for weight in [*(weight for weight in weights if weight not in inside), INFINITE, -INFINITE, MISSING]:
        if abs(_sum_with(clip, weight, bounds)) > max(-low, high):
            message = f"The weight {weight!r} moves the sum further than any weight within {list(bounds)}."
            raise AnswerError(message, "The result must lie within the bounds, or be 0, for every float.")


def _weights_about(low: float, high: float, draw: Random) -> list[float]:
    """Return finite weights: the bounds and their neighbours, zeros, weights with digits, and some at random."""
    near = [math.nextafter(bound, side) for bound in (low, high) for side in (INFINITE, -INFINITE)]
    at_random = [draw.uniform(2 * low - high, 2 * high - low) for _ in range(RANDOM)]
    few = [0.0, -0.0, 5e-324, 0.1, low + 0.1, (low + high) / 2]
    return [low, high, *near, *few, *at_random, low - 7, high + 7, -1e300, 1e300]


def _sum_with(clip: Callable[..., Any], weight: float, bounds: tuple[int, int]) -> Fraction:
    """Return the sum of the weights of one patient, without noise. Raises AnswerError where the query raises."""
    try:
        with patch.object(queries, "clip", clip):
            total: Fraction = queries.total_weight([weight], EPSILON, lambda value, scale: value, bounds)
    except (RaisedError, ArithmeticError, TypeError, ValueError) as error:
        number = (
            "NaN is neither less nor more than any number. And an"
            if math.isnan(weight)
            else "It must return a number. An"
        )
        reason = str(error) if isinstance(error, RaisedError) else f"{type(error).__name__}: {error}"
        hint = f"{number} exception tells that the patient is there."
        raise AnswerError(f"For the weight {weight!r} the query raises {reason}", hint) from None
    return total
