"""A function with a flaw, and what an adversary who knows everything would look for."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.adversary.laws import Law, Optimum, optimal
from subnormal.audit.neighbours.relations import within
from subnormal.mechanisms.privacy import Claim

Function = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """data, adjacent, claim: what `check` is given. pair: two neighbours that break the claim.

    statistic: what of an outcome the optimal event depends on; an exception that the function raises is an outcome too.
    laws: the laws of the statistic on the two inputs. error: by how much their cumulative probabilities may be wrong.
    words: the event, for readers. sound: the function without its flaw, which keeps the claim on the whole domain.
    """

    name: str
    function: Function
    data: st.SearchStrategy[Any]
    adjacent: Any
    claim: Claim
    pair: tuple[Any, Any]
    words: str
    statistic: Callable[[Any], Hashable]
    laws: Callable[[], tuple[Law, ...]]
    sound: Function | None = None
    error: float = 0.0

    @property
    def optimum(self) -> Optimum:
        """The optimal event, and its probabilities on the two inputs of the pair."""
        first, second = self.laws()
        return optimal(self.claim, first, second)

    def run(self, value: Any) -> Hashable:
        """Return the statistic of one run."""
        try:
            outcome = self.function(value)
        except Exception as error:
            outcome = error
        return self.statistic(outcome)


Setting = tuple[st.SearchStrategy[Any], Any, Claim, tuple[Any, Any]]  # data, adjacent, claim and pair
BIT: Setting = (st.integers(0, 1), within(1), Claim(1.0), (1, 0))


def problem(
    function: Function,
    setting: Setting,
    words: str,
    statistic: Callable[[Any], Hashable],
    laws: Callable[[], tuple[Law, ...]],
    sound: Function | None = None,
    error: float = 0.0,
) -> Problem:
    """Return the problem with the name of its function."""
    name = function.__name__.replace("_", "-")
    return Problem(name, function, *setting, words, statistic, laws, sound, error)


def same(outcome: Any) -> Any:
    """Return the outcome: the statistic where nothing is left out."""
    return outcome


def whole(scale: float) -> int:
    """Return an integer k in proportion to e^(−|k|/scale)."""
    return math.floor(random.expovariate(1 / scale)) - math.floor(random.expovariate(1 / scale))


def wholes(scale: float, count: int) -> list[int]:
    """Return many such integers, from numpy."""
    share = -math.expm1(-1 / scale)
    return (np.random.geometric(share, count) - np.random.geometric(share, count)).tolist()  # type: ignore[no-any-return]
