"""Laws of statistics of outcomes, as dictionaries of probabilities, and the event of two laws that an adversary needs.

Probabilities are floats: sums and products of at most some thousand of them, so they are right to 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any

from subnormal.audit.statistics.e_process import mean_growth
from subnormal.mechanisms.privacy import Claim

Law = Mapping[Any, float]
ALPHA = 1e-6  # of a conviction
FIRST = 64  # runs of the first batch of the sequential test, which bets nothing
REACH = 40  # scales of noise, beyond which e^−40 is no matter


@dataclass(frozen=True, slots=True)
class Optimum:
    """An event: the values of the statistic in it, and its probabilities on the two inputs."""

    values: frozenset[Hashable]
    first: float
    second: float


def optimal(claim: Claim, first: Law, second: Law) -> Optimum:
    """Return the event {first's probability ≥ t · second's} with the fastest growth of wealth, over all t.

    By Neyman and Pearson, no event with the same probability on one input is rarer on the other. An event and its
    complement are one here, since the test bets on both.
    """
    values = [one for one in {**first, **second} if first.get(one, 0.0) or second.get(one, 0.0)]

    def ratio(value: Hashable) -> float:  # rounded, so that equal ratios are one level
        below = second.get(value, 0.0)
        return round(math.log(first.get(value, 0.0) or 5e-324) - math.log(below or 5e-324), 9)

    taken: list[Hashable] = []
    best, fastest = Optimum(frozenset(), 0.0, 0.0), 0.0
    for _, level in groupby(sorted(values, key=ratio, reverse=True), key=ratio):
        taken += level
        one, other = (min(1.0, math.fsum(law.get(value, 0.0) for value in taken)) for law in (first, second))
        if (speed := growth(claim, one, other)) > fastest * (1 + 1e-9):
            best, fastest = Optimum(frozenset(taken), one, other), speed
    return best


def growth(claim: Claim, first: float, second: float) -> float:
    """Return the growth of wealth by the best bet on an event or on its complement, in nats a run."""
    first, second = max(first, second), min(first, second)
    return max(mean_growth(claim, first, second), mean_growth(claim, 1 - second, 1 - first))


def runs_needed(claim: Claim, first: float, second: float) -> float:
    """Return FIRST + ln(1/ALPHA) / growth: no sequential test by bets on this event needs fewer runs in the mean.

    The logarithm of a bet's wealth grows by at most `growth` in a run, in the mean, whatever is bet. By Wald's identity
    its mean after N runs is at most growth · E[N], and it must reach ln(1/ALPHA).
    """
    speed = growth(claim, first, second)
    return FIRST + math.log(1 / ALPHA) / speed if speed > 0 else math.inf


def loss(claim: Claim, one: float, other: float) -> float:
    """Return the largest ε that the event refutes at the claim's δ, in nats."""
    ways = ((one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one))
    return max(math.log((p - claim.delta) / q) if q > 1e-300 else math.inf for p, q in ways if p > claim.delta)


def geometric(scale: float, center: int = 0) -> Law:
    """Return the law of `noise.whole`: an integer k away from the center in proportion to e^(−|k|/scale)."""
    share = math.exp(-1 / scale)
    reach = math.ceil(REACH * scale)
    return {center + k: (1 - share) / (1 + share) * share ** abs(k) for k in range(-reach, reach + 1)}


def uniform(values: Sequence[Any]) -> Law:
    """Return the law that has each value with the same probability."""
    return dict.fromkeys(values, 1 / len(values))


def coin(probability: float) -> Law:
    """Return the law of 1 with this probability, and of 0 otherwise."""
    return {1: probability, 0: 1 - probability}


def mapped(law: Law, function: Callable[[Any], Hashable]) -> Law:
    """Return the law of a function of a value."""
    found: dict[Any, float] = {}
    for value, probability in law.items():
        key = function(value)
        found[key] = found.get(key, 0.0) + probability
    return found


def mixed(*parts: tuple[float, Law]) -> Law:
    """Return the law that follows each law with its probability."""
    keys = {key for _, law in parts for key in law}
    return {key: sum(weight * law.get(key, 0.0) for weight, law in parts) for key in keys}


def joint(*laws: Law) -> Law:
    """Return the law of tuples of independent values."""

    def extended(tuples: Law, law: Law) -> Law:
        return {(*one, value): p * q for one, p in tuples.items() for value, q in law.items()}

    return reduce(extended, laws, {(): 1.0})


def summed(*laws: Law) -> Law:
    """Return the law of the sum of independent numbers; probabilities below 1e-30 are left out."""

    def added(one: Law, law: Law) -> Law:
        found: dict[Any, float] = {}
        for value, p in one.items():
            for step, q in law.items():
                if p * q > 1e-30:
                    found[value + step] = found.get(value + step, 0.0) + p * q
        return found

    return reduce(added, laws)


def binomial(count: int, probability: float) -> Law:
    """Return the law of the number of successes."""
    return {k: math.comb(count, k) * probability**k * (1 - probability) ** (count - k) for k in range(count + 1)}


def cells(cumulative: Callable[[float], float], width: float, low: float, high: float) -> Law:
    """Return the law of floor(x / width) of a number x with a cumulative distribution function, from low to high."""
    numbers = range(math.floor(low / width), math.ceil(high / width))
    return {number: cumulative((number + 1) * width) - cumulative(number * width) for number in numbers}
