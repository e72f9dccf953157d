"""Privacy parameters: ε in nats, η in bits per unit of utility, claims, and the conversions between them.

The only place with ln 2 in it. Every conversion rounds against the claim: no claim looks better than it is.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Annotated

from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up, log_bounds, own_number, plain, rational

NOISE_RESOLUTION = 31  # bits of 2^−η beyond those of 1 − 2^−η
EPSILON_MAX = 100_000  # nats: more is no claim, and e^ε would fill the memory


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from low to high, as an annotation of a float or an int.

    An infinity is one of them only where it is an end; an end that is None does not limit. open: without the ends.

    >>> [value in Range(0) for value in (0, -1, math.inf)], math.inf in Range(0, math.inf), 0 in Range(0, 1, open=True)
    ([True, False, False], True, False)
    """

    low: float | None = None
    high: float | None = None
    open: bool = False

    def __contains__(self, value: float) -> bool:
        if value in (self.low, self.high):
            return not self.open
        low, high = (-math.inf if self.low is None else self.low), (math.inf if self.high is None else self.high)
        return low < value < high


def hold_own_numbers(claim: object, *names: str) -> None:
    """Make the fields of a claim Python's own numbers, exactly: see `own_number`, also for its errors."""
    for name in names:
        object.__setattr__(claim, name, own_number(name, getattr(claim, name)))


@dataclass(frozen=True, slots=True)
class Claim:
    """(ε, δ)-differential privacy, as a mechanism promises it.

    Args:
        epsilon: ε in nats, at least 0.
        delta: δ, between 0 and 1.

    Numbers of other types, as numpy's, Fraction or Decimal, become Python's own.

    Raises:
        ValueError: a number is out of range, or no float is exactly equal to it.
        TypeError: it is no number.
    """

    epsilon: Annotated[float, Range(0, EPSILON_MAX)]
    delta: Annotated[float, Range(0, 1)] = 0.0

    def __post_init__(self) -> None:
        hold_own_numbers(self, "epsilon", "delta")
        require_nonnegative("epsilon", self.epsilon)
        if self.epsilon > EPSILON_MAX:
            raise ValueError(f"epsilon must be at most {EPSILON_MAX} nats, got {self.epsilon}")
        if not 0 <= self.delta <= 1:
            raise ValueError(f"delta must be between 0 and 1, got {self.delta}")

    @property
    def advantage_allowed(self) -> float:
        """The largest difference of an event's two probabilities that the claim allows.

        1 − 2(1−δ)/(1+e^ε), which is tanh(ε/2) at δ = 0; written without the cancellation at small ε. To the nearest
        floats: verdicts do not rest on it.
        """
        half = math.exp(-self.epsilon)
        return min(1.0, math.tanh(self.epsilon / 2) + 2 * self.delta * half / (1 + half))

    def implied_delta(self, epsilon: float) -> float:
        """Return the least δ for which this claim (ε₀, δ₀) implies (ε, δ), rounded up: δ₀ where ε ≥ ε₀, and below

            δ₀ + (1 − δ₀)·(e^ε₀ − e^ε)/(e^ε₀ + 1),

        the curve of the worst pair that the claim allows (Kairouz, Oh, Viswanath 2015: the region of its trade-offs).
        """
        if epsilon >= self.epsilon:
            return self.delta
        share = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return min(1.0, (self.delta + (1 - self.delta) * share) * (1 + 1e-15) + 1e-300)

    def budget_of(self, advantage: float) -> float:
        """Return the least ε (nats) that, with this δ, allows an event that advantage: ln((1 + A − 2δ)/(1 − A)), or 0.

        2·artanh(A) at δ = 0, and ∞ for an advantage of 1. To the nearest float: verdicts do not rest on it.
        """
        if advantage <= self.delta:
            return 0.0
        return math.log1p(2 * (advantage - self.delta) / (1 - advantage)) if advantage < 1 else math.inf


