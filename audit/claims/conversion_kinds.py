"""Claims about conversions, what one form of privacy implies in another for every mechanism that has the first, and
about compositions of mechanisms with different budgets: one after the other on the same data, or on disjoint parts.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod

from hypothesis import strategies as st

from subnormal.audit.claims.composed import response_epsilon
from subnormal.audit.claims.kind import (
    DELTA,
    DELTA_OR_NONE,
    FAILURE,
    STEPS,
    Bounds,
    Kind,
    clipped,
    decades,
    least_epsilon,
)
from subnormal.audit.claims.noise_kinds import gaussian_delta_at, gaussian_epsilon
from subnormal.mechanisms.numerics.interval import Interval, exp, interval, largest, log, log1p, sqrt
from subnormal.mechanisms.privacy import Zcdp

MOST = 6  # mechanisms: all their answers together are counted one by one
Budgets = tuple[tuple[float, float], ...]  # (ε, failure) of each mechanism
HALVINGS = 50  # of the logarithm of a probability


def _zcdp(rho: float, delta: float) -> Bounds:
    """From below by Gaussian noise with this ρ; from above by Canonne, Kamath, Steinke 2020, Proposition 12."""
    low = gaussian_epsilon(sqrt(2 * interval(rho)), delta)[0]
    return low, Zcdp(rho).epsilon(delta)


def _zcdp_delta(rho: float, epsilon: float) -> Bounds:
    """From below by Gaussian noise with this ρ; from above by Canonne, Kamath, Steinke 2020, Corollary 13."""
    low = clipped(gaussian_delta_at(sqrt(2 * interval(rho)), epsilon))[0]
    return low, Zcdp(rho).delta(epsilon)


def _renyi(alpha: float, tau: float, delta: float) -> Bounds:
    """From below by two coins whose divergence is at most τ in both directions; from above by the same conversion.

    An event of probability p in one world and q in the other has ε(δ) ≥ ln((p − δ)/q).
    Source: Asoodeh et al. 2021; Canonne, Kamath, Steinke 2020, Proposition 12.
    """
    order = interval(alpha)
    cost = (order - 1) * log(1 - 1 / order) - log(order) - log(delta)
    up = max(0.0, (interval(tau) + cost / (order - 1)).floats()[1])
    return max((_coin_epsilon(alpha, tau, delta, p) for p in _shares(alpha, delta)), default=0.0), up


def _shares(alpha: float, delta: float) -> list[float]:
    """Return probabilities p to try: near α·δ, the best where both are small."""
    tried = (alpha * delta, 0.5 * (delta + min(1.0, alpha * delta)), 0.5, 0.9)
    return [p for p in tried if delta < p < 1]


def _coin_epsilon(alpha: float, tau: float, delta: float, p: float) -> float:
    """Return ln((p − δ)/q) for a q that is nearly the least allowed one; 0 where it is negative."""
    own = interval(p)
    near, far = interval(0.0), -2 * interval(tau) - 50  # ln(q/p)
    for _ in range(HALVINGS):
        middle = interval((near.floats()[0] + far.floats()[0]) / 2)
        near, far = (middle, far) if _allowed(alpha, own, own * exp(middle), tau) else (near, middle)
    if not _allowed(alpha, own, own * exp(near), tau):
        return 0.0
    return max(0.0, (log((own - delta) / own) - near).floats()[0])


def _allowed(alpha: float, p: Interval, q: Interval, tau: float) -> bool:
    """Return whether the coins' divergence is at most τ for certain, in both directions."""
    return bool(largest(_divergence(alpha, p, q), _divergence(alpha, q, p)).high <= tau)


def _divergence(alpha: float, p: Interval, q: Interval) -> Interval:
    """Return ln(p^α·q^(1−α) + (1 − p)^α·(1 − q)^(1−α))/(α − 1); 0 for p = q."""
    if p == q:
        return interval(0)
    excess = interval(alpha) - 1
    heads = exp(excess * (log(p) - log(q))) * p
    tails = exp(excess * (log1p(-p) - log1p(-q))) * (1 - p)
    return log(heads + tails) / excess


def _pure_to_zcdp(epsilon: float) -> Bounds:
    """From below by the divergence of order 1 of randomized response, ε·tanh(ε/2); from above by ε²/2, and by ε.

    Source: Bun, Steinke 2016, Proposition 3.3.
    """
    shrunk = exp(-interval(epsilon))
    low = (interval(epsilon) * (1 - shrunk) / (1 + shrunk)).floats()[0]
    return max(0.0, low), min(epsilon, (interval(epsilon) * epsilon / 2).floats()[1])


def _composition(epsilon: float, failure: float, steps: int, delta: float) -> Bounds:
    """Of steps mechanisms together, each (epsilon, failure)-DP. Source: Kairouz, Oh, Viswanath 2015, Theorem 3.3."""
    return response_epsilon(interval(epsilon), steps, delta, failure)


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


RHO = decades(-10, 4, 0.5, 1.0, 1e-6)
ORDER = {"alpha": decades(0.01, 3, 1.5, 2.0, 256.0), "tau": decades(-8, 3, 1.0), "delta": DELTA}
EACH = {"epsilon": decades(-6, 2, 1.0, 0.1, 100.0, 500.0), "failure": FAILURE, "steps": STEPS, "delta": DELTA_OR_NONE}
BUDGET = st.tuples(decades(-6, 2, 1.0, 0.1, 100.0, 500.0), FAILURE)
OF_BUDGETS = {"budgets": st.lists(BUDGET, min_size=1, max_size=MOST).map(tuple), "delta": DELTA_OR_NONE}
CONVERSION_KINDS = (
    Kind("zcdp", "ε at δ", {"rho": RHO, "delta": DELTA}, _zcdp),
    Kind("zcdp-delta", "δ at ε", {"rho": RHO, "epsilon": decades(-6, 4, 0.0, 1.0, 100.0, 700.0)}, _zcdp_delta),
    Kind("renyi", "ε at δ", ORDER, _renyi),
    Kind("pure-to-zcdp", "ρ", {"epsilon": decades(-6, 3, 1.0, 100.0)}, _pure_to_zcdp),
    Kind("composition", "ε at δ", EACH, _composition),
    Kind("mixed-composition", "ε at δ", OF_BUDGETS, _composed, exact=True),
    Kind("parallel-composition", "ε at δ", OF_BUDGETS, _parallel, exact=True),
)
