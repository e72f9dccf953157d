"""Discrete noise on a grid, the sum clamped to public bounds: what exact members share, whatever their noise is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.family import Data, exact_values, require_number, side_by_side
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import NoLawError, Outcomes, Trace
from subnormal.mechanisms.numerics.grid import Rounding, from_steps, reach, to_steps
from subnormal.mechanisms.privacy import Claim, with_failures
from subnormal.mechanisms.samplers import discrete_gaussian, discrete_laplace
from subnormal.mechanisms.samplers.inverse_transform import DRAWS_AT_ONCE, WORD

LAW_ATOMS_MAX = 1 << 16

ScaleOf = Callable[[Any, int], Any]  # from a member's parameters, and how many coordinates, to its noise's scale


class Noise(Protocol):
    """A sampler of integers."""

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,)."""


def clamped(noise: Noise, bits: BitSource, n: int, grid: int, center: int, low: int, high: int) -> NDArray[Any]:
    """Return n times center + noise, clamped, all given in steps of the grid; shape (n,), in the units of the value.

    Raises ValueError for a negative n.
    """
    require_draws(n)
    released = np.empty(n, dtype=np.int64 if grid >= 0 else np.float64)
    for start in range(0, n, DRAWS_AT_ONCE):  # a part at a time, so that it stays in the cache
        steps = noise.draw(bits, min(DRAWS_AT_ONCE, n - start))
        steps += center
        np.minimum(np.maximum(steps, low, out=steps), high, out=steps)  # of a single draw, in a tenth of clip's time
        released[start : start + DRAWS_AT_ONCE] = from_steps(steps, grid)
    return released


def on_grid(
    value: float | Fraction,
    grid: int,
    lower: float | Fraction | None,
    upper: float | Fraction | None,
    rounding: Rounding = "half-up",
) -> tuple[int, int, int]:
    """Return the value, clamped, and the bounds, all in steps of 2^grid.

    Bounds that are missing, or too far out, become those of `grid.reach`. A value is never refused for its size: that
    would leak. Raises ValueError for what is not a number, and for bounds in the wrong order.
    """
    if isinstance(grid, bool) or not isinstance(grid, int):
        raise ValueError(f"grid must be an integer, got {grid!r}")
    most = reach(grid)
    low, high = (
        end if given is None else min(max(to_steps(given, grid), -most), most)
        for given, end in ((lower, -most), (upper, most))
    )
    if low > high:
        raise ValueError(f"lower = {lower} must not be above upper = {upper}")
    return min(max(to_steps(value, grid, rounding), low), high), low, high


def require_few_atoms(low: int, high: int, grid: int) -> None:
    """Raise NoLawError where a law would have more than 2^16 atoms."""
    if high - low >= LAW_ATOMS_MAX:
        raise NoLawError(
            f"{high - low + 1} steps of 2^{grid} between the bounds, and a law has {LAW_ATOMS_MAX} at most"
        )


def sample_of_each(sample: Callable[..., NDArray[Any]], scale_of: ScaleOf) -> Callable[..., Outcomes]:
    """Return a member's `sample`, by that of one number: it adds noise of its own to each number that is released.

    scale_of(parameters, coordinates) keeps the budget for so many numbers, each rounded to the grid.
    """

    def sample_member(data: Data, parameters: Any, bits: BitSource, n: int) -> Outcomes:
        values = exact_values(data, parameters.query)
        scale = scale_of(parameters, len(values))
        drawn = [sample(value, scale, bits, n, **parameters.grid_and_bounds()) for value in values]
        return side_by_side(drawn, data, parameters.query)

    return sample_member


def law_of_one(law: Callable[..., Law[Any]], scale_of: ScaleOf) -> Callable[..., Law[Any]]:
    """Return a member's `law`, or its `trace_law`, by that of one number: NoLawError for a vector's coordinates."""

    def law_member(data: Data, parameters: Any) -> Law[Any]:
        require_number(data, parameters.query)
        value = exact_values(data, parameters.query)[0]
        return law(value, scale_of(parameters, 1), **parameters.grid_and_bounds())

    return law_member


def claim_with_failures(
    claim: Callable[..., Claim], failure_of: Callable[[Any, int], Fraction]
) -> Callable[[Any, Data, Data], Claim]:
    """Return the claim less what failures cost: failure_of(parameters, coordinates) bounds that of one coordinate."""

    def claim_member(parameters: Any, data_in: Data, data_out: Data) -> Claim:
        coordinates = len(exact_values(data_in, parameters.query))
        return with_failures(claim(parameters, data_in, data_out), coordinates * failure_of(parameters, coordinates))

    return claim_member


def trace_law(
    value: float | Fraction,
    noise: discrete_laplace.Laplace | discrete_gaussian.Gaussian,
    *,
    grid: int = 0,
    lower: float | Fraction,
    upper: float | Fraction,
) -> Law[tuple[Any, Trace]]:
    """Return the distribution of (outcome, Trace) of a single draw of clamped noise: one word and one step, or `rest`.

    Exact except for `rest`, which is noise.undecided(). Raises NoLawError for noise that is drawn in parts.
    """
    if noise.split:
        raise NoLawError("the law of the traces of noise that is drawn in parts is not written down")
    center, low, high = on_grid(value, grid, lower, upper)
    require_few_atoms(low, high, grid)
    first, counts = noise.coarse.decided()
    words = [0] * (high - low + 1)
    for steps, count in enumerate(counts, first + center):
        words[min(max(steps, low), high) - low] += count
    values = from_steps(np.arange(low, high + 1), grid).tolist()
    trace = Trace(0, WORD, 1)
    atoms = [(one, trace) for one in values]
    return Law(atoms, range(1, len(atoms) + 1), words, words, 1 << WORD, noise.coarse.undecided())
