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

`accountant_claim` is what accountants say, nearly tight: the distribution of the privacy loss of a step, rounded so
that the pair is easier to distinguish (Doroshenko et al. 2022, "Connect the Dots"), and its convolution power. It is
for Gaussian noise in real numbers, or for discrete noise and gradients of one coordinate, where δ may be a few percent
larger: 2 % at a σ of 1.5 steps of the grid. Members with a flaw make this claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, expm1, log, log1p

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up, log_bounds
from subnormal.mechanisms.privacy import Claim, Zcdp

ORDERS = (*range(2, 65), *range(72, 257, 8), *range(288, 1025, 32))  # any order gives a sound bound
LOSSES = 4_000  # cells of the privacy loss of a step
REACH = 9.0  # standard deviations: the mass beyond is below 10^-18
LOSS_MAX = 500.0  # nats; losses beyond count as infinite, or as −500
LATTICE_MAX = 1 << 12  # steps of the grid in σ, from which on discrete noise counts as noise in real numbers
TAIL = 1e-14  # mass at either end of a convolution that is not kept where it lies
SLACK = 1e-12  # added to δ for each step: more than its rounding errors

_Floats = NDArray[np.float64]


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
    curves = [_Loss.of_step(multiplier, rate, lattice, removed).compose(steps) for removed in (False, True)]
    if max(curve.infinite for curve in curves) >= delta:  # losses beyond those that are kept
        return sound_claim(multiplier, rate, steps, delta)

    def exceeded(epsilon: float) -> bool:
        return any(curve.delta(epsilon) > delta for curve in curves)

    low, high = 0.0, 1.0
    while exceeded(high):
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if exceeded(middle) else (low, middle)
    return Claim(high, delta)


@dataclass(frozen=True, slots=True, eq=False)
class _Loss:
    """The distribution of a privacy loss on the grid `width`·ℤ: masses from `first` on, and that of ∞."""

    width: float
    first: int
    masses: _Floats
    infinite: float

    @classmethod
    def of_step(cls, multiplier: float, rate: float, lattice: int, removed: bool) -> _Loss:
        """Return the loss of one step with the record against without it; removed: the other way around.

        The loss of x is ln(1 − q + q·e^((2x − 1)/(2σ²))) or its negative. Each cell between two multiples of the width
        is split between both, such that its masses in both worlds do not change.
        """

        def loss(x: float) -> float:
            exponent = (x - 0.5) / multiplier**2
            if rate == 1:
                return exponent
            return log1p(rate * expm1(exponent)) if exponent < LOSS_MAX else exponent + log(rate)

        least, most = max(-LOSS_MAX, loss(-REACH * multiplier)), min(LOSS_MAX, loss(1 + REACH * multiplier))
        width = (most - least) / LOSSES
        edges = np.arange(int(least / width) - 1, int(most / width) + 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.expm1(edges * width) / rate + 1
            exponents = edges * width if rate == 1 else np.log(np.maximum(shares, 0))
        x = np.asarray(0.5 + multiplier**2 * exponents, dtype=np.float64)
        without, shifted = (_masses(x, shift, multiplier, lattice) for shift in (0, 1))
        worlds = (1 - rate) * without + rate * shifted, without
        if removed:
            edges, worlds = -edges[::-1], (worlds[1][::-1], worlds[0][::-1])
        own, other = worlds
        inside, beside = own[1:-1], other[1:-1]
        upper = (inside - beside * np.exp(edges[:-1] * width)) / -expm1(-width)
        upper = np.clip(upper, 0, inside)  # rounding may take it outside
        masses = np.append(inside - upper, 0) + np.append(0, upper)
        masses[0] += own[0]
        return cls(width, int(edges[0]), masses, float(own[-1]) + SLACK)

    def compose(self, steps: int) -> _Loss:
        """Return the loss of so many steps."""
        result, square = None, self
        while steps:
            if steps & 1:
                result = square if result is None else result._plus(square)
            steps >>= 1
            square = square._plus(square) if steps else square
        assert result is not None
        return result

    def _plus(self, other: _Loss) -> _Loss:
        length = len(self.masses) + len(other.masses) - 1
        size = 1 << length.bit_length()
        transformed = np.fft.rfft(self.masses, size) * np.fft.rfft(other.masses, size)
        masses = np.maximum(np.fft.irfft(transformed, size)[:length], 0)
        infinite = self.infinite + other.infinite
        below = int(np.searchsorted(np.cumsum(masses), TAIL))
        above = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), TAIL))
        kept = masses[below:above].copy()
        kept[0] += masses[:below].sum()
        return _Loss(self.width, self.first + other.first + below, kept, infinite + float(masses[above:].sum()))

    def delta(self, epsilon: float) -> float:
        """Return a bound on δ(ε)."""
        paying = epsilon - self.width * np.arange(self.first, self.first + len(self.masses))
        return float((self.masses * -np.expm1(np.minimum(paying, 0))).sum()) + self.infinite


def _masses(edges: _Floats, shift: int, multiplier: float, lattice: int) -> _Floats:
    """Return the masses of noise around `shift` below, between and above ascending edges, shape (edges + 1,)."""
    if 0 < lattice * multiplier < LATTICE_MAX:
        z = np.arange(-ceil(REACH * multiplier * lattice), ceil(REACH * multiplier * lattice) + 1)
        weights = np.exp(-(z * z) / (2 * (multiplier * lattice) ** 2))
        cells = np.searchsorted(edges, z / lattice + shift)
        return np.asarray(np.bincount(cells, weights / weights.sum(), minlength=len(edges) + 1), dtype=np.float64)
    from scipy.special import ndtr

    deviations = (edges - shift) / multiplier
    below = np.diff(ndtr(deviations), prepend=0)
    above = -np.diff(ndtr(-deviations), append=0)
    return np.append(np.where(deviations <= 0, below, np.append(0, above[:-1])), above[-1])
