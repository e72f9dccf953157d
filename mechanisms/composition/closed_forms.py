"""Bucketed laws with a closed form: Laplace and Gaussian noise on the values 0 and 1, DP-SGD and randomized response.

Scales are in units of the sensitivity. A's world has the value 1, B's the value 0; where there is no argument
`direction`, both directions are equal. Masses are certified: they come from elementary functions, or from a quadrature
with a bounded remainder.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.polynomial.legendre import leggauss

from subnormal.mechanisms.composition.composition import COUNT, Composition
from subnormal.mechanisms.composition.fft_convolution import UNIT, Floats
from subnormal.mechanisms.composition.privacy_buckets import LOSS_MAX, ROUNDING, Grid, Masses, fill_buckets
from subnormal.mechanisms.privacy import require_positive

NODES = 8  # of the quadrature
TAIL = 12.0  # standard deviations: the tails beyond have a mass of at most e^−72 < 2^−100

LEAST_SCALE = 1 / 32  # losses of up to 32 nats for Laplace noise, 512 on average for Gaussian: near LOSS_MAX

Direction = Literal["in", "out"]


def randomized_response(epsilon: float, *, count: int = COUNT) -> Composition:
    """Return the composition of one answer that is true with probability e^ε/(1 + e^ε).

    Raises ValueError for an ε that is not positive or too large.
    """
    require_positive("epsilon", epsilon)
    if epsilon > LOSS_MAX:
        raise ValueError(f"epsilon must be at most {LOSS_MAX:g} nats: larger losses are not kept, got {epsilon}")
    lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
    masses = Masses.near(np.array([1 / (1 + math.exp(-epsilon)), lie]))
    return Composition(fill_buckets(masses, Masses(masses.low[::-1], masses.high[::-1]), count))


def laplace(scale: float, *, truncation: float | None = None, count: int = COUNT) -> Composition:
    """Return one release with Laplace noise; with a truncation T ≥ 1, with noise conditioned on [−T, T].

    The loss is (2x − 1)/s for x between the values 0 and 1, and ±1/s outside. Between them A's world has the mass
    ½e^((x−1)/s) below x, so a bucket from loss l to l + h holds ½e^((l−1/s)/2)·(e^(h/2) − 1). Its mass in B's world is
    the mass of its mirror image in A's. Truncated noise has distinguishing events beyond T on one side.
    Raises ValueError for a scale that is not allowed, or a truncation below 1.
    """
    _require_scale("scale", scale)
    most = 1 / scale
    half = 1 << (max(2, (count - 8) // 2).bit_length() - 1)  # a power of 2: see Grid.reaching
    width = most / half
    starts = width * np.arange(-half, half)
    grow = math.expm1(width / 2)
    between = 0.5 * np.exp((starts - most) / 2) * grow
    mirrored = 0.5 * np.exp(-(starts + most) / 2) * -math.expm1(-width / 2)
    if truncation is None:
        tails, beyond, whole = (0.5, 0.5 * math.exp(-most)), 0.0, 1.0
    else:
        require_positive("truncation", truncation)
        if truncation < 1:
            raise ValueError(f"truncation must be at least the sensitivity, 1, got {truncation}")
        tail = -0.5 * math.expm1(-(truncation - 1) / scale)
        tails, whole = (tail, math.exp(-most) * tail), -math.expm1(-truncation / scale)
        beyond = 0.5 * math.exp(-truncation / scale) * math.expm1(most)
    a = np.array([*between, *tails, beyond]) / whole
    b = np.array([*mirrored, *tails[::-1], 0.0]) / whole
    grid = Grid(width, -half - 1, half + 1)
    return Composition(fill_buckets(Masses.near(a), Masses.near(b), count, grid, excess=ROUNDING * most))


def gaussian(sigma: float, *, count: int = COUNT) -> Composition:
    """Return one release with Gaussian noise of standard deviation σ: the loss is (2x − 1)/(2σ²)."""
    _require_scale("sigma", sigma)
    middle, reach = 0.5 / sigma / sigma, TAIL / sigma
    grid = Grid.reaching(middle - reach, middle + reach, count)
    losses: Floats = grid.width * np.arange(grid.first, grid.last + 1, dtype=np.float64)
    edges = np.clip(sigma * losses + 0.5 / sigma, -TAIL, TAIL + 1 / sigma)  # of x/σ; only a tail lies beyond
    a, b = normal_masses(edges - 1 / sigma), normal_masses(edges)
    # A rounding error of an edge changes its loss by that error over σ.
    return Composition(fill_buckets(a, b, count, grid, excess=ROUNDING * float(np.abs(losses).max() + middle)))


def subsampled_gaussian(
    sigma: float, probability: float, direction: Direction = "in", *, count: int = COUNT
) -> Composition:
    """Return one step of DP-SGD: a record is in the batch with probability q, and noise of σ is added to its sum.

    direction "in": A's world holds the record, so A is the mixture (1 − q)·N(0, σ²) + q·N(1, σ²) and B is N(0, σ²).
    direction "out": the worlds are exchanged.
    The loss ln(1 − q + q·e^((2x−1)/(2σ²))), or its negative, is monotone in x, and bounded by ln(1 − q) on one side.
    Source: Abadi et al. 2016, "Deep Learning with Differential Privacy"; Zhu, Dong, Wang 2022 for both directions.
    Raises ValueError for a σ, a probability or a direction that is not allowed.
    """
    _require_scale("sigma", sigma)
    if not 0 < probability < 1:
        raise ValueError(f"probability must lie between 0 and 1, got {probability}")
    if direction not in ("in", "out"):
        raise ValueError(f"direction must be 'in' or 'out', got {direction!r}")
    sign = 1 if direction == "in" else -1
    extremes = [sign * sampled_loss(x, sigma, probability) for x in (-TAIL, TAIL + 1 / sigma)]
    grid = Grid.reaching(min(extremes), max(extremes), count)
    losses = sign * grid.width * np.arange(grid.first, grid.last + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = sigma * np.log1p(np.expm1(losses) / probability) + 0.5 / sigma
    furthest = TAIL + 1 / sigma
    edges = np.sort(np.clip(np.where(np.expm1(losses) > -probability, inside, -furthest), -furthest, furthest))
    mixed, without = sampled_masses(edges, sigma, probability)
    worlds = (mixed, without) if direction == "in" else (without, mixed)
    return Composition(fill_buckets(*worlds, count, grid, excess=sampled_excess(sigma, probability)))


def sampled_masses(edges: Floats, sigma: float, probability: float) -> tuple[Masses, Masses]:
    """Return the masses of (1 − q)·N(0, 1) + q·N(1/σ, 1), and of N(0, 1), below, between and above ascending edges."""
    without, with_it = normal_masses(edges), normal_masses(edges - 1 / sigma)
    mixed = Masses(
        ((1 - probability) * without.low + probability * with_it.low) * (1 - ROUNDING),
        ((1 - probability) * without.high + probability * with_it.high) * (1 + ROUNDING),
    )
    return mixed, without


def sampled_excess(sigma: float, probability: float) -> float:
    """Return what rounding moves a loss by: dL/dx is at most 1/σ; log1p's argument errs by at most 1/(1−q) units."""
    return ROUNDING * (2 / (1 - probability) + 2 * (TAIL + 2 / sigma) / sigma)


