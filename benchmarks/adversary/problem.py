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
    laws: Callable[[], tuple[Law, Law]]
    sound: Function | None = None
    error: float = 0.0

    @property
    def optimum(self) -> Optimum:
        """The optimal event, and its probabilities on the two inputs of the pair."""
        return optimal(self.claim, *self.laws())

    def run(self, value: Any) -> Hashable:
        """Return the statistic of one run."""
        try:
            outcome = self.function(value)
        except Exception as error:
            outcome = error
        return self.statistic(outcome)


def whole(scale: float) -> int:
    """Return an integer k in proportion to e^(−|k|/scale)."""
    return math.floor(random.expovariate(1 / scale)) - math.floor(random.expovariate(1 / scale))


def wholes(scale: float, count: int) -> list[int]:
    """Return many such integers, from numpy."""
    share = -math.expm1(-1 / scale)
    return (np.random.geometric(share, count) - np.random.geometric(share, count)).tolist()  # type: ignore[no-any-return]
