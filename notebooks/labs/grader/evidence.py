"""What graders ask of Subnormal, and the sentences for what it answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.answers import AnswerError, shown
from subnormal import Verdict
from subnormal.audit.model import ExactEvidence

REAL = (int, float, Fraction)  # types of a number in an answer


def as_pair(worlds: Any, name: str) -> tuple[Any, Any]:
    """Return both worlds of an answer. Raises AnswerError where it is no pair."""
    if not isinstance(worlds, list | np.ndarray) or len(worlds) != 2:
        raise AnswerError(f"`{name}` must be a pair (in, out), got {shown(worlds)}.", "As in ([0, 1], [1, 1]).")
    return worlds[0], worlds[1]


def as_integers(values: Any, name: str) -> NDArray[np.int64]:
    """Return a vector of integers. Raises AnswerError where the answer is none."""
    try:
        vector = np.asarray(values)
    except ValueError:  # lists of several lengths
        vector = np.empty(0)
    if vector.ndim != 1 or vector.size == 0 or vector.dtype.kind not in "iu":
        raise AnswerError(f"`{name}` must be a list of integers, got {shown(values)}.", "As in [0, 1, 1].")
    return vector.astype(np.int64)


def require_function(function: Any, name: str) -> None:
    """Raise AnswerError where the answer is no function."""
    if not callable(function):
        raise AnswerError(f"`{name}` must be a function, got {shown(function)}.", f"Write def {name}(...): ...")


def require_neighbours(data_in: NDArray[np.int64], data_out: NDArray[np.int64], of_what: str) -> None:
    """Raise AnswerError for vectors that are not equally long, or differ by more than 1 anywhere."""
    if len(data_in) != len(data_out):
        message = f"The worlds are no neighbours: one has {len(data_in)} of the {of_what}, the other {len(data_out)}."
        raise AnswerError(message, "One person changes the numbers, not how many there are.")
    apart = max(abs(one - other) for one, other in zip(data_in.tolist(), data_out.tolist(), strict=True))  # any size
    if apart > 1:
        message = f"The worlds are no neighbours: two {of_what} are {apart} apart."
        raise AnswerError(message, "One person changes each number by at most 1, up or down. Each of them may move.")


def finding(evidence: ExactEvidence) -> str:
    """Return what exact evidence says of a pair of worlds, in a sentence."""
    loss = "infinite" if math.isinf(evidence.epsilon) else f"{evidence.epsilon:.4g}"
    return f"The verdict on these worlds is {evidence.verdict}, the loss is {loss}."


def is_violated(evidence: ExactEvidence) -> bool:
    """Return whether the two laws break the claim."""
    return evidence.verdict is Verdict.VIOLATED


class OwnEvent:
    """A student's function of an array of outcomes, as an event."""

    def __init__(self, function: Callable[[Any], Any], name: str) -> None:
        self.function, self.name = function, name

    def __call__(self, outcomes: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
        array = np.array(outcomes)
        answer = np.asarray(self.function(array))
        if answer.dtype != np.bool_ or answer.shape != array.shape:
            message = f"`{self.name}` must return an array of {len(array)} bools, one for each output"
            hint = "Compare the whole array at once, as in `outputs > 0.5` or `np.isin(outputs, others)`."
            raise AnswerError(f"{message}, got {answer.dtype} of shape {answer.shape}.", hint)
        return answer

    def to_json(self) -> dict[str, Any]:
        """Return the event's name: another language cannot evaluate it."""
        return {"kind": "predicate", "name": self.name, "portable": False}
