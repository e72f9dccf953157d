"""Lab 1: break the naive exponential mechanism with worlds of one's own."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.answers import AnswerError, shown
from grader.evidence import REAL, as_integers, finding, is_violated, require_function, require_neighbours
from grader.marks import Marks, part
from subnormal import Claim
from subnormal.attacks.core.events import OneOf
from subnormal.attacks.exponential.float_boundaries import last_positive
from subnormal.audit.evidence import exact
from subnormal.audit.model import ExactEvidence
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.exponential.naive import Variant

EPSILON = 0.3  # of part 4, whose answer is a formula
LEAST, STEPS = 200, 201  # budgets in thousandths: 0.200, 0.201, …, 0.400
OUTCOMES_MAX = 1000
ADVANTAGE = 0.9
NEAR = 1e-9  # how far the loss of part 4 may lie from that of the exact law: sums of floats round
EXAMPLES = (
    ([0, 0], [0, 1]),
    ([1, 0], [0, 1]),
    ([0, 1, 2], [1, 1, 1]),
    ([3, 3, 3, 3], [4, 4, 4, 4]),
    ([5, 0, 0, 9], [4, 1, 0, 10]),
)
HIDDEN = 3  # pairs of worlds at random, beside the examples


def budget(name: str) -> float:
    """Return a student's own ε, by a hash of the name: worlds that break it for one rarely break it for another."""
    if not isinstance(name, str):
        raise AnswerError(f"`name` must be your name as a text, got {shown(name)}.", 'As in name = "Ada Lovelace".')
    digest = sha256(" ".join(name.split()).casefold().encode()).digest()
    return (LEAST + int.from_bytes(digest[:8], "big") % STEPS) / 1000


def evidence(
    epsilon: float, data_in: Any, data_out: Any, *, variant: Variant = "plain", event: Any = None
) -> ExactEvidence:
    """Return what the exact laws of the float64 mechanism say of two worlds. Raises AnswerError for no neighbours."""
    worlds = as_integers(data_in, "data_in"), as_integers(data_out, "data_out")
    require_neighbours(*worlds, "utilities")
    if len(worlds[0]) > OUTCOMES_MAX:
        raise AnswerError(f"At most {OUTCOMES_MAX} outcomes, got {len(worlds[0])}.", "A hundred are enough.")
    if all(_fails(exponential_naive.weights(world, epsilon, variant=variant)) for world in worlds):
        message = "In both worlds the total weight is 0 or infinite, and the mechanism fails for every uniform."
        raise AnswerError(message, "Shift less: some weight must stay positive and finite.")
    law_in, law_out = (exponential_naive.law(world, epsilon, variant=variant) for world in worlds)
    return exact.compare(law_in, law_out, Claim(epsilon), event)


def _fails(weights: NDArray[Any]) -> bool:
    with np.errstate(over="ignore"):
        return not 0 < weights.sum() < np.inf


@part(1, "Worlds that break the float64 mechanism", 3)
def part_1(name: Any, data_in: Any, data_out: Any) -> Marks:
    epsilon = budget(name)
    found = evidence(epsilon, data_in, data_out)
    if is_violated(found):
        return Marks(3, finding(found))
    if np.array_equal(data_in, data_out):
        return Marks(0, finding(found), "Equal worlds have equal laws. Alice must change something.")
    worlds = np.asarray(data_in), np.asarray(data_out)
    if max(world.max() for world in worlds) <= last_positive(epsilon, np.float64):
        hint = "All weights are positive here. From which utility on is a weight 0 in float64?"
    else:
        hint = "A weight of 0 matters where the other world has a positive one for the same outcome."
    return Marks(1, finding(found), hint)


@part(2, "An event that tells your worlds apart", 2)
def part_2(name: Any, data_in: Any, data_out: Any, event: Any) -> Marks:
    if not isinstance(event, frozenset) or not all(isinstance(one, int) for one in event):
        message = f"`event` must be a set of indices of outcomes, got {shown(event)}."
        raise AnswerError(message, "{0, 3} is the event that outcome 0 or outcome 3 was chosen.")
    epsilon = budget(name)
    found = evidence(epsilon, data_in, data_out, event=OneOf(tuple(map(int, event))))
    (in_low, in_high), (out_low, out_high) = found.event_in or (0.0, 0.0), found.event_out or (0.0, 0.0)
    advantage = max(in_low - out_high, out_low - in_high)
    message = f"P(event) is {in_low:.4g} with Alice and {out_low:.4g} without; the advantage is {advantage:.4g}."
    if advantage >= ADVANTAGE:
        return Marks(2, message)
    total = found.total_variation
    if total < ADVANTAGE:
        hint = f"No event has more than {total:.4g} on these worlds. Take more outcomes that become impossible."
    else:
        hint = "Collect all the outcomes that are likely in one world and impossible in the other."
    return Marks(1 if advantage > Claim(epsilon).advantage_allowed else 0, message, hint)


@part(3, "Worlds that break the repair", 3)
def part_3(name: Any, shifted_in: Any, shifted_out: Any) -> Marks:
    found = evidence(budget(name), shifted_in, shifted_out, variant="shifted")
    if is_violated(found):
        return Marks(3, finding(found))
    worlds = np.asarray(shifted_in), np.asarray(shifted_out)
    if min(world.min() for world in worlds) > 1000:
        hint = "The repair subtracts the smallest utility first: only differences count. Which sum rounds now?"
    elif max(int(np.ptp(world)) for world in worlds) > 1000:
        hint = "These weights are absorbed or 0 in both worlds. One of the two must leave a trace: look near 2^-53."
    else:
        hint = "When does 1 + weight round to 1? It must do so in one world, and not in the other."
    return Marks(0, finding(found), hint)


@part(4, "The loss in real numbers", 2)
def part_4(real_loss: Any, *, draw: Random) -> Marks:
    require_function(real_loss, "real_loss")
    examples = [*EXAMPLES, *(_neighbours(draw) for _ in range(HIDDEN))]
    for world_in, world_out in examples:
        for one, other in ((world_in, world_out), (world_out, world_in)):
            law_in, law_out = (exponential_exact.law(world, EPSILON) for world in (one, other))
            loss = exact.compare(law_in, law_out, Claim(EPSILON)).epsilon
            answer = real_loss(np.array(one), np.array(other), EPSILON)
            if not isinstance(answer, REAL) or not np.isfinite(float(answer)):
                raise AnswerError(f"`real_loss` must return a number, got {shown(answer)}.", "One number, the largest.")
            if abs(float(answer) - loss) > NEAR:
                message = (
                    f"For {one} and {other} your loss is {float(answer):.6g}; that of the exact law is {loss:.6g}."
                )
                return Marks(0, message, _misread(real_loss))
    return Marks(2, f"It agrees with the exact laws of {2 * len(examples)} pairs of worlds.")


def _neighbours(draw: Random) -> tuple[list[int], list[int]]:
    world = [draw.randint(1, 9) for _ in range(draw.randint(2, 5))]
    return world, [utility + draw.choice([-1, 0, 1]) for utility in world]


def _misread(real_loss: Callable[..., Any]) -> str:
    if abs(float(real_loss(np.array([3, 3]), np.array([4, 4]), EPSILON))) > NEAR:
        return "A probability is a weight over a total. When all weights shrink alike, the total does too."
    if float(real_loss(np.array([0, 0]), np.array([0, 1]), EPSILON)) <= 0:
        return "The loss is the largest over outcomes, and over both directions: take |ln(P/Q)|."
    return "Weights are e^(-ε·u/2): check the factor 1/2, and take the largest |ln(P/Q)| over all outcomes."
