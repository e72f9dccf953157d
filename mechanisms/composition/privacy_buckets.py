"""The masses of a pair of worlds in buckets of their losses, rounded outwards on input."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from subnormal.mechanisms.composition.fft_convolution import LEAST_MASS, LIBRARY, UNIT, Floats

NEGLIGIBLE = 2.0**-100  # mass of A that may lie outside the grid
ROUNDING = 4 * LIBRARY * UNIT  # relative error of a value from two library calls and a few operations
LOSS_MAX = 700.0  # nats: e^700 is a float. A larger loss counts as infinite, which adds less than e^−700·e^ε
FINEST = 2.0**-20  # of the largest loss: smaller widths gain nothing
LEAST_WIDTH = 2.0**-40  # nats: a few such buckets exceed the rounding of a loss of 0


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """Bounds low ≤ mass ≤ high on the masses of atoms (or of groups of atoms) in one world, each of shape (atoms,)."""

    low: Floats
    high: Floats

    @classmethod
    def near(cls, masses: Floats, error: Floats | float = ROUNDING) -> Masses:
        """Return bounds around floats with a relative error."""
        return cls(masses * np.maximum(0.0, 1 - error), masses * (1 + error))


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """A pair of worlds (A, B) on the losses width·i nats, i = first, first + 1, …; the factor f is e^width.

    upper: masses in A's world of a pair that is easier to distinguish. infinite: an upper bound on the mass of infinite
    loss, which is that of the distinguishing events and of the ∞ bucket. lower: of a pair that is harder to
    distinguish, in row 0 the masses in A's world, in row 1 those in B's world times e^(width·i). distinguishing: a
    lower bound on the mass of distinguishing events. All masses are within a relative `error`. count: the largest
    number of buckets of a composition. excess: nats by which losses of `upper` may lie above the grid.
    """

    width: float
    count: int
    first: int
    upper: Floats
    lower: Floats
    infinite: float
    distinguishing: float
    error: float
    excess: float

    @property
    def losses(self) -> Floats:
        """The losses of the buckets in nats, shape (buckets,)."""
        return self.width * np.arange(self.first, self.first + len(self.upper), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Grid:
    """The losses width·first to width·last, in nats."""

    width: float
    first: int
    last: int

    @classmethod
    def of_factor(cls, factor: float, count: int) -> Grid:
        """Return `count` buckets of a factor, around a loss of 0.

        Raises ValueError for a factor that is not above 1, or too large.
        """
        require_count(count)
        if not 1 < factor <= math.exp(LOSS_MAX):
            raise ValueError(f"factor must be above 1, and at most e^{LOSS_MAX:g}, got {factor}")
        width = math.log(factor)
        reach = int(LOSS_MAX / width)
        return cls(width, max(-(count // 2), -reach), min(count - count // 2 - 1, reach))

    @classmethod
    def reaching(cls, bottom: float, top: float, count: int, *, aligned: bool = False) -> Grid:
        """Return the finest grid of `count` losses from bottom to top.

        aligned: put a positive top at a power of 2 of widths, so that it stays on the grid when the factor is squared.
        Many mechanisms have an atom there, and one at −top.
        """
        require_count(count)
        bottom, top = max(bottom, -LOSS_MAX), min(top, LOSS_MAX)
        width = max((top - bottom) / (count - 4), max(abs(top), abs(bottom)) * FINEST, LEAST_WIDTH)
        if aligned and top > width:
            width = math.ldexp(top, -math.floor(math.log2(top / width)))
        first = math.floor(bottom / width) - 1
        return cls(width, first, first + count - 1)


def require_count(count: int) -> None:
    """Raise ValueError unless count is from 8 to 2^24: there are two tails, and buckets between them."""
    if not 8 <= count <= 1 << 24:
        raise ValueError(f"count must be from 8 to 2^24 buckets, got {count}")


def fill_buckets(a: Masses, b: Masses, count: int, grid: Grid | None = None, excess: float = 0.0) -> Buckets:
    """Return the buckets of atoms with certified masses in both worlds; without a grid, on one of all finite losses.

    An atom may stand for a group whose losses lie between two neighbours of the grid, except for `excess`.
    """
    infinite = (a.high > 0) & (b.low == 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        losses = np.log(np.maximum(a.high / b.low, math.exp(-LOSS_MAX)))  # NaN where neither world has the atom
    infinite |= losses > LOSS_MAX
    finite = (a.high > 0) & ~infinite
    grid = _reached(losses[finite], a.high[finite], count) if grid is None else grid
    upper, overflow = _split(losses[finite], a.high[finite], grid)
    shared = (a.low > 0) & (b.high > 0) & ~(losses < (grid.first - 1) * grid.width)
    with np.errstate(over="ignore"):
        proved = np.log(np.maximum(a.low[shared] / b.high[shared], math.exp(-LOSS_MAX)))
    far = int(LOSS_MAX / grid.width)  # beyond it e^loss is no float, so B's masses would be 0 or infinite
    places = np.clip(np.rint(proved / grid.width), max(grid.first, -far), min(grid.last, far)).astype(np.int64)
    places -= grid.first
    size = grid.last - grid.first + 1
    # Any atom may be counted in any bucket, as post-processing. The nearest bucket loses least.
    rows = [np.bincount(places, weights=masses[shared], minlength=size) for masses in (a.low, b.high)]
    lower = np.array(rows, dtype=np.float64)
    lower[1] *= np.exp(np.minimum(LOSS_MAX, grid.width * np.arange(grid.first, grid.last + 1)))
    lower[:, lower[0] < LEAST_MASS] = 0.0
    crowd = 4 * int(np.bincount(places, minlength=1).max())  # atoms summed up in one bucket of either kind
    furthest = max(abs(grid.first), abs(grid.last)) * grid.width
    return Buckets(
        width=grid.width,
        count=count,
        first=grid.first,
        upper=upper,
        lower=lower,
        infinite=min(1.0, math.fsum(a.high[infinite]) + overflow) * (1 + ROUNDING),
        distinguishing=math.fsum(a.low[(b.high == 0)]) * (1 - ROUNDING),
        error=ROUNDING + (crowd + 4 * furthest) * UNIT,
        excess=excess,
    )


def _reached(losses: Floats, masses: Floats, count: int) -> Grid:
    """Return the grid of the losses without negligible tails."""
    if len(losses) == 0:
        return Grid.reaching(0.0, 0.0, count)
    order = np.argsort(losses, kind="stable")
    ascending, weights = losses[order], masses[order]
    last = len(losses) - 1
    bottom = min(last, int(np.searchsorted(np.cumsum(weights), NEGLIGIBLE)))
    top = last - min(last, int(np.searchsorted(np.cumsum(weights[::-1]), NEGLIGIBLE)))
    return Grid.reaching(float(ascending[bottom]), float(ascending[max(bottom, top)]), count, aligned=True)


def _split(losses: Floats, masses: Floats, grid: Grid) -> tuple[Floats, float]:
    """Return the masses of atoms, split between neighbours on the grid, and the mass above the grid.

    The upper neighbour gets (1 − e^−t)/(1 − e^−width) of an atom t above the lower: This keeps the masses of
    A and of B. Shares are rounded up, as if losses were a little larger, which is sound for an upper bound.
    """
    losses = losses + ROUNDING * (1 + np.abs(losses))  # up, by more than all rounding errors here
    places = np.floor(losses / grid.width)
    above = losses - places * grid.width
    shares = np.clip(np.expm1(-above) / math.expm1(-grid.width) * (1 + ROUNDING), 0.0, 1.0)
    shares[places < grid.first] = 0.0
    inside = places < grid.last
    at = np.maximum(places[inside], grid.first).astype(np.int64) - grid.first
    size = grid.last - grid.first + 1
    upper = np.bincount(at, weights=(masses * (1 - shares))[inside], minlength=size)
    upper = upper + np.bincount(at + 1, weights=(masses * shares)[inside], minlength=size)
    beyond = math.fsum(masses[~inside]) + math.fsum(upper[upper < LEAST_MASS])
    return np.where(upper < LEAST_MASS, 0.0, upper), beyond
