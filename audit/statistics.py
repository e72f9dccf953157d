"""Bounds and tests: one pure function a formula."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from audit.report import Interval

FIT_CELLS = 1024  # of a test of fit, at the most
SIMULATIONS = 999  # of a Monte Carlo p-value, whose least value is then 0.001


def clopper_pearson(count: int, runs: int, tail: float) -> Interval:
    """Return the exact interval of a binomial probability that errs with probability at most `tail` on each side."""
    from scipy.special import betainccinv, betaincinv

    low = 0.0 if count == 0 else float(betaincinv(count, runs - count + 1, tail))
    high = 1.0 if count == runs else float(betainccinv(count + 1, runs - count, tail))
    return low, high


def epsilon_lower(event_in: Interval, event_out: Interval, delta: float) -> float:
    """Return the largest ε that the intervals of an event, or of its complement, prove necessary: ln((l − δ)/u)."""
    bound = 0.0
    for one, other in ((event_in, event_out), (event_out, event_in)):
        for low, high in ((one[0], other[1]), (1 - one[1], 1 - other[0])):
            if low - delta > high > 0:
                bound = max(bound, math.log((low - delta) / high))
    return bound


def underpowered(runs: int, alpha: float, epsilon: float, delta: float) -> bool:
    """Return whether even a perfect distinguisher could not show more than (ε, δ) with so many runs a world.

    The best that can be seen is an event in every run of one world and none of the other; with tails of α/4 its bounds
    are L = (α/4)^(1/runs) and 1 − L, so nothing can be shown while L − δ ≤ e^ε·(1 − L).
    """
    return showable(runs, alpha, delta) <= epsilon


def showable(runs: int, alpha: float, delta: float = 0.0) -> float:
    """Return the largest ε that runs of a perfect distinguisher can show: ln((L − δ)/(1 − L)), L = (α/4)^(1/runs)."""
    log_low = math.log(alpha / 4) / runs
    low, high = math.exp(log_low), -math.expm1(log_low)
    return math.log((low - delta) / high) if low > delta else -math.inf


def dkw_margin(runs: int, alpha: float) -> float:
    """Return how far the distance of two empirical distribution functions may be off: 2·√(ln(4/α)/(2·runs)).

    Dvoretzky-Kiefer-Wolfowitz with Massart's constant, α/2 for each world.
    """
    return 2 * math.sqrt(math.log(4 / alpha) / (2 * runs))


def ks_distance(masses_in: NDArray[np.float64], masses_out: NDArray[np.float64]) -> float:
    """Return the Kolmogorov-Smirnov distance of two distributions over the same cells, shape (cells,).

    Over cells fixed beforehand it is a lower bound on the distance of the distributions themselves.
    """
    return float(np.abs(np.cumsum(masses_in - masses_out)).max())


def monte_carlo_fit(counts: NDArray[np.int64], masses: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov statistic of counts against a law's masses over the same cells, and its p-value.

    The p-value is the rank among `SIMULATIONS` samples of the law itself: valid on atoms, where the continuous
    distribution of the statistic (scipy.stats.kstest) is not.
    """
    if len(counts) > FIT_CELLS:  # neighbouring cells together: fixed beforehand, so the test stays valid
        starts = np.arange(0, len(counts), -(-len(counts) // FIT_CELLS))
        counts, masses = np.add.reduceat(counts, starts), np.add.reduceat(masses, starts)
    runs = int(counts.sum())
    observed = ks_distance(counts / runs, masses)
    possible = masses > 0
    law = masses[possible] / masses[possible].sum()
    samples = np.random.default_rng(seed).multinomial(runs, law, size=SIMULATIONS)
    simulated = np.abs(np.cumsum(samples / runs - law, axis=1)).max(axis=1)
    # A float's width of slack: a tie counts as "at least as large", which only raises the p-value.
    return observed, float((1 + (simulated >= observed - 1e-12).sum()) / (1 + SIMULATIONS))
