"""The replays of a function on a pair of inputs, from given seeds, and whether they convict."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from subnormal import Claim
from subnormal.audit.check.function import Function, isolated, reseed
from subnormal.audit.check.replay.proof import Beyond, exceeded, is_confirmed, runs_needed
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.check.replay.releases import Seen, seen
from subnormal.audit.randomness.primitives import intercepted

ALPHA = 1e-6  # of the share of runs that none of `RUNS` shows
RUNS = runs_needed(ALPHA)
PAIR = [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]
TINY = Claim(0.05)

Pair = tuple[Any, Any]


def laplace(scale: float = 1.0) -> float:
    return np.random.laplace(0.0, scale)


def shown(function: Callable[[Any], Any], pair: Pair = PAIR, seed: int = 1) -> Seen | None:
    """Return what the replays of a pair show."""
    recorder = Recorder(Function(function, "function"))
    with isolated(seed), intercepted(function, recorder.intercept):
        reseed(seed, "test")
        return seen(recorder, pair)


def suspected(function: Callable[[Any], Any], claim: Any = TINY, pair: Pair = PAIR, seed: int = 1) -> Beyond | None:
    """Return the event that convicts a pair, if runs agree with it."""
    replayed = shown(function, pair, seed)
    return None if replayed is None else exceeded(replayed.countable(), claim)


def accused(
    function: Callable[[Any], Any], claim: Any = TINY, pair: Pair = PAIR, seeds: Sequence[int] = range(2)
) -> bool:
    """Return whether a pair is convicted from any of these seeds. Runs drop it though it is right once in 10^6."""
    for seed in seeds:
        beyond = suspected(function, claim, pair, seed)
        with isolated(seed):
            if beyond is not None and is_confirmed(Function(function, "function"), pair, beyond, RUNS):
                return True
    return False
