"""Lab 2: an event for float32 Laplace noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.evidence import OwnEvent, require_function
from grader.marks import Marks, part
from subnormal import Claim, Verdict
from subnormal.audit.evidence import exact
from subnormal.audit.model import ExactEvidence
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.laplace import naive as laplace_naive

BITS = 16  # of a uniform
OTHER_BITS = (13, 18)
EPSILONS = (1.0, 0.01)
SHARE = 0.9  # of the total variation, which no event exceeds
RARE = 0.01
NEVER = "It must never happen from 1. The floats near 0 lie closer together than 1 + noise can land."
FINE = 0.25  # the probability that part 3 asks for
MORE_BITS, RUNS = 30, 10_000  # outputs that no list has, from each value


def law(value: float, epsilon: float, bits: int = BITS) -> Law[float]:
    """Return the exact law of float32 value + noise: every string of bits, and a sign."""
    return laplace_naive.law(value, 1 / epsilon, float_type=np.float32, uniform_bits=bits)


def evidence(event: OwnEvent, epsilon: float, bits: int = BITS) -> ExactEvidence:
    """Return what the exact laws say of an event: value 1 with Alice, 0 without.

    The event is asked once, of all outputs of both values, sorted: it does not see from which value they come.
    """
    law_in, law_out = law(1.0, epsilon, bits), law(0.0, epsilon, bits)
    outputs = np.unique(np.concatenate([np.asarray(law_in.atoms), np.asarray(law_out.atoms)]))
    chosen = outputs[event(outputs)]
    known = OwnEvent(lambda atoms: np.isin(atoms, chosen), event.name)
    return exact.compare(law_in, law_out, Claim(epsilon), known)


@part(1, "All outputs", 3)
def part_1(outputs_from: Any, *, draw: Random) -> Marks:
    require_function(outputs_from, "outputs_from")
    hidden = float(draw.randint(2, 99)), draw.randint(1, 99) / 50
    for value, epsilon in ((0.0, 1.0), (1.0, 1.0), (1.0, 0.01), hidden):
        found = np.asarray(outputs_from(value, epsilon))
        marks = _compared(found, law(value, epsilon), f"outputs_from({value:g}, {epsilon:g})")
        if marks is not None:
            return marks
    return Marks(3, f"Your outputs are those of all {2 << BITS:,} strings of bits, each as often as the law says.")


def _compared(found: NDArray[Any], true_law: Law[float], call: str) -> Marks | None:
    """Return what is wrong with outputs that should follow a law, None if nothing is."""
    if found.dtype != np.float32:
        hint = "Every step rounds to float32: np.log(...).astype(np.float32), and np.float32(...) for the numbers."
        return Marks(0, f"{call} must be an array of float32, got {found.dtype}.", hint)
    if found.size != true_law.denominator:
        hint = "There are two signs, and k goes from 1 to 2^16: ln 0 is no number, and ln 1 = 0 is the least noise."
        return Marks(0, f"{call} has {found.size:,} outputs; there are {true_law.denominator:,} strings of bits.", hint)
    counts = np.repeat(np.asarray(true_law.low), true_law.counts()).tolist()
    expected = dict(zip(np.asarray(true_law.atoms).tolist(), counts, strict=True))
    if Counter(found.ravel().tolist()) == expected:
        return None
    strange = int((~np.isin(found, np.asarray(true_law.atoms))).sum())
    message = f"{call}: {strange:,} of your outputs are not those of the mechanism, or some come too often."
    return Marks(1, message, "Round each step as `release` does: the logarithm, the product with the scale, the sum.")


@part(2, "An event that tells 1 from 0", 4)
def part_2(event: Any) -> Marks:
    require_function(event, "event")
    points, messages, hint = 0, [], ""
    for epsilon in EPSILONS:
        found = evidence(OwnEvent(partial(_swapped, event, epsilon), "event"), epsilon)
        points_here, hint_here = _judged(found, epsilon)
        points, hint = points + points_here, hint or hint_here
        messages.append(
            f"at ε = {epsilon:g}: advantage {found.advantage:.4g}, {Claim(epsilon).advantage_allowed:.4g} is allowed"
        )
    return Marks(points, _sentence(messages), hint)


def _swapped(event: Callable[..., Any], epsilon: float, outputs: NDArray[Any]) -> Any:
    return event(outputs, epsilon)


def _judged(found: ExactEvidence, epsilon: float) -> tuple[int, str]:
    (in_low, _), (out_low, _) = found.event_in or (0.0, 0.0), found.event_out or (0.0, 0.0)
    if found.event_verdict is Verdict.VIOLATED and (found.advantage or 0) >= SHARE * found.total_variation:
        return 2, ""
    if max(in_low, out_low) < RARE or min(in_low, out_low) > 1 - RARE:
        often = "hardly ever" if in_low < RARE else "nearly always"
        hint = (
            f"At ε = {epsilon:g} the event happens {often}, in both worlds. Compare float32 with float32 and exactly, "
        )
        return 0, f"{hint}without a tolerance, and use the outputs of this ε."
    if found.event_verdict is not Verdict.VIOLATED and (found.advantage or 0) <= -np.expm1(-epsilon / 2) + 2.0**-BITS:
        hint = "Noise in real numbers allows this event as well. Which floats can come from one value only?"
        return 0, hint
    return 1, "Better, but not the best: ask of each output whether the value 1 can lead to it at all."


@part(3, "An event without a list", 3)
def part_3(fine: Any, *, draw: Random) -> Marks:
    require_function(fine, "fine")
    messages, points = [], 3
    hint = ""
    if all(_sampled(fine, value, draw) for value in (0.0, 1.0)):
        message = f"With {MORE_BITS} bits it happens from both values."
        return Marks(0, message, f"{NEVER} No list has all outputs of every number of bits.")
    for bits in OTHER_BITS:
        found = evidence(OwnEvent(fine, "fine"), 1.0, bits)
        (in_low, _), (out_low, _) = found.event_in or (0.0, 0.0), found.event_out or (0.0, 0.0)
        messages.append(f"with {bits} bits: P = {in_low:.4g} from 1, {out_low:.4g} from 0")
        if in_low > 0 and out_low > 0:
            points = 0
            hint = hint or NEVER
        elif max(in_low, out_low) < FINE:
            points = min(points, 1 if max(in_low, out_low) > 0 else 0)
            hint = hint or "Take all outputs between -1/2 and 1/2: of which number are those from 1 multiples?"
    return Marks(points, _sentence(messages), hint)


def _sampled(fine: Callable[..., Any], value: float, draw: Random) -> bool:
    """Return whether an event happens among outputs of runs with MORE_BITS bits."""
    bits = seeded_bits(draw.getrandbits(64))
    outputs = laplace_naive.sample(value, 1.0, bits, RUNS, float_type=np.float32, uniform_bits=MORE_BITS)
    return bool(OwnEvent(fine, "fine")(outputs).any())


def _sentence(parts: list[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."
