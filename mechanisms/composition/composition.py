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
  costs less: see mechanisms/composition/fft_convolution.py, which bounds every rounding after the first.

The width of [low, up]: the buckets contribute about (width/σ)²·log₂ r of δ, for a standard deviation σ of one run's
loss, because the factor is squared in every second squaring. Float rounding contributes about r·10^-12 of the moments
accountant's bound, for any δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from subnormal.mechanisms.composition.fft_convolution import EXPONENT_MAX
from subnormal.mechanisms.composition.hockey_stick import at_some_run, conversion, log_moment, lower_bound, upper_bound
from subnormal.mechanisms.composition.privacy_buckets import ROUNDING, Buckets
from subnormal.mechanisms.privacy import require_nonnegative

COUNT = 10_000  # buckets
RUNS_MAX = 1 << 30
TILTS = 8  # per octave: similar tilts share their convolutions
HALVINGS = 60  # of an interval of ε


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
        tilt, reach = self._tilt_and_reach(delta)
        lower = lower_bound(self.one, self.runs, tilt)
        low = boundary(lambda epsilon: lower(epsilon) > delta, reach)[0]
        if low == math.inf and at_some_run(self.one.distinguishing, self.runs) * (1 - ROUNDING) <= delta:
            low = reach  # a finite loss may lie beyond the grid, so only this is proved
        return low, self.epsilon_up(delta)

    def epsilon_up(self, delta: float) -> float:
        """Return up of `epsilon` alone, in half the time. Raises as it does."""
        tilt, reach = self._tilt_and_reach(delta)
        upper = upper_bound(self.one, self.runs, tilt)
        return boundary(lambda epsilon: upper(epsilon) > delta, reach)[1]

    def _tilt_and_reach(self, delta: float) -> tuple[float, float]:
        if not 0 < delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, got {delta}")
        left = delta - at_some_run(self.one.infinite, self.runs)
        log_left = math.log(left if left > 0 else delta)
        tilt = _tilt(self, lambda tilt, moment: (self.runs * moment + conversion(tilt) - log_left) / tilt)
        return tilt, self.runs * float(np.abs(self.one.losses).max()) + 1.0


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
    """Return the λ of least cost(λ, log moment) among 2^(k/TILTS). Every λ is sound; this one gives tight bounds."""

    def cost_at(place: int) -> float:
        tilt = 2.0 ** (place / TILTS)
        return cost(tilt, log_moment(self.one, tilt))

    spread = max(1e-12, float(np.ptp(self.one.losses)))
    ends = 1e-3 / (spread * self.runs), EXPONENT_MAX / spread
    low, high = (round(TILTS * math.log2(end)) for end in ends)
    while low < high:  # the cost falls, then rises
        middle = (low + high) // 2
        low, high = (middle + 1, high) if cost_at(middle + 1) < cost_at(middle) else (low, middle)
    return float(2.0 ** (low / TILTS))
