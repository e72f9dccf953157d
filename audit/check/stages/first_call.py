"""The first calls: a few runs of a few inputs."""

from __future__ import annotations

from contextlib import suppress
from itertools import takewhile
from typing import Any

from subnormal.audit.check.function import OverTimeError, are_early, stopped_answering
from subnormal.audit.check.search import Pair
from subnormal.audit.check.stages.state import SHARE, Check
from subnormal.mechanisms.core.mechanism import Refused

FIRST_PAIRS = 8  # pairs of the first calls
FIRST_RUNS = 4  # runs of each of their inputs


def first_calls(check: Check) -> tuple[Pair, list[list[Any]]]:
    """Return the first pair, and the outcomes of some runs of some inputs, a list for each input."""
    outcomes: list[list[Any]] = []
    pairs: list[Pair] = []

    def called(pair: Pair) -> float:
        pairs.append(pair)
        for data in pair:
            if outcomes and check.runs.left() <= 0:
                break
            drawn = check.function.outcomes(data, 1)
            more = 0 if check.runs.is_too_slow(8 * FIRST_RUNS * FIRST_PAIRS) else FIRST_RUNS - 1
            outcomes.append(drawn + check.function.outcomes(data, more))
            answers = sum(1 for _ in takewhile(lambda outcome: not isinstance(outcome, Refused), outcomes[-1]))
            check.answered = max(check.answered, (answers, data), key=lambda one: one[0])
        return 0.0

    check.search("first call", called, check.seconds / 8, examples=FIRST_PAIRS)
    return pairs[0], outcomes


def no_longer_answers(check: Check) -> str | None:
    """Return the error of a function that refuses an input again and again that it answered in its first calls."""
    (answers, data), refusals = check.answered, 0
    if answers == 0 or check.function.last_answer == check.function.runs:
        return None
    with suppress(OverTimeError), check.function.within(SHARE * check.seconds):
        while isinstance(outcome := check.function.outcome(data), Refused):
            refusals += 1
            if are_early(answers, answers, answers + refusals):
                return stopped_answering(check.function, outcome)
    return None
