"""Claims about mechanisms with different budgets: one after the other on the same data, or on disjoint parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from subnormal.audit.claims.kind import Bounds, Kind, decades, deltas, least_epsilon
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


def _budgets() -> Mapping[str, Any]:
    from hypothesis import strategies as st

    failure = st.one_of(st.just(0.0), decades(-12, -2, 1e-6))
    one = st.tuples(decades(-6, 2, 1.0, 0.1, 100.0, 500.0), failure)
    return {"budgets": st.lists(one, min_size=1, max_size=MOST).map(tuple), "delta": deltas(0.0)}


BUDGET_KINDS = (
    Kind("mixed-composition", "ε at δ", _budgets, _composed, exact=True),
    Kind("parallel-composition", "ε at δ", _budgets, _parallel, exact=True),
)