def _require_scale(name: str, scale: float) -> None:
    require_positive(name, scale)
    if scale < LEAST_SCALE:
        raise ValueError(
            f"{name} must be at least {LEAST_SCALE:g}: losses are kept up to {LOSS_MAX:g} nats, got {scale}"
        )


def sampled_loss(x: float, sigma: float, probability: float) -> float:
    """Return ln(1 − q + q·e^(x/σ − 1/(2σ²))) without overflow."""
    exponent = x / sigma - 0.5 / sigma / sigma
    if exponent > 1:
        return exponent + math.log(probability + (1 - probability) * math.exp(-exponent))
    return math.log1p(probability * math.expm1(exponent))


def normal_masses(edges: Floats) -> Masses:
    """Return the standard normal masses below, between and above ascending edges, shape (edges + 1,).

    Gauss-Legendre on pieces of width w ≤ 1/(|x| + 4): |φ^(2m)| ≤ (|x| + √(2m))^(2m)·φ, and φ's largest value on a piece
    is within a factor e of its least, so m = 8 nodes leave a relative remainder below e·8!^4/(17·16!^3) < 2^−70.
    (Derivatives are Hermite polynomials, E(x + iZ)^k, so Minkowski's inequality bounds them.) The mass beyond an
    edge x > 0 is at most e^(−x²/2)/2.
    """
    widths, largest = np.diff(edges), np.maximum(np.abs(edges[1:]), np.abs(edges[:-1]))
    pieces = np.maximum(1, np.ceil(widths * (largest + math.sqrt(2 * NODES)))).astype(np.int64)
    starts = np.cumsum(pieces) - pieces
    halves = np.repeat(widths / (2 * pieces), pieces)
    within = np.arange(pieces.sum()) - np.repeat(starts, pieces)
    centres = np.repeat(edges[:-1], pieces) + (2 * within + 1) * halves
    places, shares = leggauss(NODES)
    points = centres + halves * places[:, None]
    masses = halves * (shares @ np.exp(-(points**2) / 2)) / math.sqrt(2 * math.pi)
    error = ROUNDING + (4 * float((edges**2).max()) + int(pieces.max())) * UNIT
    between = Masses.near(np.add.reduceat(masses, starts), error)
    below, above = (0.5 * math.exp(-(x**2) / 2) if x > 0 else 1.0 for x in (-float(edges[0]), float(edges[-1])))
    return Masses(np.array([0.0, *between.low, 0.0]), np.array([below, *between.high, above]) * (1 + ROUNDING))
