"""Binomial bounds, Kolmogorov-Smirnov distances and tests of fit, one pure function for each formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.model import Interval
from subnormal.mechanisms.privacy import Claim

FIT_BINS = 1024  # largest number of bins of a test of fit
NEAR = 1e-9  # largest relative error of a tail at which an inverse function is trusted
SIMULATIONS = 999  # of a Monte Carlo p-value at most; its least value is 0.001
EXCEEDING = 20  # simulations at least as far from the law as the counts, at which no more are made
AT_ONCE = 32  # simulations

Tails = Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.float64]]  # at some of the counts


def clopper_pearson(count: int, runs: int, tail: float) -> Interval:
    """Return the exact interval of a binomial probability that errs with probability at most `tail` on each side."""
    (low,), (high,) = clopper_pearson_all(np.array([count]), runs, tail)
    return float(low), float(high)


def clopper_pearson_all(
    counts: NDArray[np.int64], runs: int, tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the exact interval of each count, low ≤ count/runs ≤ high, each of shape (counts,).

    P(X ≥ count) = tail at the low end, P(X ≤ count) = tail at the high end, to a relative error of 10^-9, and on the
    safe side otherwise. tail: at most 1/2, so that the interval contains the share of the count.
    Raises ValueError for a tail above 1/2, or counts that are not between 0 and runs.
    """
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    if not 0 < tail <= 0.5:
        raise ValueError(f"tail must be positive and at most 1/2, got {tail}")
    if runs < 1 or (counts < 0).any() or (counts > runs).any():
        raise ValueError(f"counts must lie between 0 and runs = {runs}, got {counts.min()} to {counts.max()}")
    shares = counts / runs
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    some, missed = counts > 0, counts < runs
    at_least = counts[some], runs - counts[some] + 1
    low[some] = _ends(betaincinv(*at_least, tail), _tails(betainc, betaincc, *at_least), tail, shares[some], 0.0)
    at_most = counts[missed] + 1, runs - counts[missed]
    high[missed] = _ends(betainccinv(*at_most, tail), _tails(betaincc, betainc, *at_most), tail, shares[missed], 1.0)
    return low, high


def _tails(beta: Any, mirrored: Any, a: NDArray[np.int64], b: NDArray[np.int64]) -> Tails:
    """Return the function p ↦ beta(a, b, p), computed by its mirror image above 1/2, where the tail is small.

    Without it scipy may subtract from 1: for 5 misses in 10^8 runs, P(X ≥ count) = 3·10^-296 comes out as 0.
    """

    def tails(at: NDArray[np.float64], where: NDArray[np.bool_]) -> NDArray[np.float64]:
        one, other = a[where], b[where]
        values: NDArray[np.float64] = np.where(at > 0.5, mirrored(other, one, 1 - at), beta(one, other, at))
        return values

    return tails


