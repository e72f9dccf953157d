"""Run in the environment of a tool: `python -m benchmarks.adversary.tools.NAME PROBLEM SECONDS` prints its answer."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.adversary.functions import PROBLEMS
from benchmarks.adversary.problem import Problem

ALPHA = 1e-6  # of a conviction
FIRST = 1_000  # runs of each input, in the first try
WIDTH = 40  # numbers of a text or a set, at most


class OverError(Exception):
    """The time is over."""


def numbers(outcome: Any) -> list[float]:
    """Return an outcome as numbers: texts by their letters, mappings by sorted keys, None and exceptions as a flag."""
    if outcome is None or isinstance(outcome, Exception):
        return [-1.0]
    if isinstance(outcome, int | float):
        return [float(outcome)]
    if isinstance(outcome, str):
        return [float(ord(one)) for one in outcome.ljust(WIDTH)[:WIDTH]]
    if isinstance(outcome, frozenset):
        members = numbers([hash(one) % 1000 if isinstance(one, int) else ord(one) for one in sorted(outcome)])
        return [float(len(outcome)), *members]
    parts = [part for item in sorted(outcome.items()) for part in item] if isinstance(outcome, Mapping) else outcome
    return [number for part in parts for number in numbers(part)]


class Runs:
    """Draws outcomes as vectors of one length, until the time is over."""

    def __init__(self, problem: Problem, seconds: float) -> None:
        self.problem, self.made, self.started = problem, 0, time.process_time()
        self.ends = self.started + seconds
        self.length = max(len(self.one(world)) for world in problem.pair for _ in range(200))

    def one(self, value: Any) -> list[float]:
        """Return one outcome."""
        if time.process_time() > self.ends:
            raise OverError
        self.made += 1
        try:
            return numbers(self.problem.function(value))
        except Exception as error:
            return numbers(error)

    def many(self, world: int, count: int) -> np.ndarray[Any, Any]:
        """Return outcomes on one of the two inputs, as an array (count, length); −1 fills what is missing."""
        drawn = np.full((count, self.length), -1.0)
        for row in drawn:
            outcome = self.one(self.problem.pair[world])[: self.length]
            row[: len(outcome)] = outcome
        return drawn


def answer(convicts: Callable[[Runs, int], bool]) -> None:
    """Print whether a tool convicts with 1,000 runs, 2,000, … until the time is over."""
    random.seed(1)
    np.random.seed(1)
    runs, count, found = Runs(PROBLEMS[sys.argv[1]], float(sys.argv[2])), FIRST, False
    try:
        while not found:
            found, count = convicts(runs, count), 2 * count
    except OverError:
        pass
    spent = round(time.process_time() - runs.started, 2)
    print(json.dumps({"found": found, "runs": runs.made // 2, "processor": spent, "error": None}))
