"""Claims about mechanisms with different budgets: one after the other on the same data, or on disjoint parts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod

from hypothesis import strategies as st

from subnormal.audit.claims.kind import DELTA_OR_NONE, FAILURE, Bounds, Kind, decades, least_epsilon
from subnormal.mechanisms.numerics.interval import Interval, exp, interval, largest

MOST = 6  # mechanisms: all their answers together are counted one by one
Budgets = tuple[tuple[float, float], ...]  # (ε, failure) of each mechanism


def _composed(budgets: Budgets, delta: float) -> Bounds:
    """Return the bounds on ε(δ) of the worst mechanisms with these budgets: randomized responses that may fail.

    Each fails, and tells its value, with probability f, and else is true with probability 1/(1 + e^−ε). An adaptive
    choice of mechanisms, of these budgets in this order, does no worse.
    Source: Murtagh, Vadhan 2016, "The complexity of computing the optimal composition", Theorem 1.5.
    """
    failed = 1 - prod((1 - Fraction(failure) for _, failure in budgets), start=Fraction(1))
    if failed > delta:
        return float("inf"), float("inf")
    return least_epsilon(_delta_of([epsilon for epsilon, _ in budgets], failed), delta)


def _delta_of(epsilons: list[float], failed: Fraction) -> Callable[[float], Interval]:
    """Return δ as a function of ε: that of the answers, unless one fails."""
    answers = [(1 / (1 + exp(-interval(one))), 1 / (1 + exp(one))) for one in epsilons]
    worlds = []
    for are_true in product((True, False), repeat=len(answers)):
        own, other = interval(1), interval(1)
        for (truth, lie), is_true in zip(answers, are_true, strict=True):
            own, other = own * (truth if is_true else lie), other * (lie if is_true else truth)
        worlds.append((own, other))

    def delta(epsilon: float) -> Interval:
        ratio, pure = exp(epsilon), interval(0)
        for own, other in worlds:
            pure = pure + largest(0, own - ratio * other)
        return interval(failed) + interval(1 - failed) * pure

    return delta


def _parallel(budgets: Budgets, delta: float) -> Bounds:
    """Return the bounds of the part of the data that loses most: a record is in one part alone.

    Source: McSherry 2009, Theorem 4; Kairouz, Oh, Viswanath 2015.
    """
    every = [_composed((one,), delta) for one in budgets]
    return max(low for low, _ in every), max(up for _, up in every)


BUDGET = st.tuples(decades(-6, 2, 1.0, 0.1, 100.0, 500.0), FAILURE)
OF_BUDGETS = {"budgets": st.lists(BUDGET, min_size=1, max_size=MOST).map(tuple), "delta": DELTA_OR_NONE}
BUDGET_KINDS = (
    Kind("mixed-composition", "ε at δ", OF_BUDGETS, _composed, exact=True),
    Kind("parallel-composition", "ε at δ", OF_BUDGETS, _parallel, exact=True),
)
