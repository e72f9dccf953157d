"""Discrete Laplace noise on a grid, clamped to public bounds: exact in base 2 and in base e.

The input is rounded to the grid γℤ, γ = 2^grid; the noise is z·γ with P(z) = (1−q)/(1+q)·q^|z|, where q = 2^−η or
e^(−γ/scale); the sum is clamped. Inputs Δ apart land at most ⌈Δ/γ⌉ steps apart, so the loss is at most ⌈Δ/γ⌉·ln(1/q),
and no factor of 2 is lost. Clamping is post-processing: which bounds are chosen costs accuracy, never privacy.

Side channels. Bits consumed, and passes of its loop: the same for every draw, except with a probability near 2^−50
(`discrete_laplace.Laplace.undecided`). Of 2^12 draws or more at once, at a scale above 64γ, some are made by rejection;
how many depends on n alone, and the number of candidates is independent of the results (`samplers.wide_noise`). Time:
the memory access of one search; of many draws at once, how many lie near a boundary.
Sources: the working paper on the discrete sparse vector mechanism (ClampedDiscLap, GetSum); Canonne, Kamath, Steinke
2020 (the discrete Laplace distribution at any rational scale).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.clamped_noise import (
    claim_with_failures,
    clamped,
    law_of_one,
    on_grid,
    require_few_atoms,
    sample_of_each,
    trace_law,
)
from subnormal.mechanisms.additive.family import Data, LaplaceParameters, laplace_claim
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, Powers, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.numerics.grid import Rounding, from_steps, l1_steps
from subnormal.mechanisms.numerics.mpfr import float_up, rational
from subnormal.mechanisms.privacy import Claim, Eta, noise_claim, noise_eta, require_positive
from subnormal.mechanisms.samplers import discrete_laplace, wide_noise
from subnormal.mechanisms.samplers.discrete_laplace import Decay
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import Rate
from subnormal.mechanisms.samplers.wide_noise import WideNoise

LAW_BITS_MAX = 1 << 31  # of all probabilities together, in base 2
GUARD = 64  # bits of working precision beyond an enclosure's
MANY_DRAWS = 1 << 12  # draws from which a table of boxes is worth its making
INTERIOR, END = 0, 1  # which constant a probability has: (1−q)/(1+q), or 1/(1+q)


@lru_cache(maxsize=64)
def rate_of(scale: Eta | float | Fraction, grid: int) -> Rate:
    """Return how weights fall with each step of the grid: an Eta as it is, a scale as γ/scale nats, exactly."""
    if isinstance(scale, Eta):
        return scale
    units = rational("scale", scale)
    require_positive("scale", units)
    return Fraction(2) ** grid / units


def sample(
    value: float | Fraction,
    scale: Eta | float | Fraction,
    bits: BitSource,
    n: int,
    *,
    grid: int = 0,
    lower: float | Fraction | None = None,
    upper: float | Fraction | None = None,
    rounding: Rounding = "half-up",
) -> NDArray[Any]:
    """Return n noisy values, shape (n,): int64 where grid ≥ 0, else float64, exact up to 2^53 steps.

    scale: an Eta, the rate of each grid step in base 2; or the scale of the noise in the units of the value, in base e.
    lower, upper: bounds to clamp to, rounded to the grid; without them, ±2^61 steps. Raises ValueError for a value that
    is no finite number.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> sample(3, 10.0, seeded_bits(1), 5).tolist()
    [-12, -19, 13, 7, 0]
    """
    center, low, high = on_grid(value, grid, lower, upper, rounding)
    return clamped(noise_of(rate_of(scale, grid), n), bits, n, grid, center, low, high)


def noise_of(rate: Rate, n: int) -> discrete_laplace.Laplace | WideNoise:
    """Return the sampler of n draws: a table up to a scale of 64 steps; beyond, digit by digit, or boxes for many."""
    noise = discrete_laplace.laplace(rate)
    return wide_noise.sampler(Decay(rate)) if noise.split and n >= MANY_DRAWS else noise


def claim(scale: Eta | float | Fraction, sensitivity: float, *, grid: int = 0, coordinates: int = 1) -> Claim:
    """Return what noise of that scale promises for inputs Δ apart in L1 distance, rounding to the grid included.

    ⌈Δ/γ⌉·η·ln 2 with an Eta, ⌈Δ/γ⌉·γ/scale in base e, and a step more for every further coordinate.

    >>> claim(2.0, 1.0), claim(2.0, 1.25), claim(Eta(1, 1), 1.0)
    (Claim(epsilon=0.5, delta=0.0), Claim(epsilon=1.0, delta=0.0), Claim(epsilon=0.6931471805599454, delta=0.0))
    """
    require_positive("sensitivity", sensitivity)
    steps = l1_steps(sensitivity, grid, coordinates)
    rate = rate_of(scale, grid)
    return noise_claim(rate, steps) if isinstance(rate, Eta) else Claim(float_up(steps * rate))


def law(
    value: float | Fraction,
    scale: Eta | float | Fraction,
    *,
    grid: int = 0,
    lower: float | Fraction,
    upper: float | Fraction,
    rounding: Rounding = "half-up",
    precision: int = 128,
) -> Law[Any]:
    """Return the distribution of `sample`: exact with an Eta; in base e enclosures 2^−precision wide at most, and
    their exact form as powers. The atoms are every value of the grid from lower to upper. Raises NoLawError where they
    are more than 2^16, or in base 2 take more than 2^31 bits.

    With f the value and o an outcome, in steps: q^|o−f|/(1+q) where o is a bound, (1−q)/(1+q)·q^|o−f| between.
    """
    center, low, high = on_grid(value, grid, lower, upper, rounding)
    require_few_atoms(low, high, grid)
    atoms: Any = from_steps(np.arange(low, high + 1), grid)
    if low == high:
        return exact_law(atoms, [1], [1], 1)
    distances = np.abs(np.arange(low, high + 1) - center)
    constants = np.full(len(distances), INTERIOR)
    constants[[0, -1]] = END
    rate = rate_of(scale, grid)
    if isinstance(rate, Eta):
        return _base2_law(atoms, distances.tolist(), rate)
    return _base_e_law(atoms, Powers(rate, distances, constants), precision)


def _base2_law(atoms: Any, distances: list[int], eta: Eta) -> Law[Any]:
    """Integers over (2^y' + x')·2^(y'·span) for q = x'/2^y': the same denominator in every world of these bounds."""
    x, y, span = eta.x**eta.z, eta.y * eta.z, len(distances) - 1
    if y * span * span > LAW_BITS_MAX:
        raise NoLawError(f"{span + 1} probabilities of {y * span} bits take more than {LAW_BITS_MAX} bits")
    powers = [1]
    for _ in range(span):
        powers.append(powers[-1] * x)
    ends = [powers[distance] << (y * (span + 1 - distance)) for distance in (distances[0], distances[-1])]
    between = [(powers[distance] * ((1 << y) - x)) << (y * (span - distance)) for distance in distances[1:-1]]
    weights = [ends[0], *between, ends[1]]
    return exact_law(atoms, range(1, span + 2), weights, ((1 << y) + x) << (y * span))


def _base_e_law(atoms: Any, powers: Powers, precision: int) -> Law[Any]:
    bits = precision + GUARD
    one = 1 << bits
    q_low, q_high = weight_bounds(powers.rate, Fraction(1), bits)
    low, high = [], []
    for distance, constant in zip(powers.exponents.tolist(), powers.constants.tolist(), strict=True):
        least, most = weight_bounds(powers.rate, Fraction(distance), bits)
        if constant == INTERIOR:
            least, most = least * (one - q_high) >> bits, -(-most * (one - q_low) >> bits)
        low.append((least << bits) // (one + q_high))
        high.append(-((-most << bits) // (one + q_low)))
    return Law(atoms, range(1, len(atoms) + 1), low, high, one, Fraction(0), powers)


def _member(
    name: str, scale_of: Callable[[LaplaceParameters, int], Eta | Fraction]
) -> Mechanism[Data, LaplaceParameters, Any]:
    """scale_of(parameters, coordinates) keeps the budget for inputs that are rounded to the grid."""

    def noise_of_one(parameters: LaplaceParameters, coordinates: int) -> discrete_laplace.Laplace:
        return discrete_laplace.laplace(rate_of(scale_of(parameters, coordinates), parameters.grid))

    def undecided(parameters: LaplaceParameters, coordinates: int) -> Fraction:
        return noise_of_one(parameters, coordinates).undecided()

    return Mechanism(
        name,
        "laplace",
        sample_of_each(sample, scale_of),
        laplace_claim,
        law_of_one(law, scale_of),
        exact=True,
        trace_law=law_of_one(trace_law, noise_of_one),
        trace_claim=claim_with_failures(laplace_claim, undecided),
    )


@lru_cache(maxsize=64)
def member_eta(parameters: LaplaceParameters, coordinates: int = 1) -> Eta:
    """Return the rate in base 2 that keeps the budget for inputs that are rounded to the grid. Cached: it is public."""
    return noise_eta(parameters.epsilon, l1_steps(parameters.sensitivity, parameters.grid, coordinates))


@lru_cache(maxsize=64)
def _base_e_scale(parameters: LaplaceParameters, coordinates: int) -> Fraction:
    steps = l1_steps(parameters.sensitivity, parameters.grid, coordinates)
    return steps * Fraction(2) ** parameters.grid / Fraction(parameters.epsilon)


BASE2 = _member("laplace-exact", member_eta)
BASE_E = _member("laplace-exact-base-e", _base_e_scale)
