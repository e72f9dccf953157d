"""Laplace noise by randomized rounding: Ilvento 2020, Figures 8, 10 and 11. Notebook 06 draws with these functions.

The noise is a selection among the outcomes of a grid, u(o) = |f − o|, weight 2^(−η·u(o)). Before each draw every
utility is rounded at random to a whole number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import batched_base2
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import randomized_rounding
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.privacy import Eta
from subnormal.plots import Figure, Panel, picture

PAPER_ETA = Eta(1, 2, 1)  # two bits a unit
GRIDS = range(-2, -7, -1)  # the granularities γ = 2^grid, from 1/4 to 1/64
LOOKS = ("black line", "exact line", "claim line", "grey line", "pale line")  # one for each of the grids
DRAWS = 100_000  # of each mechanism in Figure 8
SEED = 1


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise on a true value f of the grid: rate η, outcomes −limit, −limit + γ, …, limit with γ = 2^grid below 1."""

    rate: Eta
    grid: int
    limit: int = 10
    value: float = 0.0

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """Every outcome, increasing."""
        last = self.limit << -self.grid
        return np.arange(-last, last + 1, dtype=np.float64) * 2.0**self.grid

    @property
    def utilities(self) -> NDArray[np.float64]:
        """|f − o| for every outcome."""
        return np.abs(self.outcomes - self.value)

    @property
    def scale(self) -> float:
        """Of the Laplace distribution, in units: 1/(η·ln 2)."""
        return float(1 / (self.rate.bits * np.log(2)))


def titled(rate: Eta) -> str:
    """Return a title that names the rate and the budget."""
    return f"η = {rate.bits:g}, ε = {2 * rate.nats:.3f}"


@cache
def bounds(noise: Noise) -> randomized_rounding.RoundingBounds:
    """Return the bounds of Lemma A.2 on the probability of every outcome."""
    return randomized_rounding.bounds(noise.utilities, noise.rate)


def errors(rate: Eta, limit: int = 10, value: float = 0.0) -> Panel:
    """Return the panel of Figure 10: the largest error possible for each outcome, a curve for each granularity."""
    curves = {}
    for grid, look in zip(GRIDS, LOOKS, strict=True):
        noise = Noise(rate, grid, limit, value)
        curves[f"γ = $2^{{{grid}}}$"] = noise.outcomes, np.array(bounds(noise).error, dtype=float), look
    return Panel(curves=curves, title=titled(rate), ylim=(0, None), x="outcome", y="error ≤", legend="upper right")


def band(noise: Noise, unit: float = 1.0) -> Panel:
    """Return the panel of Figure 11: bounds on every rounded probability, and the unrounded ones, divided by a unit."""
    proved, at = bounds(noise), noise.outcomes
    lower, width = np.array(proved.lower, dtype=float) / unit, float(proved.gap) / unit
    unrounded = np.array([low for low, _ in proved.unrounded], dtype=float) / unit
    return Panel(
        curves={
            "$L_i$ to $L_i + A$": (at, (lower, lower + width), "exact band"),
            "unrounded": (at, unrounded, "black line"),
        },
        title=f"γ = $2^{{{noise.grid}}}$, {len(at):,} outcomes, {titled(noise.rate)}",
        x="outcome",
        y="probability" if unit == 1 else "probability / γ",
        xlim=(noise.value - 3, noise.value + 3),
        ylim=(0, None),
    )


def base2_draws(noise: Noise, n: int, seed: int) -> NDArray[np.float64]:
    """Return n draws of base 2 with randomized rounding."""
    bits, limits = seeded_bits(seed, "figure 8", "base 2"), Limits(0, 2 * noise.limit, len(noise.outcomes))
    precision = 1 << (-noise.grid - 1).bit_length()  # at least the bits of a distance; words of this width are cheap
    chosen = batched_base2.sample(noise.utilities, noise.rate, bits, n, limits=limits, rounding_precision=precision)
    return noise.outcomes[chosen]


def naive_draws(noise: Noise, n: int, seed: int) -> NDArray[np.float64]:
    """Return n draws of clamped noise in floats, off the grid."""
    noisy = laplace_naive.sample(noise.value, noise.scale, seeded_bits(seed, "figure 8", "naive"), n)
    return np.clip(noisy, -noise.limit, noise.limit)


def on_the_grid(noise: Noise, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values, rounded to the grid."""
    return np.ldexp(np.floor(np.ldexp(values, -noise.grid) + 0.5), noise.grid)


def counts(noise: Noise, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many of the values fall on each outcome, or above it and below the next."""
    return np.histogram(values, np.append(noise.outcomes, np.inf))[0]


def distributions(noise: Noise, both: Sequence[NDArray[np.int64]]) -> tuple[Panel, Panel]:
    """Return the panels of Figure 8: frequencies and distribution functions of two samples, that of base 2 first."""
    frequency, cumulated, at = {}, {}, noise.outcomes
    names = ("base 2, rounded at random", "naive, clamped, on the grid")
    for seen, colour, form, label in zip(both, ("exact", "black"), ("stairs", "dashed stairs"), names, strict=True):
        frequency[f"_{label}"] = at, seen / seen.sum(), f"{colour} points"
        cumulated[label] = at, np.cumsum(seen) / seen.sum(), f"{colour} {form}"
    near = (noise.value - 3, noise.value + 3)
    left = Panel(curves=frequency, log="y", x="outcome", y="frequency")
    return left, Panel(curves=cumulated, x="outcome", y="cumulative frequency", xlim=near, legend="upper left")


def figure_8() -> Figure:
    """Draw samples of the rounded and of the naive mechanism, at η = 1 and γ = 1/16."""
    noise = Noise(Eta(1, 1, 1), -4)
    samples = base2_draws(noise, DRAWS, SEED), on_the_grid(noise, naive_draws(noise, DRAWS, SEED))
    return picture(*distributions(noise, [counts(noise, sample) for sample in samples]), size=(13, 4.4))


def figure_10() -> Figure:
    """Draw the error of each outcome by granularity, at the paper's η = 2."""
    return picture(errors(PAPER_ETA), size=(7, 4.4))


def figure_11() -> Figure:
    """Draw the bounds beside the unrounded probability, at the paper's η = 2 and γ = 1/4."""
    return picture(band(Noise(PAPER_ETA, -2)), size=(7, 4.4))


FIGURES: Mapping[str, Callable[[], Figure]] = {
    "figure-8-distributions": figure_8,
    "figure-10-error": figure_10,
    "figure-11-bounds": figure_11,
}
