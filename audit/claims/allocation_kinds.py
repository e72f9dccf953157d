"""Claims about random allocation: in each epoch a record takes part in one step, which is drawn uniformly.

It is also called balls and bins. The outcome of a step is N(b, σ²), with b = 1 where the record takes part and b = 0
elsewhere. It is the worst case: what a step says of a gradient of norm at most 1, which may depend on earlier outcomes,
is post-processing of this number.
An outcome Z of an epoch of t steps has the likelihood ratio (X_1 + … + X_t)/t, with X = e^(Z/σ − 1/(2σ²)). The X are
independent and have the mean 1 where the record is absent. So two sums are enough for certified bounds:

- *From above*, each value is split between its neighbours on a grid, such that its mean stays. The sum becomes larger
  in convex order, and so does δ(ε) at every ε, which is the mean of a convex function of it. Rounding errors of a split
  go upward for worlds in which the record is added, and downward for those in which it is removed.
- *From below*, values are grouped, which is post-processing; a group keeps its mass in both worlds.

Both are repeated after each addition, and their errors are of second order in the width of the grid.
Source: Feldman, Shenfeld 2025, "Privacy amplification by random allocation"; Chua et al. 2024, "Balls-and-Bins Sampling
for DP-SGD". The sums in convex order are derived here.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.claims.composed import composed
from subnormal.audit.claims.kind import DELTA, Bounds, Kind, decades
from subnormal.audit.claims.noise_kinds import gaussian_epsilon, mu_of
from subnormal.mechanisms.composition.closed_forms import TAIL, Direction, normal_masses
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.fft_convolution import UNIT, Floats
from subnormal.mechanisms.composition.privacy_buckets import NEGLIGIBLE, ROUNDING, Grid, Masses, fill_buckets

POINTS = 800  # of the grid of a sum
MARGIN = 2.0**-40  # by which a grid exceeds its sums: more than they are rounded
LEAST = 2.0**-500  # a mass: products of two are no subnormal numbers
FEWEST = 0.2  # σ, from which on the sums are followed

Indices = NDArray[np.int64]
Rounding = Literal["up", "down", "grouped"]


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """A sum of likelihood ratios of so many steps, in groups.

    values: of the groups, where they are split exact. masses: of the groups without the record. weights: their masses
    with it times the steps. error: of masses and weights, relative. lost: mass that is left out, in either world.
    """

    steps: int
    values: Floats
    masses: Floats
    weights: Floats
    error: float
    lost: float


def _one_step(sigma: float, rounding: Rounding) -> _Sum:
    """Return the likelihood ratio of one step, from cells of Z."""
    edges = np.linspace(-TAIL, TAIL + 1 / sigma, POINTS)
    without, with_it = normal_masses(edges), normal_masses(edges - 1 / sigma)
    lost = max(float(one.high[0] + one.high[-1]) for one in (without, with_it))
    low, high = (np.array([getattr(one, end)[1:-1] for one in (without, with_it)]) for end in ("low", "high"))
    masses, weights = (low + high) / 2
    # The edges of both worlds differ by their rounding, as a share of a cell.
    apart = 16 * UNIT * (TAIL + 2 / sigma) / float(edges[1] - edges[0])
    error = float(((high - low) / (high + low)).max()) + apart + 2 * UNIT
    if rounding == "grouped":
        return _kept(_Sum(1, weights / masses, masses, weights, error, lost))
    points = np.exp(edges / sigma - 0.5 / sigma / sigma)
    off = 3 * error + _off(sigma)
    means = weights / masses * (1 + off if rounding == "up" else 1 - off)
    shares = np.clip((means - points[:-1]) / np.diff(points), 0.0, 1.0)
    split = np.zeros(POINTS)
    split[:-1] += masses * (1 - shares)
    split[1:] += masses * shares
    return _kept(_Sum(1, points, split, split * points, error + 4 * UNIT, lost))


def _off(sigma: float) -> float:
    """Return by which share the values of a step may be off, by rounding."""
    return ROUNDING * (2 + 2 * TAIL / sigma + 4 / sigma / sigma)


def _kept(one: _Sum) -> _Sum:
    """Return a sum without groups of tiny masses, which are lost."""
    kept = (one.masses > LEAST) & (one.weights > LEAST)
    masses, weights = (part[~kept].sum() for part in (one.masses, one.weights / one.steps))
    lost = one.lost + float(max(masses, weights)) * (1 + one.error + ROUNDING)
    return _Sum(one.steps, one.values[kept], one.masses[kept], one.weights[kept], one.error, lost)


def _added(one: _Sum, other: _Sum, rounding: Rounding) -> _Sum:
    """Return the sum of two independent sums, on a grid of its own."""
    steps = one.steps + other.steps
    sums = np.add.outer(one.values, other.values).ravel()
    masses = np.multiply.outer(one.masses, other.masses).ravel()
    weights = np.multiply.outer(one.weights, other.masses) + np.multiply.outer(one.masses, other.weights)
    weights = weights.ravel()
    points = _points(sums, masses, weights / steps)
    error, lost = one.error + other.error + one.error * other.error, one.lost + other.lost
    if rounding == "grouped":
        places = np.searchsorted(points, sums)
        rows = _collected(places, masses, weights)
        error += (int(np.bincount(places).max()) + 8) * UNIT
        filled = rows[0] > 0
        masses, weights = rows[:, filled]
        return _kept(_Sum(steps, weights / masses, masses, weights, error, lost))
    sign = 1 if rounding == "up" else -1
    sums *= 1 + sign * 8 * UNIT  # more than all rounding of a share
    inside = (sums >= points[0]) & (sums < points[-1])
    outside = max(float(masses[~inside].sum()), float(weights[~inside].sum()) / steps)
    sums, masses = sums[inside], masses[inside]
    places = np.searchsorted(points, sums, side="right") - 1
    shares = (sums - points[places]) / np.diff(points)[places]
    shares = np.clip(shares, 0.0, 1.0)
    split = _collected(places, masses * (1 - shares))[0, :POINTS] + _collected(places + 1, masses * shares)[0, :POINTS]
    error += (2 * int(np.bincount(places).max()) + 8) * UNIT
    lost += outside * (1 + error + len(inside) * UNIT)
    return _kept(_Sum(steps, points, split, split * points, error + UNIT, lost))


def _collected(places: Indices, *rows: Floats) -> Floats:
    """Return the sums of the rows at each place, of shape (rows, POINTS + 1)."""
    return np.array([np.bincount(places, weights=row, minlength=POINTS + 1) for row in rows], dtype=np.float64)


def _points(sums: Floats, masses: Floats, others: Floats) -> Floats:
    """Return a grid with steps of one factor over all sums but those that are negligible in both worlds."""
    logs = np.log(sums)
    bottom, top = float(logs.min()), float(logs.max())
    width = max((top - bottom) / POINTS, 4 * UNIT)
    places = ((logs - bottom) / width).astype(np.int64)
    either = _collected(places, masses, others).max(axis=0)
    first = int(np.searchsorted(np.cumsum(either), NEGLIGIBLE))
    last = len(either) - int(np.searchsorted(np.cumsum(either[::-1]), NEGLIGIBLE))
    points = np.exp(np.linspace(bottom + first * width, bottom + last * width, POINTS))
    points[[0, -1]] *= 1 - MARGIN, 1 + MARGIN
    return points


@functools.lru_cache(maxsize=4)
def _epoch(sigma: float, steps: int, rounding: Rounding) -> _Sum:
    """Return the sum of so many steps, by doubling."""
    power, made = _one_step(sigma, rounding), None
    while True:
        if steps % 2:
            made = power if made is None else _added(made, power, rounding)
        steps //= 2
        if made is not None and not steps:
            return made
        power = _added(power, power, rounding)


def _worlds(one: _Sum, direction: Direction, off: float) -> tuple[Masses, Masses]:
    """Return the masses of an epoch in both worlds, and last what is lost."""
    made = []
    for row in (one.weights / one.steps, one.masses):
        near = Masses.near(row, one.error + off + ROUNDING)
        made.append(Masses(np.append(near.low, 0.0), np.append(near.high, one.lost)))
    return (made[0], made[1]) if direction == "in" else (made[1], made[0])


def _pair(sigma: float, steps: int, direction: Direction, count: int) -> Composition:
    above = _epoch(sigma, steps, "up" if direction == "in" else "down")
    up = fill_buckets(*_worlds(above, direction, _off(sigma)), count)
    grid = Grid(up.width, up.first, up.first + len(up.upper) - 1)
    low = fill_buckets(*_worlds(replace(_epoch(sigma, steps, "grouped"), lost=0.0), direction, 0.0), count, grid)
    return Composition(replace(up, lower=low.lower, distinguishing=0.0, error=max(up.error, low.error)))


def _random_allocation(sigma: float, steps: int, epochs: int, delta: float) -> Bounds:
    """Bounds of epochs of so many steps, in the larger of both directions.

    To reveal the steps of the record gives Gaussian noise, once an epoch, an upper bound.
    """
    low, up = gaussian_epsilon(mu_of(sigma, epochs), delta)
    if steps == 1:
        return low, up
    if sigma < FEWEST:
        return 0.0, up
    found = composed(lambda count: [_pair(sigma, steps, way, count) for way in ("in", "out")], epochs, delta)
    return found[0], min(up, found[1])


OF_ALLOCATION = {
    "sigma": decades(math.log10(FEWEST), 2, 0.5, 1.0),
    "steps": decades(0, 4, 1.0, 2.0, whole=True),
    "epochs": decades(0, 3, 1.0, whole=True),
    "delta": DELTA,
}
ALLOCATION_KINDS = (Kind("random-allocation-gaussian", "ε at δ", OF_ALLOCATION, _random_allocation),)
