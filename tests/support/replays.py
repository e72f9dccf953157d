"""The replays of a function on a pair of inputs, from given seeds: what they show, and whether they convict."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from subnormal import Claim
from subnormal.audit.check.function import Function, isolated, reseed
from subnormal.audit.check.replay.modelled import Replayed, replayed
from subnormal.audit.check.replay.primitives import intercepted
from subnormal.audit.check.replay.recorder import Recorder

SEEDS = range(25)
PAIR = [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]
TINY = Claim(0.05)

Pair = tuple[Any, Any]


def laplace(scale: float = 1.0) -> float:
    return np.random.laplace(0.0, scale)


def replays(function: Callable[[Any], Any], claim: Any, pair: Pair, seeds: Sequence[int]) -> list[Replayed | None]:
    recorder, results = Recorder(Function(function, "function")), []
    with isolated(1), intercepted(function, recorder.intercept):
        for seed in seeds:
            reseed(seed, "test")
            results.append(replayed(recorder, pair, claim))
    return results


def shown(function: Callable[[Any], Any], claim: Any = TINY, pair: Pair = PAIR) -> Replayed:
    result = replays(function, claim, pair, [1])[0]
    assert result is not None
    return result


def accused(function: Callable[[Any], Any], claim: Any = TINY, pair: Pair = PAIR, seeds: Sequence[int] = SEEDS) -> bool:
    """Return whether the losses of a pair convict on any of many runs."""
    results = replays(function, claim, pair, seeds)
    return any(one is not None and one.evidence is not None and one.evidence.losses for one in results)
