"""Claims other than (ε, δ): Gaussian, Rényi and zero-concentrated differential privacy, or a curve of one's own.

Each implies (ε, δ(ε))-differential privacy for every ε ≥ 0, so one ε at which a mechanism exceeds δ(ε) refutes it.
`implied` returns that point. Rényi claims imply more than the usual conversions say: an event with the probabilities p
and q in the two worlds is post-processing, so the claim bounds the Rényi divergence of the two coins, Bernoulli(p) and
Bernoulli(q), and δ(ε) is the largest p − e^ε·q of all p and q that keep these bounds (Asoodeh, Liao, Calmon, Kosut,
Sankar 2021, "Three variants of differential privacy: lossless conversion and applications").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.privacy import Claim, Zcdp, hold_own_numbers, require_nonnegative

SLACK = 1e-12  # added to a computed δ: more than all rounding errors, so that no claim looks better than it is
LEAST_COST = -30.0  # of ln(e^ε·q): e^−30 is a tenth of SLACK
GRIDS = 6  # of the cost; fewer only raise δ
ORDERS = 1 + np.geomspace(1e-3, 1e5, 49)  # α of the divergences that bound ρ-zCDP; fewer orders only raise δ
LEAST_DELTA = 1e-7  # δ(ε) below which runs cannot refute anything: the end of `points`
STEPS = 12  # points of a curve on which evidence is sought

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gdp:
    """μ-Gaussian differential privacy: no easier to tell apart than N(0, 1) and N(μ, 1).

    Args:
        mu: μ, at least 0.

    Numbers of other types become Python's own, as in `Claim`.

    Raises:
        ValueError: μ is negative or not finite, or no float is exactly equal to it.
        TypeError: it is no number.
    """

    mu: float

    def __post_init__(self) -> None:
        hold_own_numbers(self, "mu")
        require_nonnegative("mu", self.mu)

    def delta(self, epsilon: float) -> float:
        """Return δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2), rounded up.

        Source: Dong, Roth, Su 2019, Corollary 2.13. Raises ValueError for a negative ε.

        >>> round(Gdp(1.0).delta(0.0), 6)
        0.382925
        """
        from scipy.special import log_ndtr, ndtr

        require_nonnegative("epsilon", epsilon)
        if self.mu == 0:
            return 0.0
        kept, paid = -epsilon / self.mu + self.mu / 2, -epsilon / self.mu - self.mu / 2
        return min(1.0, float(ndtr(kept) - math.exp(epsilon + log_ndtr(paid))) + SLACK)


@dataclass(frozen=True, slots=True)
class Renyi:
    """(α, τ)-Rényi differential privacy: the divergence of order α is at most τ nats, in both directions.

    Args:
        alpha: the order α, above 1 and finite.
        epsilon: the bound τ in nats, at least 0.

    Numbers of other types become Python's own, as in `Claim`.

    Raises:
        ValueError: a number is out of range, or no float is exactly equal to it.
        TypeError: it is no number.
    """

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        hold_own_numbers(self, "alpha", "epsilon")
        require_nonnegative("epsilon", self.epsilon)
        if not 1 < self.alpha < math.inf:
            raise ValueError(f"alpha must be above 1 and finite, got {self.alpha}")

    def delta(self, epsilon: float) -> float:
        """Return the least δ that the claim implies at ε, rounded up. Raises ValueError for a negative ε.

        >>> Renyi(2.0, 0.0).delta(0.0) < 1e-6
        True
        """
        return _delta((self.alpha,), (self.epsilon,), epsilon)


@dataclass(frozen=True, slots=True)
class Profile:
    """A curve of one's own: (ε, delta(ε))-differential privacy for every ε ≥ 0.

    Args:
        delta: a function of ε (nats) that returns δ, from 0 to 1.

    Raises:
        TypeError: delta is no function.
    """

    delta: Callable[[float], float]

    def __post_init__(self) -> None:
        if not callable(self.delta):
            raise TypeError(f"delta must be a function of epsilon, got {self.delta!r}")


AnyClaim: TypeAlias = Claim | Zcdp | Gdp | Renyi | Profile


def implied(claim: AnyClaim, epsilon: float) -> Claim:
    """Return the claim (ε, δ) that holds for every mechanism that keeps `claim`, with the least δ known, rounded up.

    Raises ValueError for a negative ε, or where a profile's δ is not between 0 and 1.

    >>> implied(Zcdp(0.5), 1.0).delta < Zcdp(0.5).delta(1.0)
    True
    """
    if isinstance(claim, Claim):
        return Claim(epsilon, claim.implied_delta(epsilon))
    if isinstance(claim, Zcdp):
        return Claim(epsilon, min(claim.delta(epsilon), _delta(tuple(ORDERS), tuple(ORDERS * claim.rho), epsilon)))
    return Claim(epsilon, float(claim.delta(epsilon)))


def points(claim: AnyClaim) -> tuple[Claim, ...]:
    """Return claims (ε, δ) that the claim implies, to seek evidence against: a stated (ε, δ) comes first.

    Other claims are looked at where δ(ε) is large enough for runs to say something.
    Raises ValueError where a profile's δ is not between 0 and 1.

    >>> [point.epsilon for point in points(Claim(1.0))]
    [1.0, 0.5, 0.0]
    """
    if isinstance(claim, Claim):
        return (claim, *(implied(claim, share * claim.epsilon) for share in (0.5, 0.0)))
    return _curve(claim) if isinstance(claim, Profile) else _known_curve(claim)


def _curve(claim: AnyClaim) -> tuple[Claim, ...]:
    last = 1 / 8
    while last < 64 and implied(claim, last).delta > LEAST_DELTA:
        last *= 2
    curve = [implied(claim, float(epsilon)) for epsilon in np.linspace(0, last, STEPS)]
    return (curve[0], *(point for point in curve[1:] if point.delta > LEAST_DELTA))


@lru_cache(maxsize=1024)
def _known_curve(claim: Zcdp | Gdp | Renyi) -> tuple[Claim, ...]:
    return _curve(claim)


@lru_cache(maxsize=1024)
def _delta(orders: tuple[float, ...], bounds: tuple[float, ...], epsilon: float) -> float:
    """Return the largest p − e^ε·q over all coins p, q whose divergences of these orders keep the bounds, rounded up.

    For a fixed q the largest p is found by bisection. It is a concave function of q, because e^((α−1)·D) is jointly
    convex, and so is p − e^ε·q. So near the best q of a grid the maximum lies below the straight lines through the two
    points on either side. Of q, its logarithm and the cost e^ε·q are kept: q itself may be too small for a float. At a
    cost above 1 nothing is left; below the least, the cost is nearly 0, and p grows with q.
    """
    require_nonnegative("epsilon", epsilon)
    alpha, tau = np.array(orders)[:, None], np.array(bounds)[:, None]
    low, high = LEAST_COST, 0.0
    for _ in range(GRIDS):  # of the logarithm of the cost, each between the neighbours of the best one before
        logs = np.linspace(low, high, 65)
        costs = np.exp(logs)
        gains = _largest(logs - epsilon, alpha, tau) - costs
        best = int(gains.argmax())
        low, high = logs[max(0, best - 1)], logs[min(64, best + 1)]
    beyond = [gains[best]]
    for near, far, side in (
        (1, 2, -1),
        (-1, -2, 1),
    ):  # the line through two points to one side, at the neighbour of the other
        if 0 <= best + far < 65 and 0 <= best + side < 65:
            slope = (gains[best + near] - gains[best + far]) / (costs[best + near] - costs[best + far])
            beyond.append(gains[best + near] + slope * (costs[best + side] - costs[best + near]))
    return float(min(1.0, max(0.0, *beyond) + SLACK))


def _largest(logs: _Floats, alpha: _Floats, tau: _Floats) -> _Floats:
    """Return for each ln q the largest p ≥ q that keeps every bound, rounded up, shape (logs,)."""
    low, high = np.exp(logs), np.ones(len(logs))
    for _ in range(60):
        middle = (low + high) / 2
        kept = (_divergence(middle, logs, alpha) <= tau + _rounding(middle, logs, alpha)).all(axis=0)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return high


def _rounding(p: _Floats, logs: _Floats, alpha: _Floats) -> _Floats:
    """Return more than what rounding makes of `_divergence`: near α = 1 it divides small differences."""
    sizes: _Floats = 1 + alpha * (np.abs(np.log(p)) + np.abs(logs))
    return 2.0**-50 * sizes / (alpha - 1)


def _divergence(p: _Floats, logs: _Floats, alpha: _Floats) -> _Floats:
    """Return the Rényi divergence of Bernoulli(p) from Bernoulli(q) at each ln q, shape (orders, logs)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = alpha * np.log(p) + (1 - alpha) * logs
        tails = alpha * np.log1p(-p) + (1 - alpha) * np.log1p(-np.exp(logs))
        found: _Floats = np.logaddexp(heads, np.where(p == 1, -np.inf, tails)) / (alpha - 1)
    return np.where(np.isnan(found), np.inf, found)
