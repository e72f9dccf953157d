"""Certified bounds on δ(ε) of the r-fold composition of a mechanism on a pair of worlds, by privacy buckets.

Buckets of factor f hold the mass of A's world whose likelihood ratio against B's lies around f^i; events that only A's
world has are stored separately, as is the mass beyond the last bucket (∞). The r-fold composition is a convolution
power, computed by repeated squaring. Where a convolution exceeds the number of buckets, the factor is squared, and the
buckets 2i − 1 and 2i become one.
Source: Sommer, Meiser, Mohammadi 2019, "Privacy Loss Classes"; Meiser, Mohammadi 2018, "Tight on Budget?".

The publication stores errors with each bucket. Here two constructions avoid them, to second order in the width in both
bounds:

- *Real error*, the excess of B's mass of a bucket over f^−i times A's. Here B's mass itself is stored. The sum of the
  runs' bucket indices is post-processing, so the convolution powers of both rows are a pair of worlds that is harder
  to distinguish, and its hockey-stick divergence is a lower bound. Indices need no rounding direction, and no shift is
  counted.
- *Virtual error*, for the upper bound. Here an atom between two buckets is split between both such that its masses in
  both worlds do not change (Doroshenko et al. 2022, "Connect the Dots"): a pair that is easier to distinguish, with no
  error.
- The ∞ bucket holds only the mass beyond the first grid. Later overflow is cut off and counted as an error, which
  costs less: see audit/composition/fft_convolution.py, which bounds every rounding after the first.

The width of [low, up]: the buckets contribute about (width/σ)²·log₂ r of δ, for a standard deviation σ of one run's
loss, because the factor is squared in every second squaring. Float rounding contributes about r·10^-12 of the moments
accountant's bound, for any δ.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.composition.fft_convolution import EXPONENT_MAX, UNIT, Floats
from subnormal.audit.composition.hockey_stick import at_some_run, conversion, log_moment, lower_bound, upper_bound
from subnormal.audit.composition.privacy_buckets import ROUNDING, Buckets, Grid, Masses, fill_buckets
from subnormal.audit.evidence.hockey_stick_bounds import directions
from subnormal.audit.statistics.binomial import clopper_pearson_all
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.privacy import require_nonnegative

COUNT = 10_000  # buckets
RUNS_MAX = 1 << 30
COUNTS_MAX = 1 << 53  # runs: a float holds every integer up to this one
WHOLE = 1e-9  # the largest distance from 1 of the sum of a vector of floats
TILTS = 8  # per octave: similar tilts share their convolutions
HALVINGS = 60  # of an interval of ε

Vector = Sequence[float | Fraction] | NDArray[np.float64]


def buckets(
    p: Vector | Law[Any], q: Vector | Law[Any], *, count: int = COUNT, factor: float | None = None
) -> Composition:
    """Return one run of a mechanism whose worlds A and B are two probability vectors over the same atoms, or two laws.

    Vectors are divided by their sum, which may differ from 1 by 10^-9, because the difference would grow with the runs.
    count: the largest number of buckets. factor: f of one run; None: the least for which the buckets reach all finite
    losses. δ is that of one direction, Σ(p − e^ε·q)₊.

    Raises ValueError if p and q are not of one kind, not over the same atoms, or do not sum up to 1.

    >>> four = buckets([0.6, 0.3, 0.1], [0.3, 0.5, 0.2], count=1_000, factor=1.01).compose(4)
    >>> low, up = four.delta(0.5)
    >>> round(low, 8), round(up, 8)
    (0.33720203, 0.33720203)
    """
    if isinstance(p, Law) and isinstance(q, Law):
        a, b = _of_laws(p, q)
    elif isinstance(p, Law) or isinstance(q, Law):
        raise ValueError("p and q must both be laws, or both vectors")
    elif len(p) != len(q):
        raise ValueError(f"p and q must be over the same atoms, got {len(p)} and {len(q)} masses")
    else:
        a, b = probabilities("p", p), probabilities("q", q)
    return Composition(fill_buckets(a, b, count, None if factor is None else Grid.of_factor(factor, count)))


def probabilities(name: str, values: Vector) -> Masses:
    """Return bounds on probabilities, divided by their sum. name: how an error names the vector.

    Raises ValueError where the vector holds no probabilities, or their sum is not 1.
    """
    floats = np.array([float(value) if -1 <= value <= 2 else math.nan for value in values])
    total = math.fsum(floats)
    if not len(floats) or not (np.isfinite(floats) & (floats >= 0)).all() or abs(total - 1) > WHOLE:
        raise ValueError(f"{name} must hold probabilities that sum up to 1, got {reprlib.repr(list(values))}")
    positive = np.array([value > 0 for value in values])
    made = Masses.near(floats / total, 8 * UNIT)  # each float, their sum, the quotient, and the product here
    return Masses(np.nextafter(made.low, 0.0), np.where(positive, np.nextafter(made.high, 2.0), 0.0))


def count_bounds(name: str, counts: Sequence[int], alpha: float) -> Masses:
    """Return Clopper-Pearson bounds on the probabilities of atoms with these counts, jointly at confidence 1 − alpha.

    The result has one atom more than counts, for outcomes that never occurred. name: how an error names the vector.
    Raises ValueError where the vector holds no counts, or their sum is 0 or above 2^53.
    """
    runs = sum(counts)
    if min(counts, default=0) < 0 or not 1 <= runs <= COUNTS_MAX:
        raise ValueError(
            f"{name} must hold counts of 0 or more, from 1 to 2^53 in all, got {reprlib.repr(list(counts))}"
        )
    tail = alpha / (2 * (len(counts) + 1))
    return Masses(*clopper_pearson_all(np.array([*counts, 0], dtype=np.int64), runs, tail))


def _of_laws(law_in: Law[Any], law_out: Law[Any]) -> tuple[Masses, Masses]:
    """Return the masses of groups of atoms with equal probabilities in both laws, rounded outwards to floats."""
    one = directions(law_in, law_out)[0].narrow()

    def masses(sides: tuple[NDArray[Any], NDArray[Any]], alone: tuple[Fraction, Fraction], rest: Fraction) -> Masses:
        low, high = (
            [Fraction(int(n * mass), one.denominator) for n, mass in zip(one.count, side, strict=True)]
            for side in sides
        )
        return Masses(_rounded([*low, alone[0], Fraction(0)], down=True), _rounded([*high, alone[1], rest], down=False))

    own = Fraction(one.alone_low, one.denominator), Fraction(one.alone_high, one.denominator)
    # On atoms that only A's law names, B has at most its rest. On atoms of no law, A has its rest, and B may have 0.
    a = masses((one.low, one.high), own, one.rest)
    return a, masses((one.other_low, one.other_high), (Fraction(0), one.other_rest), Fraction(1))


def _rounded(values: list[Fraction], *, down: bool) -> Floats:
    floats = np.array([float(value) for value in values])
    away = np.nextafter(floats, 0.0 if down else 2.0)
    return np.where(np.array([value == 0 for value in values]), 0.0, away)


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """Independent runs of a mechanism, all in A's world or all in B's, with certified bounds on their δ(ε)."""

    one: Buckets
    runs: int = 1

    def compose(self, runs: int) -> Composition:
        """Return `runs` times as many runs. Raises ValueError where runs is not an integer from 1 to 2^30 in all."""
        if not isinstance(runs, int) or not 1 <= self.runs * runs <= RUNS_MAX:
            raise ValueError(f"runs must be an integer from 1 to 2^30 in all, got {runs}")
        return replace(self, runs=self.runs * runs)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return (low, up): low ≤ δ(ε) = Σ(A − e^ε·B)₊ ≤ up over all events of the runs. ε is in nats."""
        require_nonnegative("epsilon", epsilon)
        tilt = _tilt(self, lambda tilt, moment: self.runs * moment - tilt * epsilon + conversion(tilt))
        return lower_bound(self.one, self.runs, tilt)(epsilon), upper_bound(self.one, self.runs, tilt)(epsilon)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return (low, up): low ≤ ε(δ) ≤ up for the least ε ≥ 0 with δ(ε) ≤ δ; ∞ if a loss of ∞ is more likely than δ.

        Raises ValueError if δ is not between 0 and 1.
        """
        if not 0 < delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, got {delta}")
        left = delta - at_some_run(self.one.infinite, self.runs)
        log_left = math.log(left if left > 0 else delta)
        tilt = _tilt(self, lambda tilt, moment: (self.runs * moment + conversion(tilt) - log_left) / tilt)
        lower, upper = lower_bound(self.one, self.runs, tilt), upper_bound(self.one, self.runs, tilt)
        reach = self.runs * float(np.abs(self.one.losses).max()) + 1.0
        low = boundary(lambda epsilon: lower(epsilon) > delta, reach)[0]
        if low == math.inf and at_some_run(self.one.distinguishing, self.runs) * (1 - ROUNDING) <= delta:
            low = reach  # a finite loss may lie beyond the grid, so only this is proved
        if upper(reach) > delta:
            return low, math.inf
        return low, boundary(lambda epsilon: upper(epsilon) > delta, reach)[1]


def boundary(above: Callable[[float], bool], reach: float) -> tuple[float, float]:
    """Return neighbours low ≤ high on [0, reach] with above(low) and not above(high); if none, (0, 0) or (∞, ∞)."""
    if not above(0.0):
        return 0.0, 0.0
    if above(reach):
        return math.inf, math.inf
    low, high = 0.0, reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return low, high


def _tilt(self: Composition, cost: Callable[[float, float], float]) -> float:
    """Return λ near the least cost(λ, log moment). Every λ is sound; this one gives tight bounds."""
    from scipy.optimize import minimize_scalar

    spread = max(1e-12, float(np.ptp(self.one.losses)))
    optimum = minimize_scalar(
        lambda log: cost(math.exp(log), log_moment(self.one, math.exp(log))),
        bounds=(math.log(1e-3 / (spread * self.runs)), math.log(EXPONENT_MAX / spread)),
        method="bounded",
        options={"xatol": 0.5 / TILTS},
    )
    return float(2.0 ** (round(TILTS * float(optimum.x) / math.log(2)) / TILTS))
