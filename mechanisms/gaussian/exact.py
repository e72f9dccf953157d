"""Discrete Gaussian noise on a grid, clamped to public bounds: exact, at any standard deviation.

The input is rounded to the grid γℤ, γ = 2^grid; the noise is z·γ with P(z) ∝ e^(−z²γ²/(2σ²)); the sum is clamped. It is
(Δ'/σ)²/2-zCDP, where Δ' = ⌈Δ/γ⌉γ is the sensitivity after rounding: the same as for the continuous Gaussian.

Side channels. Bits consumed, and passes of its loop: one word and one pass a draw up to σ = 64γ, and more with a
probability near 2^−50. At a larger σ some draws are made by rejection; how many depends on n alone, and the number of
candidates is independent of the result (`samplers.wide_noise`). Time: the memory access of one search; of many draws
at once, how many lie near a boundary.
Source: Canonne, Kamath, Steinke 2020, Section 2 (the discrete Gaussian and its zCDP).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, isqrt
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
from subnormal.mechanisms.additive.family import Data, GaussianParameters, gaussian_claim
from subnormal.mechanisms.bits import BitSource, system_bits
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.numerics.grid import Rounding, from_steps, l2_steps_squared
from subnormal.mechanisms.numerics.mpfr import rational
from subnormal.mechanisms.privacy import Zcdp, require_positive
from subnormal.mechanisms.samplers import discrete_gaussian, wide_noise
from subnormal.mechanisms.samplers.discrete_gaussian import Bell
from subnormal.mechanisms.samplers.inverse_transform import DRAWS_AT_ONCE
from subnormal.mechanisms.samplers.wide_noise import gaussian_noise

LAW_STEPS_MAX = 1 << 17  # weights that a law adds up
WHOLE_MAX = 1 << 56  # σ of noise in int64: more of it would wrap around now and then
ROOT_BITS = 64  # of the standard deviation that off-grid inputs call for


def sample(
    value: float | Fraction,
    sigma: float | Fraction,
    bits: BitSource,
    n: int,
    *,
    grid: int = 0,
    lower: float | Fraction | None = None,
    upper: float | Fraction | None = None,
    rounding: Rounding = "half-up",
) -> NDArray[Any]:
    """Return n noisy values, shape (n,): int64 where grid ≥ 0, else float64, exact up to 2^53 steps.

    sigma: the σ of the noise, in the units of the value. At a small σ/γ the standard deviation is a little less.
    lower, upper: bounds to clamp to, rounded to the grid; without them, ±2^61 steps.
    Raises ValueError for a value that is no finite number.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> sample(3, 10.0, seeded_bits(1), 5).tolist()
    [-9, -13, 12, 7, -1]
    """
    center, low, high = on_grid(value, grid, lower, upper, rounding)
    return clamped(gaussian_noise(variance_of(sigma, grid)), bits, n, grid, center, low, high)


def fill(
    out: NDArray[Any], sigma: float | Fraction, sources: Sequence[BitSource] | None = None, *, grid: int = 0
) -> None:
    """Fill an array with noise as `sample` adds it, unclamped: exact, and about as fast as numpy's normals.

    out: C-contiguous, of any shape; int64 where grid ≥ 0, else float64, exact up to 2^53 steps. sigma: in units of the
    data, not of the grid; at most 2^56 for int64, which holds 127σ then. sources: each fills a share of the array, in a
    thread of its own; None: as many `system_bits` as there are processors. Memory: some MiB a thread, whatever the size
    of the array.
    Where the noise is added to multiples of 2^grid in float64, nothing is rounded as long as the sums are below 2^53
    steps; elsewhere their rounding may tell of the data.
    Raises ValueError for an array of another type or not C-contiguous, no source, and as `sample` does.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> noise = np.empty((2, 3), dtype=np.int64)
    >>> fill(noise, 2.0**40, [seeded_bits(1)])
    >>> (abs(noise) < 2**43).all()
    np.True_
    """
    kind = np.dtype(np.int64 if grid >= 0 else np.float64)
    if out.dtype != kind or not out.flags.c_contiguous:
        raise ValueError(f"out must be C-contiguous, of type {kind} for grid = {grid}, got {out.dtype}")
    if sources is None:
        sources = [system_bits() for _ in range(processors())]
    if not sources:
        raise ValueError("sources must not be empty")
    if grid >= 0 and variance_of(sigma, 0) > WHOLE_MAX**2:
        raise ValueError(f"sigma must be at most 2^56 in an array of int64, got {sigma}")
    noise = wide_noise.sampler(Bell(variance_of(sigma, grid)))

    def fill_share(bits: BitSource, share: NDArray[Any]) -> None:
        steps = share.view(np.int64)
        noise.fill(bits, steps)
        for start in range(0, len(share) if grid else 0, DRAWS_AT_ONCE):
            part = slice(start, start + DRAWS_AT_ONCE)
            share[part] = from_steps(steps[part], grid)

    with ThreadPoolExecutor(len(sources)) as threads:
        list(threads.map(fill_share, sources, np.array_split(out.reshape(-1), len(sources))))


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=64)
def variance_of(sigma: float | Fraction, grid: int) -> Fraction:
    units = rational("sigma", sigma)
    require_positive("sigma", units)
    return (units / Fraction(2) ** grid) ** 2


def claim(sigma: float | Fraction, sensitivity: float, *, grid: int = 0, coordinates: int = 1) -> Zcdp:
    """Return what noise of that σ promises for inputs Δ apart in L2 distance, rounding to the grid included.

    >>> claim(2.0, 1.0), claim(2.0, 1.25)
    (Zcdp(rho=0.125), Zcdp(rho=0.5))
    """
    require_positive("sensitivity", sensitivity)
    return Zcdp.of(l2_steps_squared(sensitivity, grid, coordinates) / (2 * variance_of(sigma, grid)))


def law(
    value: float | Fraction,
    sigma: float | Fraction,
    *,
    grid: int = 0,
    lower: float | Fraction,
    upper: float | Fraction,
    rounding: Rounding = "half-up",
    precision: int = 128,
) -> Law[Any]:
    """Return the distribution of `sample` as enclosures 2^−precision wide, about. The atoms are the values of the grid
    from lower to upper. Raises NoLawError where more than 2^17 weights would have to be added up.
    """
    center, low, high = on_grid(value, grid, lower, upper, rounding)
    require_few_atoms(low, high, grid)
    variance = variance_of(sigma, grid)
    reach = discrete_gaussian.gaussian_reach(variance, precision)
    last = max(reach, center - low, high - center) + 1
    if last > LAW_STEPS_MAX:
        raise NoLawError(f"σ and the bounds reach over {last} steps of 2^{grid}, more than {LAW_STEPS_MAX}")
    atoms: Any = from_steps(np.arange(low, high + 1), grid)
    if low == high:
        return exact_law(atoms, [1], [1], 1)
    half = [discrete_gaussian.bell(variance, distance, precision) for distance in range(last + 1)]
    tail = discrete_gaussian.bell_tail(variance, last, half[last][1])
    sides = []
    for side, beyond in ((0, 0), (1, tail)):
        weights = [pair[side] for pair in half]
        sums = list(accumulate([beyond, *reversed(weights), *weights[1:]]))  # sums[i + 1]: up to z = i − last
        first, end = low - center + last, high - center + last
        whole = sums[-1] + beyond
        masses = [
            sums[first + 1],
            *(weights[abs(z)] for z in range(low - center + 1, high - center)),
            whole - sums[end],
        ]
        sides.append((masses, whole))
    (least, whole_low), (most, whole_high) = sides
    return Law(
        atoms,
        range(1, len(atoms) + 1),
        [(mass << precision) // whole_high for mass in least],
        [-((-mass << precision) // whole_low) for mass in most],
        1 << precision,
        Fraction(0),
    )


@lru_cache(maxsize=64)
def member_sigma(parameters: GaussianParameters, coordinates: int = 1) -> Fraction:
    """Return the σ at which rounding to the grid costs nothing of the promise: σ·Δ'/Δ, rounded up. Public."""
    steps_squared = l2_steps_squared(parameters.sensitivity, parameters.grid, coordinates)
    squared = steps_squared * Fraction(4) ** parameters.grid / Fraction(parameters.sensitivity) ** 2
    return Fraction(parameters.sigma) * _root_up(squared)


def _root_up(value: Fraction) -> Fraction:
    """Return the square root, exactly where it is a rational of 64 fractional bits, else rounded up to one."""
    scaled = ceil(value * 4**ROOT_BITS)
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 2**ROOT_BITS)


def _noise(parameters: GaussianParameters, coordinates: int) -> discrete_gaussian.Gaussian:
    return discrete_gaussian.gaussian(variance_of(member_sigma(parameters, coordinates), parameters.grid))


def _undecided(parameters: GaussianParameters, coordinates: int) -> Fraction:
    return gaussian_noise(variance_of(member_sigma(parameters, coordinates), parameters.grid)).undecided()


EXACT: Mechanism[Data, GaussianParameters, Any] = Mechanism(
    "gaussian-exact",
    "gaussian",
    sample_of_each(sample, member_sigma),
    gaussian_claim,
    law_of_one(law, member_sigma),
    exact=True,
    trace_law=law_of_one(trace_law, _noise),
    trace_claim=claim_with_failures(gaussian_claim, _undecided),
)