@dataclass(frozen=True, slots=True)
class Eta:
    """The rate η = −z·log₂(x/2^y) of base-2 privacy: 2^−η = (x/2^y)^z is an exact dyadic rational.

    Source: Ilvento 2020, Section 3.2.

    Args:
        x: a positive integer below 2^y.
        y: a positive integer.
        z: a positive integer.

    Raises:
        ValueError: one of them is not.

    >>> Eta(1, 1, 1).bits
    1.0
    """

    x: int
    y: int
    z: int = 1

    def __post_init__(self) -> None:
        for name in ("x", "y", "z"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a positive integer, got {value!r}")
        if self.x >= 1 << self.y:
            raise ValueError(f"x must be below 2^y = {1 << self.y}, got x = {self.x}")

    @classmethod
    def parse(cls, text: str) -> Eta:
        """Return η from 2^−η as text, with the denominator as a power of two. Raises ValueError for any other.

        >>> Eta.parse("3/4^2")
        Eta(x=3, y=2, z=2)
        """
        found = re.fullmatch(r"([0-9]+)/([0-9]+)(?:\^([0-9]+))?", text)
        x, below, z = (int(part or 1) for part in found.groups()) if found else (0, 0, 0)
        if not 0 < x < below or below & (below - 1) or z < 1:
            raise ValueError(f"eta must be a fraction for 2^-eta, such as 1/2, or 3/4^2 for (3/4)^2, got {text!r}")
        return cls(x, below.bit_length() - 1, z)

    @property
    def text(self) -> str:
        """2^−η as `parse` reads it."""
        return f"{self.x}/{1 << self.y}" + (f"^{self.z}" if self.z > 1 else "")

    @classmethod
    def from_epsilon(cls, nats: float | Fraction, resolution: int = 32) -> Eta:
        """Return the largest η with η·ln 2 ≤ nats whose 2^−η has `resolution` fractional bits (y = resolution, z = 1).

        nats is the budget per unit of utility: selection over utilities of sensitivity Δ passes ε/(2Δ). Raises
        ValueError for a resolution below 1 bit, and for nats that are too few for it.

        >>> Eta.from_epsilon(0.25, resolution=8)
        Eta(x=200, y=8, z=1)
        """
        require_positive("nats", nats)
        budget = rational("nats", nats)
        if resolution < 1:
            raise ValueError(f"resolution must be at least 1 bit, got {resolution}")
        x = _ceiling_of_exp(-budget, resolution)
        if x >= 1 << resolution:
            raise ValueError(f"nats = {nats} is too small for a resolution of {resolution} bits")
        return cls(x, resolution, 1)

    @property
    def base(self) -> Fraction:
        """B = 2^−η, exactly."""
        return Fraction(self.x, 1 << self.y) ** self.z

    @property
    def bits(self) -> float:
        """η, to the nearest float."""
        return float(self.z * log_bounds(Fraction(1 << self.y, self.x))[1] / log_bounds(Fraction(2))[1])

    @property
    def nats(self) -> float:
        """η·ln 2, rounded up."""
        return float_up(self.z * log_bounds(Fraction(1 << self.y, self.x))[1])


@dataclass(frozen=True, slots=True)
class Zcdp:
    """ρ-zero-concentrated differential privacy: a whole curve of claims (ε, δ(ε)). Rates of several releases add.

    Args:
        rho: ρ, at least 0.

    Numbers of other types become Python's own, as in `Claim`.

    Raises:
        ValueError: ρ is negative or not finite, or no float is exactly equal to it.
        TypeError: it is no number.

    >>> round((Zcdp(0.25) + Zcdp(0.25)).epsilon(delta=1e-9), 9)
    6.474070021
    """

    rho: float

    def __post_init__(self) -> None:
        hold_own_numbers(self, "rho")
        require_nonnegative("rho", self.rho)
        object.__setattr__(self, "rho", float(self.rho))

    @classmethod
    def of(cls, rho: Fraction) -> Zcdp:
        """Return the claim of an exact ρ, rounded up."""
        return cls(float_up(rho))

    def __add__(self, other: Zcdp) -> Zcdp:
        return Zcdp.of(Fraction(self.rho) + Fraction(other.rho))

    def delta(self, epsilon: float) -> float:
        """Return δ(ε), rounded up: the least over orders α > 1 of e^((α−1)(αρ−ε))·(1−1/α)^α/(α−1), at most 1.

        Source: Canonne, Kamath, Steinke 2020, Corollary 13.
        """
        require_nonnegative("epsilon", epsilon)
        if self.rho == 0:
            return 0.0
        order = _best_order(lambda a: (1 + 2 * a) * self.rho - epsilon - math.log1p(1 / a))
        exponent = (order - 1) * (order * Fraction(self.rho) - rational("epsilon", epsilon)) + _order_cost_up(order)
        return 1.0 if exponent >= 0 else float_up(min(Fraction(1), exp_bounds(max(exponent, _LEAST_EXPONENT))[1]))

    def epsilon(self, delta: float) -> float:
        """Return ε(δ), rounded up: the least over orders α > 1 of αρ + (ln(1/δ) + α·ln(1−1/α) − ln(α−1))/(α−1).

        Raises ValueError for a δ that is not positive or above 1.
        """
        if not 0 < delta <= 1:
            raise ValueError(f"delta must be positive and at most 1, got {delta}")
        if self.rho == 0 or delta == 1:
            return 0.0
        needed = -log_bounds(Fraction(delta))[0]
        order = _best_order(lambda a: a * (a * self.rho) - float(needed) + math.log1p(a))
        return float_up(max(Fraction(0), order * Fraction(self.rho) + (needed + _order_cost_up(order)) / (order - 1)))

    def claim(self, delta: float) -> Claim:
        """Return the point of the curve at δ."""
        return Claim(self.epsilon(delta), delta)


@dataclass(frozen=True, slots=True)
class ApproximateZcdp(Claim):
    """ρ-zCDP except for an event of probability `delta`, with a point (epsilon, delta) that it implies."""

    rho: float = 0.0

    def at(self, delta: float) -> Claim:
        """Return the point at a larger δ: ε where the curve of ρ has what `delta` leaves of it, rounded up.

        Raises ValueError for a δ that is not larger.

        >>> ApproximateZcdp(7.0, 1e-9, 0.5).at(2e-9) == Claim(Zcdp(0.5).epsilon(1e-9), 2e-9)
        True
        """
        left = Fraction(delta) - Fraction(self.delta)
        if left <= 0:
            raise ValueError(f"delta must be above {self.delta}, got {delta}")
        return Claim(Zcdp(self.rho).epsilon(-float_up(-left)), delta)


_LEAST_EXPONENT = Fraction(-760)  # e^−760 lies below the least positive float, to which δ is then rounded up


def _order_cost_up(order: Fraction) -> Fraction:
    return order * log_bounds(1 - 1 / order)[1] - log_bounds(order - 1)[0]


def _best_order(slope: Callable[[float], float]) -> Fraction:
    """Return the order α > 1 of least cost. Any order gives a sound bound; a better one, a smaller.

    slope: has the sign of the cost's derivative, given a = α − 1, as orders lie as near to 1 as floats to 0; rising.
    """
    low, high = -700.0, 700.0  # of ln a
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(math.exp(middle)) < 0 else (low, middle)
    return 1 + Fraction(math.exp(high))


def compose(*claims: Claim) -> Claim:
    """Return what several releases together promise: budgets add, and so do the δs, rounded up."""
    epsilon = sum((Fraction(claim.epsilon) for claim in claims), Fraction(0))
    delta = sum((Fraction(claim.delta) for claim in claims), Fraction(0))
    return Claim(float_up(epsilon), min(1.0, float_up(delta)))


def with_failures(claim: Claim, probability: Fraction) -> Claim:
    """Return the claim that is left of P(S) ≤ e^ε·Q(S) + δ when each world does something else with probability p.

    P'(S) ≤ P(S) + p ≤ e^ε·Q(S) + δ + p ≤ e^ε·(Q'(S) + p) + δ + p: δ grows by (1 + e^ε)·p. Rounded up.
    """
    delta = Fraction(claim.delta) + (1 + exp_bounds(Fraction(claim.epsilon))[1]) * probability
    return Claim(claim.epsilon, float_up(min(Fraction(1), delta)))


def noise_claim(eta: Eta, steps: int = 1) -> Claim:
    """Return what base-2 Laplace noise with ratio 2^−η a grid step promises for inputs `steps` apart: steps·η·ln 2.

    Raises ValueError for negative steps.
    """
    if steps < 0:
        raise ValueError(f"steps must not be negative, got {steps}")
    steps = operator.index(steps)
    return Claim(float_up(steps * eta.z * log_bounds(Fraction(1 << eta.y, eta.x))[1]))


def noise_eta(epsilon: float | Fraction, steps: int = 1, resolution: int | None = None) -> Eta:
    """Return the rate a grid step at which base-2 Laplace noise keeps a budget of ε nats: steps·η·ln 2 ≤ ε.

    resolution: the fractional bits of 2^−η; where not given, so many that less than 2^−30 of the budget is left unused.
    Raises ValueError for fewer steps than 1.
    """
    require_positive("epsilon", epsilon)
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    share = rational("epsilon", epsilon) / operator.index(steps)
    if resolution is None:
        # Rounded up by 2^−resolution, 2^−η loses e^share·2^−resolution nats: a large share takes share/ln 2 bits more.
        resolution = NOISE_RESOLUTION + ceil(1 / share).bit_length() + max(0, ceil((share - 2) * 3 / 2))
    return Eta.from_epsilon(share, resolution)


def selection_claim(eta: Eta, sensitivity: float = 1.0) -> Claim:
    """Return what base-2 selection over utilities of sensitivity Δ promises: 2Δη·ln 2, rounded up.

    Source: Ilvento 2020, Mechanism 3 with Lemma 3.2.
    """
    require_positive("sensitivity", sensitivity)
    per_unit = log_bounds(Fraction(1 << eta.y, eta.x))[1]
    return Claim(float_up(2 * rational("sensitivity", sensitivity) * eta.z * per_unit))


def selection_eta(epsilon: float, sensitivity: float = 1.0) -> Eta:
    """Return the rate at which base-2 selection keeps a budget of ε nats: the largest η with 2Δη·ln 2 ≤ ε."""
    require_positive("epsilon", epsilon)
    require_positive("sensitivity", sensitivity)
    return _selection_eta(plain("epsilon", epsilon), plain("sensitivity", sensitivity))


@lru_cache(1024)
def _selection_eta(epsilon: float | Fraction, sensitivity: float | Fraction) -> Eta:
    return Eta.from_epsilon(Fraction(epsilon) / (2 * Fraction(sensitivity)))


def require_positive(name: str, value: float | Fraction) -> None:
    """Raise ValueError unless 0 < value < ∞, TypeError for what is no number."""
    if not (_is_finite(name, value) and value > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")


def require_nonnegative(name: str, value: float) -> None:
    """Raise ValueError unless 0 ≤ value < ∞, TypeError for what is no number."""
    if not (_is_finite(name, value) and value >= 0):
        raise ValueError(f"{name} must be non-negative and finite, got {value}")


def _is_finite(name: str, value: float | Fraction) -> bool:
    try:
        return isinstance(value, int | Fraction) or math.isfinite(value)  # of any size
    except TypeError:
        raise TypeError(f"{name} must be a number, got {value!r}") from None


@lru_cache(1024)
def _ceiling_of_exp(exponent: Fraction, resolution: int) -> int:
    """Return ⌈2^resolution · e^exponent⌉, certified: the precision grows until both bounds agree."""
    if exponent < -resolution:  # e^−resolution is below 2^−resolution
        return 1
    precision = 64 + resolution
    while True:
        low, high = (math.ceil(bound * (1 << resolution)) for bound in exp_bounds(exponent, precision))
        if low == high:
            return low
        precision *= 2
