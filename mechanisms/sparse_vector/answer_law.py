"""The law of a stream's answers: Σ over the threshold's noise of its probability times the product of the answers'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.sparse_vector.family import Answers

OUTCOMES_MAX = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Bounds on a probability for each value of the threshold's noise, over a unit: Python integers, shape (values,).

    Where high is low they are exact.
    """

    low: NDArray[Any]
    high: NDArray[Any]

    def times(self, other: Weights) -> Weights:
        """Return the products."""
        low = self.low * other.low
        return Weights(low, low if self.high is self.low and other.high is other.low else self.high * other.high)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One answer that a query may get: what it adds to the outcome, whether it counts, and its probabilities."""

    part: Answers
    positive: bool
    weights: Weights


def law(
    prior: Weights, prior_unit: int, answers: Sequence[Sequence[Answer]], unit: int, positives: int | None
) -> Law[Answers]:
    """Return the law of the outcomes: enclosures, or exact where all weights are.

    prior: of the noise's values, over prior_unit. answers[i] are those of query i, over unit. An outcome ends with its
    positives-th positive answer; None: with the last query. What the outcomes' lower bounds leave is the law's `rest`.
    Raises NoLawError where there are more than 2^14 outcomes.
    """
    most = len(answers) if positives is None else positives
    if _count(answers, most) > OUTCOMES_MAX:
        raise NoLawError(f"{len(answers)} queries have more than {OUTCOMES_MAX} outcomes")
    atoms: list[Answers] = []
    low: list[int] = []
    high: list[int] = []

    def descend(place: int, left: int, before: Answers, weights: Weights) -> None:
        if place < len(answers) and left:
            for answer in answers[place]:
                descend(place + 1, left - answer.positive, before + answer.part, weights.times(answer.weights))
            return
        scale = unit ** (len(answers) - place)
        atoms.append(before)  # an impossible one too: in the other world it may be possible
        low.append(int(weights.low.sum()) * scale)
        high.append(low[-1] if weights.high is weights.low else int(weights.high.sum()) * scale)

    descend(0, most, (), prior)
    denominator = prior_unit * unit ** len(answers)
    return Law(atoms, range(1, len(atoms) + 1), low, high, denominator, 1 - Fraction(sum(low), denominator))


def _count(answers: Sequence[Sequence[Answer]], most: int) -> int:
    """Return the number of outcomes, counted by length and by the number of positives left."""
    open_with, ended = {most: 1}, 0
    for of_query in answers:
        following: dict[int, int] = {}
        for left, count in open_with.items():
            for positive in (False, True):
                kinds = count * sum(answer.positive is positive for answer in of_query)
                if left - positive:
                    following[left - positive] = following.get(left - positive, 0) + kinds
                else:
                    ended += kinds
        open_with = following
    return ended + sum(open_with.values())
