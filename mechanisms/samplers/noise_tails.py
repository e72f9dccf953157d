"""P(Z ≥ start) of discrete Laplace and Gaussian noise, as certified bounds: the boundary is part of the event.

They are a relative 2^−100 apart or closer; for a Gaussian of σ > 512 steps 10^−8 at 19σ, and less the more steps. Where
the probability lies below 2^−1074, the least positive float, the lower one is 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from subnormal.mechanisms.numerics.interval import normal_tail
from subnormal.mechanisms.numerics.mpfr import exp_bounds, fraction, power_bounds, root_of_two_pi_bounds
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import Rate, nats

ProbabilityBounds = tuple[Fraction, Fraction]

PRECISION = 192  # bits
LEAST_EXPONENT = -760  # e^−760 lies below 2^−1074
EXACT_BITS = 1 << 14  # of a power of 2^−η that is not rounded
SUMMED = 1 << 9  # steps of σ up to which Gaussian weights are added one by one


def laplace_tail(rate: Rate, start: int) -> ProbabilityBounds:
    """Return bounds on P(Z ≥ start) for P(Z = z) = (1−q)/(1+q)·q^|z|: q^start/(1+q), or 1 − q^(1−start)/(1+q) below 1.

    >>> float(laplace_tail(Eta(1, 1), 0)[0]), float(laplace_tail(Eta(1, 1), 9)[1])  # 1/(1+q), q^9/(1+q)
    (0.6666666666666666, 0.0013020833333333333)
    """
    if start < 0:
        low, high = laplace_tail(rate, 1 - start)
        return 1 - high, 1 - low
    (low, high), (q_low, q_high) = _power(rate, start), _power(rate, 1)
    return low / (1 + q_high), high / (1 + q_low)


def laplace_mass(rate: Rate, at: int) -> ProbabilityBounds:
    """Return bounds on P(Z = at) = (1−q)/(1+q)·q^|at|."""
    (low, high), (q_low, q_high) = _power(rate, abs(at)), _power(rate, 1)
    return low * (1 - q_high) / (1 + q_high), high * (1 - q_low) / (1 + q_low)


def gaussian_mass(sigma: Fraction, at: int) -> ProbabilityBounds:
    """Return bounds on P(Z = at), for at most 512 steps of σ."""
    exponent = max(-(at**2) / (2 * sigma**2), Fraction(LEAST_EXPONENT))
    (low, high), (least, most) = exp_bounds(exponent, PRECISION), _summed(sigma, 0)
    return low / (2 * most - 1) if exponent > LEAST_EXPONENT else Fraction(0), high / (2 * least - 1)


@lru_cache(maxsize=1 << 12)
def _power(rate: Rate, exponent: int) -> ProbabilityBounds:
    """Return bounds on q^exponent: itself, for an Eta, up to 2^14 bits."""
    if isinstance(rate, Eta) and rate.y * rate.z * exponent <= EXACT_BITS:
        return 2 * (rate.base**exponent,)
    if nats(rate)[0] * exponent > -LEAST_EXPONENT:
        return Fraction(0), exp_bounds(Fraction(LEAST_EXPONENT))[1]
    if isinstance(rate, Eta):
        return power_bounds(rate.base, exponent, PRECISION)
    return exp_bounds(-rate * exponent, PRECISION)


def gaussian_tail(sigma: Fraction, start: int) -> ProbabilityBounds:
    """Return bounds on P(Z ≥ start) for P(Z = z) ∝ e^(−z²/(2σ²)), σ in steps: summed, or from the normal tail.

    >>> [float(bound) for bound in gaussian_tail(Fraction(1), 1)]
    [0.30052886086656916, 0.30052886086656916]
    """
    if start < 1:
        low, high = gaussian_tail(sigma, 1 - start)
        return 1 - high, 1 - low
    exponent = -(start**2) / (2 * sigma**2)
    if exponent < LEAST_EXPONENT:  # P(Z ≥ start) ≤ e^exponent: sub-Gaussian (Canonne, Kamath, Steinke 2020)
        return Fraction(0), exp_bounds(Fraction(LEAST_EXPONENT))[1]
    first = exp_bounds(exponent, PRECISION)
    if sigma > SUMMED:
        return _integrated(sigma, start, first)
    (low, high), (least, most) = _summed(sigma, start), _summed(sigma, 0)
    # The weights of all integers: both halves have that of 0.
    return first[0] * low / (2 * most - 1), first[1] * high / (2 * least - 1)


@lru_cache(maxsize=64)
def _summed(sigma: Fraction, start: int) -> ProbabilityBounds:
    """Return bounds on Σ_{z ≥ start} e^(−(z² − start²)/(2σ²)), start ≥ 0: until a weight lies below 2^−PRECISION.

    From z on, weights fall at least like e^(−jz/σ²), and Σ_{j ≥ 1} e^(−jx) ≤ 1/x.
    """
    rate, low, high, at = 1 / (2 * sigma**2), 0, 0, start
    while True:
        least, most = weight_bounds(rate, Fraction(at**2 - start**2), PRECISION)
        low, high = low + least, high + most
        if most <= 1 and at:
            beyond = sigma**2 / at
            return Fraction(low, 1 << PRECISION), (high + most * beyond) / (1 << PRECISION)
        at += 1


def _integrated(sigma: Fraction, start: int, first: ProbabilityBounds) -> ProbabilityBounds:
    """Euler and Maclaurin, f(z) = e^(−z²/(2σ²)): Σ_{z ≥ N} f = ∫_N^∞ f + f(N)/2 − f'(N)/12 + r with
    |r| ≤ (|f'''(N)| + ∫_N^∞ |f''''|)/720. From N = 2.4σ on f'''' has no root, so that this is |f'''(N)|/360, at most
    f(N)·N³/(360σ⁶); before, 1.4/σ³ and 3.6/σ³ bound the two. All the weights are σ√(2π), and less than 2^−1000 of that
    more (Poisson summation).
    """
    normal, (least, most) = normal_tail(start / sigma), root_of_two_pi_bounds(sigma**2, PRECISION)
    smooth = Fraction(1, 2) + start / (12 * sigma**2)
    far = 5 * start >= 12 * sigma
    error = first[1] * start**3 / (360 * sigma**6) if far else 1 / (100 * sigma**3)
    low = fraction(normal.low) + (first[0] * smooth - error) / most
    high = fraction(normal.high) + (first[1] * smooth + error) / least
    return max(Fraction(0), low * (1 - Fraction(1, 1 << 1000))), high
