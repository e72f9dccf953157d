"""Other bounds on the loss of many runs, for comparison: functions of floats, not certified.

The bound of zCDP is `mechanisms.privacy.Zcdp`, with the sum of the runs' ρ.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from subnormal.mechanisms.composition.composition import Composition, boundary
from subnormal.mechanisms.composition.fft_convolution import EXPONENT_MAX, Floats
from subnormal.mechanisms.composition.hockey_stick import at_some_run, conversion, log_moment
from subnormal.mechanisms.privacy import require_nonnegative, require_positive

ORDERS = 400  # of Rényi divergence


def kairouz_oh_viswanath(epsilon: float, delta: float, runs: int, at: float) -> float:
    """Return δ(at) of `runs` runs of which only (ε, δ)-privacy is known.

    The worst such mechanism reveals the world with probability δ, and otherwise answers truthfully with probability
    e^ε/(1 + e^ε), so the number of true answers is binomial in both worlds. Source: Kairouz, Oh, Viswanath 2015,
    Theorem 3.3.

    >>> round(kairouz_oh_viswanath(0.5, 0.0, 1, at=0.0), 6)  # tanh(ε/2)
    0.244919
    """
    from scipy.stats import binom

    require_nonnegative("epsilon", epsilon)
    require_nonnegative("at", at)
    if epsilon == 0:
        return at_some_run(delta, runs)
    truth = 1 / (1 + math.exp(-epsilon))
    least = math.floor((at / epsilon + runs) / 2)  # more true answers have a loss above `at`
    known, guessed = (binom.logsf(least, runs, chance) for chance in (truth, 1 - truth))
    left = math.exp(known) - math.exp(min(0.0, at + guessed))
    certain = at_some_run(delta, runs)
    return certain + (1 - certain) * max(0.0, left)


@lru_cache(maxsize=8)
def _moments(one: Composition) -> tuple[Floats, Floats, Floats]:
    """Return orders λ, the log moments of one run at them, and the terms of their conversion to δ."""
    spread = max(1e-12, float(np.ptp(one.one.losses)))
    tilts = np.geomspace(1e-8 / spread, EXPONENT_MAX / spread, ORDERS)
    moments = np.array([log_moment(one.one, tilt) for tilt in tilts.tolist()])
    return tilts, moments, np.array([conversion(tilt) for tilt in tilts.tolist()])


def renyi(one: Composition, runs: int, at: float) -> float:
    """Return δ(at) of `runs` runs by the moments accountant: the least over orders 1 + λ of Rényi divergences.

    Events of infinite loss are added separately. Source: Abadi et al. 2016; Canonne, Kamath, Steinke 2020, Proposition
    12.
    """
    tilts, moments, conversions = _moments(one)
    least = float((runs * moments - tilts * at + conversions).min())
    return min(1.0, at_some_run(one.one.infinite, runs) + math.exp(min(0.0, least)))


def renyi_epsilon(one: Composition, runs: int, delta: float) -> float:
    """Return ε(δ) of `runs` runs by the moments accountant; ∞ if an infinite loss is more likely than δ."""
    left = delta - at_some_run(one.one.infinite, runs)
    if left <= 0:
        return math.inf
    tilts, moments, conversions = _moments(one)
    return max(0.0, float(((runs * moments + conversions - math.log(left)) / tilts).min()))


def kairouz_oh_viswanath_epsilon(epsilon: float, delta: float, runs: int, at: float) -> float:
    """Return the least ε with δ(ε) ≤ `at` for `runs` runs, each (ε, δ)-private; ∞ if there is none."""
    require_positive("at", at)
    if at_some_run(delta, runs) > at:
        return math.inf
    return boundary(lambda some: kairouz_oh_viswanath(epsilon, delta, runs, some) > at, (runs + 1) * epsilon)[1]
