"""Laplace noise as a selection: the exponential mechanism with u = |f − o| over a grid between public bounds.

Outcomes o are lower, lower + 2^grid, …, upper. The value f is rounded to the grid, and clamped to the bounds: beyond a
bound the law is that of the bound. There are two forms. `sample` counts |f − o| in steps of the grid, so that utilities
are integers and every weight B^u is exact; its η is the rate of a step. `sample_rounded` takes |f − o| as it is, a real
utility at the rate η of a unit, and rounds it at random.
Source: Ilvento 2020, Section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.clamped_noise import claim_with_failures, law_of_one, sample_of_each
from subnormal.mechanisms.additive.family import Data, LaplaceParameters, laplace_claim
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.core.validation import INT64
from subnormal.mechanisms.exponential import base2, base2_batched, randomized_rounding
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.base2 import FLOAT_LIMIT
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.numerics.grid import from_steps, l1_steps, to_steps
from subnormal.mechanisms.numerics.mpfr import rational
from subnormal.mechanisms.privacy import Eta, noise_eta
from subnormal.mechanisms.samplers.trace_laws import TraceLaw

OUTCOMES_MAX = 1 << 24
LAW_BITS_MAX = 1 << 30  # of all weights of a law together: 128 MiB

Number = int | float | Fraction


@dataclass(frozen=True, slots=True)
class _Range:
    """The outcomes, as steps first, …, first + count − 1 of 2^grid."""

    first: int
    count: int
    grid: int

    @property
    def span(self) -> int:
        """The largest distance of a value and an outcome, rounded up to a unit."""
        return ceil((self.count - 1) * Fraction(2) ** self.grid)

    def values(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        return from_steps(indices + np.int64(self.first), self.grid)

    def distances(self, value: Number) -> NDArray[np.int64]:
        place = min(max(to_steps(value, self.grid) - self.first, 0), self.count - 1)
        return np.abs(np.arange(self.count) - place)


def _range(grid: int, lower: Number, upper: Number) -> _Range:
    ends = []
    for name, bound in (("lower", lower), ("upper", upper)):
        steps = rational(name, bound) / Fraction(2) ** grid
        if steps.denominator != 1:
            raise ValueError(f"{name} must be a multiple of 2^{grid}, got {bound}")
        if (abs(steps) > FLOAT_LIMIT) if grid < 0 else (not -INT64 <= bound < INT64):
            raise ValueError(f"{name} = {bound} must be at most 2^53 steps of 2^{grid}, or an integer of 64 bits")
        ends.append(steps.numerator)
    first, last = ends
    if first > last:
        raise ValueError(f"lower = {lower} must not be above upper = {upper}")
    if last - first >= OUTCOMES_MAX:
        raise ValueError(f"grid = {grid} makes {last - first + 1} outcomes, more than {OUTCOMES_MAX}")
    return _Range(first, last - first + 1, grid)


def outcomes(*, grid: int, lower: Number, upper: Number) -> NDArray[Any]:
    """Return the outcomes in order, shape (outcomes,): float64 for a grid below 1, else int64."""
    space = _range(grid, lower, upper)
    return space.values(np.arange(space.count))


def steps(value: Number, *, grid: int, lower: Number, upper: Number) -> NDArray[np.int64]:
    """Return the distance of the value, rounded half up to the grid and clamped, to each outcome, in steps of 2^grid.

    >>> steps(0.3, grid=-1, lower=-1, upper=1).tolist()
    [3, 2, 1, 0, 1]
    """
    return _range(grid, lower, upper).distances(value)


def sample(
    value: Number, eta: Eta, bits: BitSource, n: int, *, grid: int, lower: Number, upper: Number
) -> NDArray[Any]:
    """Return n outcomes, each with probability exactly B^steps / Σ B^steps; float64 (int64 for grid ≥ 0), shape (n,).

    2dη|2-DP for values that are rounded at most d steps apart. Leaks: what exponential_exact leaks.
    """
    space = _range(grid, lower, upper)
    return space.values(exponential_exact.sample(space.distances(value), eta, bits, n))


def law(value: Number, eta: Eta, *, grid: int, lower: Number, upper: Number) -> Law[Any]:
    """Return the exact distribution of `sample`. Raises NoLawError where it takes more than LAW_BITS_MAX bits."""
    space = _range(grid, lower, upper)
    size = space.count**2 * eta.y * eta.z
    if size > LAW_BITS_MAX:
        raise NoLawError(f"the law of {space.count} outcomes takes {size} bits, more than {LAW_BITS_MAX}")
    atoms: Any = space.values(np.arange(space.count))
    return replace(base2.law(space.distances(value), eta), atoms=atoms)


def sample_rounded(
    value: Number, eta: Eta, bits: BitSource, n: int, *, grid: int, lower: Number, upper: Number
) -> NDArray[Any]:
    """Return n outcomes, chosen by B^û with û the distance in units, rounded at random anew for every draw.

    float64 (int64 for grid ≥ 0), shape (n,). For values up to Δ apart 2⌈Δ⌉η|2-DP where the grid divides 1. Fast where
    B is a power of two and the weights fit a word; else exponential_base2, with the same law. Leaks: tries.
    Source: Ilvento 2020, Section 4.1 with Mechanism 4.
    """
    space = _range(grid, lower, upper)
    units = from_steps(space.distances(value), grid)
    if grid >= 0:
        return space.values(exponential_exact.sample(units, eta, bits, n))
    # A distance has −grid fractional bits; words of a power of two are cheap to unpack.
    precision = min(randomized_rounding.PRECISION, 1 << (-grid - 1).bit_length())
    limits = Limits(0, space.span, space.count)
    return space.values(base2_batched.sample(units, eta, bits, n, limits=limits, rounding_precision=precision))


def member_eta(parameters: LaplaceParameters, coordinates: int = 1) -> Eta:
    """Return the rate of a step that keeps the budget: 2dη·ln 2 ≤ ε for data that are rounded d steps apart.

    The factor 2 is a selection's: of the bounds only, since noise without them needs dη·ln 2.
    """
    apart = 2 * l1_steps(parameters.sensitivity, parameters.grid, coordinates)
    return noise_eta(parameters.epsilon, apart)


_law_member = law_of_one(law, member_eta)


def _trace_law_member(data: Data, parameters: LaplaceParameters) -> TraceLaw:
    return exponential_exact.trace_law(_law_member(data, parameters))


def _straddled(parameters: LaplaceParameters, coordinates: int) -> Fraction:
    return exponential_exact.straddle_bound(_range(**parameters.grid_and_bounds()).count)


BASE2: Mechanism[Data, LaplaceParameters, Any] = Mechanism(
    "laplace-base2",
    "laplace",
    sample_of_each(sample, member_eta),
    laplace_claim,
    _law_member,
    exact=True,
    trace_law=_trace_law_member,
    trace_claim=claim_with_failures(laplace_claim, _straddled),
)
