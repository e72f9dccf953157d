"""Certified bounds on ε(δ) of many steps, from buckets and from closed forms that hold where buckets do not reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from subnormal.audit.claims.kind import Bounds, clipped
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.privacy_buckets import LOSS_MAX, Masses, fill_buckets
from subnormal.mechanisms.numerics.interval import Interval, exp, expm1, interval, log, log1p

COUNT = 4_000  # buckets
FEW, MANY_STEPS = 400, 10**6  # buckets where there are many steps: fewer collect fewer rounding errors


def composed(directions: Callable[[int], Sequence[Composition]], steps: int, delta: float) -> Bounds:
    """Return the bounds on ε(δ) of so many steps, the larger of all directions. directions(count): of one step."""
    low, up = 0.0, math.inf
    for count in (COUNT, FEW)[: 2 if steps >= MANY_STEPS else 1]:
        found = [one.compose(steps).epsilon(delta) for one in directions(count)]
        low, up = max(low, *(one[0] for one in found)), min(up, max(one[1] for one in found))
    return low, up


def response_epsilon(each: Interval, steps: int, delta: float, failure: float = 0.0) -> Bounds:
    """Return the bounds on ε(δ) of answers each of which is known with probability `failure`, and else private at ε.

    That is the worst of all mechanisms that are (ε, failure)-private (Kairouz, Oh, Viswanath 2015).
    Of one answer, δ(x) = f + (1 − f)·(e^ε − e^x)/(1 + e^ε) for x ≤ ε. Of many, all answers are true with
    probability h = ((1 − f)/(1 + e^−ε))^T, in the other world e^(−Tε)·h, which bounds ε(δ) from below.
    """
    least = -expm1(steps * log1p(-interval(failure)))  # the probability that something is known for certain
    if least.low > delta:
        return math.inf, math.inf
    if steps == 1:
        left = (interval(delta) - failure) / (1 - interval(failure))
        inner = 1 - left * (1 + exp(-each))
        return clipped(each + log(inner)) if inner.low > 0 else (0.0, 0.0 if inner.high <= 0 else each.floats()[1])
    total = steps * each
    up = total.floats()[1] if least.high <= delta else math.inf
    true = exp(steps * (log1p(-interval(failure)) - log1p(exp(-each))))
    low = 0.0
    spare = interval(delta) - least if failure else interval(delta)
    if true.low > 0 and (share := spare / true).high < 1:
        low = (total + log1p(-share)).floats()[0]
    if not failure and delta == 0:
        low = total.floats()[0]
    elif 0 < each.floats()[1] <= LOSS_MAX:
        found = composed(lambda count: [_response(each, failure, count)], steps, delta)
        low, up = max(low, found[0]), min(up, found[1])
    return max(0.0, low), up


def _response(each: Interval, failure: float, count: int) -> Composition:
    """Return one answer: the atoms are true, false, and known in either world."""
    kept = 1 - interval(failure)
    truth, lie = kept / (1 + exp(-each)), kept / (1 + exp(each))
    low, high = (
        np.array([end[side] for end in (truth.floats(), lie.floats(), (failure, failure), (0.0, 0.0))])
        for side in (0, 1)
    )
    mirrored = [1, 0, 3, 2]
    return Composition(fill_buckets(Masses(low, high), Masses(low[mirrored], high[mirrored]), count))
