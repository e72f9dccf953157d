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
DIGIT = 30  # bits of a digit of Python's integers
PRODUCT_COST = 64  # products of digits that take as long as one product of objects without them
WORK_MAX = 1 << 33  # products of digits: ten seconds
WEIGHTS_MAX = 1 << 22  # of all answers: half a gigabyte


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


def require_small(queries: int, kinds: int, positives: int | None, values: int, bits: int) -> None:
    """Raise NoLawError where a law has more than 2^14 outcomes, or takes too many products of digits.

    Each query has one negative answer, and so many kinds of positive ones. values: of the threshold's noise. bits: of
    the answers' unit. Each query multiplies the weights of every outcome that is still open.
    """
    if queries * (1 + kinds) * values > WEIGHTS_MAX:
        raise NoLawError(
            f"{queries} queries, {kinds} positive answers and {values} values of noise are too many weights"
        )
    most = queries if positives is None else positives
    still_open, ended, work = {most: 1}, 0, 0  # outcomes by the number of positives left
    for place in range(queries):
        following: dict[int, int] = {}
        for left, count in still_open.items():
            following[left] = following.get(left, 0) + count
            if left > 1:
                following[left - 1] = following.get(left - 1, 0) + count * kinds
            else:
                ended += count * kinds
        work += sum(still_open.values()) * (1 + kinds) * (PRODUCT_COST + (place + 1) * (1 + bits // DIGIT) ** 2)
        still_open = following
        if ended + sum(still_open.values()) > OUTCOMES_MAX:  # each open one has a completion
            raise NoLawError(f"{queries} queries have more than {OUTCOMES_MAX} outcomes")
    if 2 * values * work > WORK_MAX:
        raise NoLawError(f"{queries} queries take too many products of {bits} bits for {values} values of noise")


def law(
    prior: Weights, prior_unit: int, answers: Sequence[Sequence[Answer]], unit: int, positives: int | None
) -> Law[Answers]:
    """Return the law of the outcomes: enclosures, or exact where all weights are.

    prior: of the noise's values, over prior_unit. answers[i] are those of query i, over unit. An outcome ends with its
    positives-th positive answer; None: with the last query. What the outcomes' lower bounds leave is the law's `rest`.
    Ask `require_small` before.
    """
    most = len(answers) if positives is None else positives
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
