"""What an accountant says of DP-SGD with Poisson sampling: bounds on (ε, δ) over all steps.

Units: the clipping norm is 1, so σ is the noise multiplier.

`sound_claim` is for exact members. With a record of clipped gradient s, |s| ≤ 1, in the batch with probability q, the
Rényi divergence of an integer order α of a step is at most ln(A_α)/(α − 1), where

    A_α = Σ_k C(α, k)·(1 − q)^(α−k)·q^k·e^((k² − k)/(2σ²)).

For the Gaussian that is Mironov, Talwar, Zhang 2019, "Rényi Differential Privacy of the Sampled Gaussian Mechanism",
Section 3.3. It is also true of discrete noise P(z) ∝ e^(−z²/(2σ²)) on a grid that s lies on: the moment
Σ P(z)·(P(z − s)/P(z))^k is e^((k² − k)|s|²/(2σ²))·Σ P(z − k·s), and k·s lies on the grid, so the last sum is 1.

The other direction has no larger divergence. z → s − z exchanges P(z) and P(z − s). Take z together with s − z: with
r = P(z − s)/P(z), u = 1 − q + q·r and v = 1 − q + q/r it is to be shown that u^α + r·v^α ≥ u^(1−α) + r·v^(1−α), for
r ≥ 1, say. With a = ln u, b = −ln v and n = 2α − 1 that is sinh(n·a/2)/sinh(n·b/2) ≥ r·e^(−(a+b)/2). At n = 1 both
sides are equal, and the left one grows with n where a ≥ b. It is, because u·v = 1 + q(1 − q)(r + 1/r − 2) ≥ 1.

Other records make both worlds mixtures with the same weights, and e^((α−1)·D) is jointly convex. For the same reason
sampling never raises the divergence, so the zCDP claim of all steps together holds too, ρ = 1/(2σ²) each. Of both
claims the better one is stated.

`accountant_claim` is what accountants say, nearly tight: the upper bound of the composition in buckets. It is for
Gaussian noise in real numbers, or for discrete noise and gradients of one coordinate, where δ may be a few percent
larger: 2 % at a σ of 1.5 steps of the grid. Members with a flaw make this claim.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, exp, fsum, inf, log, log1p

import numpy as np

from subnormal.mechanisms.composition.closed_forms import LEAST_SCALE, TAIL, gaussian, subsampled_gaussian
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.fft_convolution import UNIT
from subnormal.mechanisms.composition.privacy_buckets import ROUNDING, Masses, fill_buckets
from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up, log_bounds
from subnormal.mechanisms.privacy import Claim, Zcdp

ORDERS = (*range(2, 65), *range(72, 257, 8), *range(288, 1025, 32))  # any order gives a sound bound
BUCKETS = 40_000  # of the privacy loss of a step
LATTICE_MAX = 1 << 12  # steps of the grid in σ, from which on discrete noise counts as noise in real numbers


@lru_cache(maxsize=256)
def sound_claim(multiplier: float, rate: float, steps: int, delta: float) -> Claim:
    """Return (ε, δ) of all steps for noise in real numbers, or discrete noise on a grid of the gradients, rounded up.

    >>> round(sound_claim(1.0, 1.0, 1, 1e-5).epsilon, 3), round(sound_claim(1.0, 1 / 64, 1, 1e-5).epsilon, 3)
    (4.728, 1.082)
    """
    zcdp = Zcdp.of(steps / (2 * Fraction(multiplier) ** 2)).epsilon(delta)
    if rate == 1:
        return Claim(zcdp, delta)
    order = min(ORDERS, key=lambda order: _epsilon(order, steps * _log_moment(order, multiplier, rate), log(delta)))
    moment = log_bounds(_moment(order, Fraction(multiplier), Fraction(rate)))[1]
    shrunk = order * log_bounds(1 - Fraction(1, order))[1] - log_bounds(Fraction(order - 1))[0]
    sampled = (steps * moment - log_bounds(Fraction(delta))[0] + shrunk) / (order - 1)
    return Claim(min(zcdp, max(0.0, float_up(sampled))), delta)


def _epsilon(order: int, moment: float, log_delta: float) -> float:
    """Return ε by Canonne, Kamath, Steinke 2020, Proposition 12, to the nearest floats: to choose an order."""
    return (moment - log_delta + order * log1p(-1 / order) - log(order - 1)) / (order - 1)


def _log_moment(order: int, multiplier: float, rate: float) -> float:
    """Return ln(A_α), to the nearest floats."""
    from scipy.special import gammaln

    k = np.arange(order + 1.0)
    chances = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1) + (order - k) * log1p(-rate) + k * log(rate)
    return float(np.logaddexp.reduce(chances + (k * k - k) / (2 * multiplier**2)))


def _moment(order: int, multiplier: Fraction, rate: Fraction) -> Fraction:
    """Return an upper bound on A_α."""
    absent, present = (log_bounds(chance)[1] for chance in (1 - rate, rate))  # powers would have too many digits
    terms = (
        comb(order, k) * exp_bounds((order - k) * absent + k * present + (k * k - k) / (2 * multiplier**2))[1]
        for k in range(order + 1)
    )
    return sum(terms, Fraction(0))


@lru_cache(maxsize=256)
def accountant_claim(multiplier: float, rate: float, steps: int, delta: float, lattice: int = 0) -> Claim:
    """Return (ε, δ) of all steps, nearly tight, rounded up.

    lattice: 0 for Gaussian noise in real numbers; for discrete noise, the steps of its grid in a clipping norm.

    >>> round(accountant_claim(1.0, 1.0, 1, 4.71e-5).epsilon, 2)
    4.0
    """
    epsilon = max(one.compose(steps).epsilon_up(delta) for one in _both_directions(multiplier, rate, lattice))
    return Claim(epsilon, delta) if epsilon < inf else sound_claim(multiplier, rate, steps, delta)


def _both_directions(multiplier: float, rate: float, lattice: int) -> list[Composition]:
    """Return one step with a record against one without it, and the other way around; one of them if both are equal."""
    if multiplier < LEAST_SCALE:  # the pair that is easier to tell apart: a record in the batch is seen
        ends = (np.array([rate, 1 - rate]), np.array([0.0, 1.0]))
        own, other = (Masses.near(one) for one in ends)
    elif 0 < lattice * multiplier < LATTICE_MAX:
        own, other = _on_lattice(multiplier, rate, lattice)
    elif rate == 1:
        return [gaussian(multiplier, count=BUCKETS)]
    else:
        return [subsampled_gaussian(multiplier, rate, way, count=BUCKETS) for way in ("in", "out")]
    return [Composition(fill_buckets(*worlds, BUCKETS)) for worlds in ((own, other), (other, own))]


def _on_lattice(multiplier: float, rate: float, lattice: int) -> tuple[Masses, Masses]:
    """Return the masses of one coordinate with a gradient of the clipping norm, and without; the last one of tails."""
    deviation = multiplier * lattice
    reach = ceil(TAIL * deviation) + lattice  # what is likely in one world has a known mass in the other
    weights = np.exp(-np.square(np.arange(-reach, reach + 1) / deviation) / 2)
    without = np.append(weights / fsum(weights), np.zeros(lattice))
    tail, error = 2 * exp(-(TAIL**2) / 2), ROUNDING + 4 * (TAIL + 1 / multiplier) ** 2 * UNIT
    mixed = (1 - rate) * without + rate * np.roll(without, lattice)
    near = (Masses.near(masses, error) for masses in (mixed, without))
    own, other = (Masses(np.append(one.low, 0.0), np.append(one.high, tail)) for one in near)
    return own, other
