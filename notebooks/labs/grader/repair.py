"""Lab 3: noise that is exact, from random bits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

from grader.evidence import finding, require_function
from grader.functions import DEPTH, walked
from grader.marks import Marks, part
from subnormal import Claim, Verdict
from subnormal.audit.evidence import exact
from subnormal.audit.model import ExactEvidence
from subnormal.mechanisms.core.law import Law

__all__ = ["walked"]  # the notebook calls it

EPSILON = 0.7  # above ln 2 = 0.693
LOWER, UPPER = 0, 4
LEAST, LARGEST = -2, 6  # of the values; neighbours are at most 1 apart
HALVES = tuple(halves / 2 for halves in range(2 * LEAST, 2 * LARGEST + 1))
HIDDEN = 2  # pairs of values off the halves
NEAR_ENOUGH = Fraction(6, 10)


def _impossible(one: Law[int], other: Law[int]) -> int | None:
    """Return an outcome that is possible by one law and impossible by the other, whatever the undecided strings do."""
    for atom in one.atoms:
        if one.probability(atom)[0] > 8 * other.rest and other.probability(atom)[1] <= other.rest:
            return int(atom)  # type: ignore[arg-type]  # walked
    return None


@part(1, "Integer noise from coins", 3)
def part_1(noise: Any) -> Marks:
    require_function(noise, "noise")
    law = noise.law()
    moved = replace(law, atoms=[atom + 1 for atom in law.atoms])
    found = exact.compare(law, moved, Claim(EPSILON))
    if found.verdict is Verdict.HOLDS:
        return Marks(3, f"Noise and noise + 1 are private: the loss is {found.epsilon:.4g}, and {EPSILON} is allowed.")
    lost = [at for at in (_impossible(law, moved), _impossible(moved, law)) if at is not None]
    if lost:
        message = f"The outcome {lost[0]} is possible for one value, and impossible for the next."
        hint = "Noise with a largest value ends one step later for the neighbour. Every integer must be possible."
        return Marks(0, message, hint)
    if found.verdict is Verdict.UNRESOLVED:
        message = f"Strings of {DEPTH} bits leave a probability of {float(law.rest):.2g} undecided."
        return Marks(1, message, "Use coins that stop soon: each step should cost one bit or so.")
    message = f"The verdict is {found.verdict}: the loss is {found.epsilon:.4g}, and {EPSILON} is allowed."
    return Marks(
        1,
        message,
        "From z to z + 1 the probability may halve or double, at 0 too. Does 0 come in two ways, as +0 and -0?",
    )


@part(2, "A release of real values", 4)
def part_2(release: Any, *, draw: Random) -> Marks:
    require_function(release, "release")
    laws = {value: release.law(value) for value in _values(draw)}
    worst, pair = _worst(laws)
    supports = {tuple(law.atoms) for law in laws.values()}
    if len(supports) == 1 and len(supports.pop()) == 1:
        return Marks(0, "Every value leads to the same outcome.", "It is private, and useless: add noise to the value.")
    if worst.verdict is Verdict.HOLDS:
        return Marks(4, f"All neighbours from {LEAST} to {LARGEST} that were tried keep ε = {EPSILON}.")
    message = f"The values {pair[0]:g} and {pair[1]:g} are neighbours. {finding(worst)}"
    lost = _impossible(laws[pair[0]], laws[pair[1]])
    lost = _impossible(laws[pair[1]], laws[pair[0]]) if lost is None else lost
    if lost is not None:
        hint = f"The outcome {lost} is possible for one of them only. Round the value first, and add the noise last."
    elif pair[0] % 1 == 0.5:
        hint = f"What do you round {pair[0]:g} and {pair[1]:g} to? Python's round goes to even numbers at halves."
    else:
        hint = "How many steps of your grid lie between neighbours? Each of them costs ln 2 = 0.693."
    return Marks(0, message, hint)


def _values(draw: Random) -> list[float]:
    """Return the halves, and neighbours off the halves."""
    hidden = [draw.uniform(LEAST, LARGEST - 1) for _ in range(HIDDEN)]
    return sorted({*HALVES, *hidden, *(value + draw.uniform(0.5, 1) for value in hidden)})


def _worst(laws: dict[float, Law[int]]) -> tuple[ExactEvidence, tuple[float, float]]:
    """Return the neighbours with the worst verdict and the largest loss."""
    order = [Verdict.HOLDS, Verdict.UNRESOLVED, Verdict.VIOLATED]
    pairs = [(one, other) for one in laws for other in laws if 0 < other - one <= 1]
    found = [(exact.compare(laws[one], laws[other], Claim(EPSILON)), (one, other)) for one, other in pairs]
    return max(found, key=lambda pair: (order.index(pair[0].verdict), pair[0].epsilon))


@part(3, "A release that is useful", 3)
def part_3(release: Any) -> Marks:
    require_function(release, "release")
    outside: int | None = None
    for value in range(LOWER, UPPER + 1):
        law = release.law(float(value))
        least = {int(atom): law.probability(atom)[0] for atom in law.atoms}
        near = sum((low for atom, low in least.items() if abs(atom - value) <= 1), Fraction(0))
        if near < NEAR_ENOUGH:
            message = f"For the value {value} the outcome is at most 1 off with probability {float(near):.3g}."
            hint = f"{float(NEAR_ENOUGH):g} is asked for. Too much noise is private, and useless."
            return Marks(0, message, hint)
        outside = next((atom for atom in least if not LOWER <= atom <= UPPER), outside)
    if outside is not None:
        message = f"The outcome {outside} lies outside {LOWER} to {UPPER}."
        return Marks(2, message, "Clamping the outcome costs no privacy: it uses nothing but the outcome.")
    return Marks(3, f"The outcome is at most 1 off with probability {float(NEAR_ENOUGH):g} or more, for every value.")
