"""The first calls: a few runs of a few inputs."""

from __future__ import annotations

from typing import Any

from subnormal.audit.check.search import Pair
from subnormal.audit.check.stages.state import Check

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
        return 0.0

    check.search("first call", called, check.seconds / 8, examples=FIRST_PAIRS)
    return pairs[0], outcomes
