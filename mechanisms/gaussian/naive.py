"""Gaussian noise in floats, as people write it: Box-Muller, and Marsaglia's polar method. Not private.

Both make noise in pairs. A vector's coordinates take the values of a pair in order. A single number, or the last of an
odd number of coordinates, takes the first value and discards the second, as textbook code does; library code often
keeps it for the next call instead, which makes neighbouring draws partners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from subnormal.mechanisms.additive.family import Data, GaussianParameters, gaussian_claim
from subnormal.mechanisms.additive.float_sums import float_member
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.privacy import require_positive

Floats = NDArray[np.floating[Any]]
Pairs = Callable[[float, BitSource, int, DTypeLike], Floats]  # of noise, shape (n, 2)

TAU = 2 * np.pi


def uniforms(bits: BitSource, n: int, float_type: DTypeLike) -> Floats:
    """Return n uniforms k·2^−53 (2^−24 in float32) of (0, 1], where the logarithm is finite, shape (n,)."""
    width = float_types.digits(float_type)
    drawn: Floats = np.ldexp((bits.words(n, width) + np.uint64(1)).astype(np.float64), -width).astype(float_type)
    return drawn


def radius(uniform: Floats, sigma: float) -> Floats:
    """Return σ·√(−2 ln U) in the uniforms' own type, shape (uniforms,).

    numpy's vectorised logarithm and the C library's may differ in the last bit. Which one is called depends on how an
    array lies in memory, and for a contiguous one on nothing else: the same uniform gives the same radius anywhere.
    """
    length: Floats = uniform.dtype.type(sigma) * np.sqrt(-2 * np.log(np.ascontiguousarray(uniform)))
    return length


def direction(uniform: Floats) -> tuple[Floats, Floats]:
    """Return cos(2πU) and sin(2πU) in the uniforms' own type, each of shape (uniforms,)."""
    angle = TAU * np.ascontiguousarray(uniform)
    return np.cos(angle), np.sin(angle)


def box_muller(sigma: float, bits: BitSource, n: int, float_type: DTypeLike = np.float64) -> Floats:
    """Return n pairs (σ·√(−2 ln U₁)·cos(2πU₂), σ·√(−2 ln U₁)·sin(2πU₂)), shape (n, 2). U₁ is drawn before U₂.

    Source: Box and Muller 1958.
    """
    drawn = uniforms(bits, 2 * n, float_type).reshape(n, 2)
    length = radius(drawn[:, 0], sigma)
    cosine, sine = direction(drawn[:, 1])
    return np.stack([length * cosine, length * sine], axis=1)


def polar(sigma: float, bits: BitSource, n: int, float_type: DTypeLike = np.float64) -> Floats:
    """Return n pairs σ·(x, y)·√(−2 ln s / s), (x, y) uniform in the unit disc, s = x² + y², shape (n, 2).

    Points of the square outside the disc, and the centre, are rejected. Leaks: rejections.
    Source: Marsaglia and Bray 1964.
    """
    pairs = np.empty((n, 2), dtype=float_type)
    done = 0
    while done < n:
        point = 2 * uniforms(bits, 2 * (n - done), float_type).reshape(-1, 2) - 1
        square = point[:, 0] * point[:, 0] + point[:, 1] * point[:, 1]
        inside = (square < 1) & (square > 0)
        point, square = point[inside], square[inside]
        factor = square.dtype.type(sigma) * np.sqrt(-2 * np.log(square) / square)
        pairs[done : done + len(point)] = point * factor[:, np.newaxis]
        done += len(point)
    return pairs


def sample(
    value: ArrayLike,
    sigma: float,
    bits: BitSource,
    n: int,
    *,
    float_type: DTypeLike = np.float64,
    pairs: Pairs = box_muller,
) -> Floats:
    """Return n times value + noise in the float type, shape (n,), or (n, coordinates) for a vector.

    Raises ValueError for a negative n.
    """
    require_draws(n)
    require_positive("sigma", sigma)
    vector = np.asarray(value, dtype=float_type)
    each = (vector.size + 1) // 2  # pairs a draw
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        noise = pairs(sigma, bits, n * each, float_type).reshape(n, 2 * each)[:, : vector.size]
        outcomes: Floats = vector + noise.reshape(n, *vector.shape)
    return outcomes


def _member(name: str, float_type: DTypeLike, pairs: Pairs) -> Mechanism[Data, GaussianParameters, Any]:
    return float_member(
        name,
        "gaussian",
        gaussian_claim,
        float_type,
        lambda value, parameters, bits, n: sample(value, parameters.sigma, bits, n, float_type=float_type, pairs=pairs),
    )


FLOAT64 = _member("gaussian-naive-float64", np.float64, box_muller)
FLOAT32 = _member("gaussian-naive-float32", np.float32, box_muller)
POLAR = _member("gaussian-naive-polar", np.float64, polar)