def _ends(
    inverses: NDArray[Any], tails: Tails, tail: float, shares: NDArray[np.float64], limit: float
) -> NDArray[np.float64]:
    """Return where the tails, which fall from the shares to the limit, reach `tail`, shape (counts,).

    inverses: the values of scipy's inverse function. Some are far off or NaN, for instance near counts of 1,000 of many
    runs (1.17.1). Values that the distribution function does not confirm are replaced by bisection over the floats in
    their order: the end is then the float farthest from the limit whose tail is at most `tail`.
    """
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(tails(inverses, np.full(len(inverses), True)) - tail) <= NEAR * tail)  # NaN is wrong, too
    inner, outer = shares[wrong], np.full(int(wrong.sum()), limit)
    for _ in range(64 if len(inner) else 0):
        middle = (inner.view(np.int64) + (outer.view(np.int64) - inner.view(np.int64)) // 2).view(np.float64)
        safe = tails(middle, wrong) <= tail
        outer, inner = np.where(safe, middle, outer), np.where(safe, inner, middle)
    ends = inverses.copy()
    ends[wrong] = outer
    return ends


def epsilon_lower(event_in: Interval, event_out: Interval, delta: float) -> float:
    """Return the largest ε that the intervals of an event, or of its complement, prove necessary: ln((l − δ)/u)."""
    bound = 0.0
    for one, other in ((event_in, event_out), (event_out, event_in)):
        for low, high in ((one[0], other[1]), (1 - one[1], 1 - other[0])):
            if low - delta > high > 0:
                bound = max(bound, math.log((low - delta) / high))
    return bound


def underpowered(runs: int, alpha: float, epsilon: float, delta: float) -> bool:
    """Return whether even a perfect distinguisher could not show more than (ε, δ) with so many runs of each world.

    The best result is an event in every run of one world and in none of the other. With tails of α/4 its bounds are
    L = (α/4)^(1/runs) and 1 − L, so nothing can be shown while L − δ ≤ e^ε·(1 − L). alpha: the event's part.
    The distance of the worlds, with no more of α than the event, cannot show more either. Let y = (1 − δ)/(1 + e^ε),
    which is at most 1/2. The event needs runs > ln(4/α)/−ln(1 − y). A distance of 1, whose margin must be below 2y,
    needs runs > ln(4/α)/(2·y²), and −ln(1 − y) ≥ y ≥ 2·y².
    """
    return showable(runs, alpha, delta) <= epsilon


def showable(runs: int, alpha: float, delta: float = 0.0) -> float:
    """Return the largest ε that runs of a perfect distinguisher can show: ln((L − δ)/(1 − L)), L = (α/4)^(1/runs)."""
    log_low = math.log(alpha / 4) / runs
    low, high = math.exp(log_low), -math.expm1(log_low)
    return math.log((low - delta) / high) if low > delta else -math.inf


def runs_needed(alpha: float, epsilon: float, delta: float = 0.0) -> int:
    """Return the least number of runs of each world at which a verdict is not UNDERPOWERED: L > (e^ε + δ)/(e^ε + 1).

    Raises ValueError if no affordable number is enough.

    >>> runs_needed(0.05, 1.0)
    14
    """
    if delta >= 1:
        raise ValueError(f"no number of runs can refute delta = {delta}")
    gap = math.exp(-epsilon) * (1 - delta) / (1 + math.exp(-epsilon))  # 1 − (e^ε + δ)/(e^ε + 1)
    runs = max(1, math.floor(math.log(alpha / 4) / math.log1p(-gap)) - 1) if gap > 0 else 0
    if not 0 < runs < 1 << 53:
        raise ValueError(f"no affordable number of runs can refute epsilon = {epsilon}")
    while underpowered(runs, alpha, epsilon, delta):
        runs += 1 + runs // 10**12  # a float's rounding, at most
    return runs


def standard_errors_beyond(
    first: NDArray[np.int64], second: NDArray[np.int64], runs: tuple[int, int], claim: Claim
) -> NDArray[np.float64]:
    """Return the excess of counts of events over the claim, in standard errors, shape (events,). Only for ranking.

    (p − e^ε·q − δ)/√(p/n + e^2ε·q/m), with a run added to each world; the largest over both directions and complements.
    −∞ for an event that happened in all runs or in none.
    """
    ratio = math.exp(min(claim.epsilon, 300.0))
    beyond = np.full(len(first), -np.inf)
    for one, other, size, rest in ((first, second, *runs), (second, first, *runs[::-1])):
        for gain, cost in ((one / size, other / rest), (1 - one / size, 1 - other / rest)):
            spread = np.sqrt((gain + 1 / size) / size + ratio**2 * (cost + 1 / rest) / rest)
            beyond = np.maximum(beyond, (gain - ratio * cost - claim.delta) / spread)
    happened, all_runs = first + second, runs[0] + runs[1]
    return np.where((happened > 0) & (happened < all_runs), beyond, -np.inf)


def parts(alpha: float, bins: int) -> tuple[float, float]:
    """Return the shares of a row's α for the event's bounds and for the distance of the worlds: half each.

    With one bin the event gets all of α, because the distance is always 0.
    """
    return (alpha / 2, alpha / 2) if bins > 1 else (alpha, 0.0)


def dkw_margin(runs: int, alpha: float) -> float:
    """Return the margin of the distance of two empirical distribution functions: 2·√(ln(4/α)/(2·runs)).

    Dvoretzky-Kiefer-Wolfowitz with Massart's constant, α/2 for each world.
    """
    return 2 * math.sqrt(math.log(4 / alpha) / (2 * runs))


def distance_p_value(distance: float, allowed: float, runs: int) -> float:
    """Return the least α at which such a distance of two samples exceeds what is allowed by its margin, 1 at most.

    >>> round(distance_p_value(0.5 + dkw_margin(1_000, 0.01), 0.5, 1_000), 9)
    0.01
    """
    excess = max(0.0, distance - allowed)
    return min(1.0, 4 * math.exp(-runs * excess**2 / 2))


def ks_distance(masses_in: NDArray[np.float64], masses_out: NDArray[np.float64]) -> float:
    """Return the Kolmogorov-Smirnov distance of two distributions over the same bins, shape (bins,).

    Over bins that are fixed in advance it is a lower bound on the distance of the distributions.
    """
    return min(1.0, float(np.abs(np.cumsum(masses_in - masses_out)).max()))  # sums of shares may be rounded above 1


def ks_least(low_in: NDArray[np.float64], low_out: NDArray[np.float64]) -> float:
    """Return the least Kolmogorov-Smirnov distance of two distributions with at least these masses, shape (bins,).

    Up to the rounding of sums. P(x ≤ t) is at least the sum of the bounds up to t, and at most that sum and all of the
    mass that the bounds leave open.

    >>> ks_least(np.array([1.0, 0.0]), np.array([0.25, 0.5]))
    0.5
    """
    apart = np.cumsum(low_in - low_out)
    open_in, open_out = (max(0.0, 1 - float(low.sum())) for low in (low_in, low_out))
    return min(1.0, max(0.0, float(apart.max()) - open_out, float(-apart.min()) - open_in))


def monte_carlo_fit(counts: NDArray[np.int64], masses: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov statistic of counts against a law's masses over the same bins, and its p-value.

    The law is sampled until `EXCEEDING` samples are at least as far from it as the counts, which makes the p-value
    their share; after `SIMULATIONS` it is the rank of the counts. Either way P(p ≤ x) ≤ x, for laws with atoms as well;
    the continuous distribution of the statistic (scipy.stats.kstest) does not give that.
    Source: Besag, Clifford 1991, Sequential Monte Carlo p-values.
    """
    if len(counts) > FIT_BINS:  # neighbouring bins are merged: fixed in advance, so the test stays valid
        starts = np.arange(0, len(counts), -(-len(counts) // FIT_BINS))
        counts, masses = np.add.reduceat(counts, starts), np.add.reduceat(masses, starts)
    runs = int(counts.sum())
    observed = ks_distance(counts / runs, masses)
    possible = masses > 0
    law = masses[possible] / masses[possible].sum()
    generator, exceeding = np.random.default_rng(seed), 0
    for made in range(0, SIMULATIONS, AT_ONCE):
        samples = generator.multinomial(runs, law, size=min(AT_ONCE, SIMULATIONS - made))
        simulated = np.abs(np.cumsum(samples / runs - law, axis=1)).max(axis=1)
        # A float's width of slack: a tie counts as "at least as large", which only raises the p-value.
        found = np.flatnonzero(simulated >= observed - 1e-12)
        if exceeding + len(found) >= EXCEEDING:
            return observed, EXCEEDING / (made + int(found[EXCEEDING - exceeding - 1]) + 1)
        exceeding += len(found)
    return observed, (1 + exceeding) / (1 + SIMULATIONS)
