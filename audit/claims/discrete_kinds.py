"""Claims about noise on an integer: discrete Gaussian noise, where x has a probability in proportion to e^(−x²/2σ²),
and samplers: of many draws of noise, those whose magnitude is `place`, or all others.

A conviction of draws is no proof: of sound noise, one answer in 10^10 says less than the bound, at most.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from hypothesis import strategies as st

from subnormal.audit.claims.composed import composed
from subnormal.audit.claims.kind import ALPHA, DELTA, STEPS, Bounds, Kind, decades, least_epsilon
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.privacy_buckets import Masses, fill_buckets
from subnormal.mechanisms.numerics.interval import Interval, divergence, exp, hull, interval, largest, log
from subnormal.mechanisms.privacy import Zcdp

REACH = 45  # standard deviations, beyond which all is less than 10^-400 of what 10^-300 is attained with
KEPT = 12  # standard deviations of one of several releases
LEAST, MOST = -1.3, 2  # powers of ten of σ: losses of one step up to 700 nats, and sums of at most 4,500 terms
DRAWS = 1 << 15  # of one answer
RARE = 1e-10  # the chance that an answer of sound noise lies below the bound


@dataclass(frozen=True, slots=True)
class _Noise:
    """exactly[x] and at_least[x] are P(Z = x) and P(Z ≥ x) for x = 0, 1, …"""

    sigma: float
    exactly: tuple[Interval, ...]
    at_least: tuple[Interval, ...]

    def tail(self, place: int) -> Interval:
        """Return P(Z ≥ place), for any place."""
        if place <= 0:
            return 1 - self.tail(1 - place)
        return self.at_least[place] if place < len(self.at_least) else hull(0, self.at_least[-1])

    def delta_at(self, epsilon: float) -> Interval:
        """Return δ(ε) of Z + 1 against Z: the losses (2x − 1)/2σ² of outcomes x grow with x.

        Source: Canonne, Kamath, Steinke 2020, Theorem 7.
        """
        first = interval(self.sigma) * self.sigma * epsilon + 0.5
        ends = {math.floor(min(end, len(self.at_least))) + 1 for end in first.floats()}  # the sum is largest from here
        return largest(*(self.tail(x - 1) - exp(epsilon) * self.tail(x) for x in ends))


@lru_cache(maxsize=64)
def _noise(sigma: float) -> _Noise:
    """Return the distribution. The ratio of two neighbouring terms falls by e^(−1/σ²) each time."""
    square = interval(sigma) * sigma
    fall = exp(-1 / square)
    terms, ratio = [interval(1)], exp(-1 / (2 * square))
    for _ in range(math.ceil(REACH * sigma) + 3):
        terms.append(terms[-1] * ratio)
        ratio = ratio * fall
    rest = hull(0, terms[-1] * ratio / (1 - ratio))
    sums = [rest]
    for term in reversed(terms):
        sums.append(sums[-1] + term)
    whole = 2 * sums[-1] - 1
    return _Noise(sigma, tuple(term / whole for term in terms), tuple(one / whole for one in reversed(sums)))


def _epsilon(sigma: float, steps: int, delta: float) -> Bounds:
    """Several steps are counted in buckets; from above they are also concentrated, with ρ = T/2σ².

    The sum of all noise is symmetric. So with a chance of 1/2 it is not negative, and the loss is ρ at least: δ(ε) is
    (1 − e^(ε − ρ))/2 at least.
    """
    noise = _noise(sigma)
    one = least_epsilon(noise.delta_at, delta)
    if steps == 1:
        return one
    low, up = composed(lambda count: [_release(noise, count)], steps, delta)
    rho = interval(steps) / (2 * interval(sigma) * sigma)
    share = 1 - 2 * interval(delta)
    usual = (rho + log(share)).floats()[0] if share.low > 0 else 0.0
    return max(one[0], low, usual), min(up, Zcdp(rho.floats()[1]).epsilon(delta))


def _release(noise: _Noise, count: int) -> Composition:
    """Return one release of 1 against one of 0: outcomes near both, and both tails, whose losses may be anything."""
    last = min(len(noise.exactly) - 2, math.ceil(KEPT * noise.sigma) + 1)
    own = [noise.exactly[abs(x - 1)].floats() for x in range(1 - last, last + 1)]
    tail = (0.0, noise.tail(last).floats()[1])
    low, high = (np.array([*(one[side] for one in own), tail[side], tail[side]]) for side in (0, 1))
    mirrored = np.array([*reversed(range(len(own))), len(own) + 1, len(own)])  # x to 1 − x
    return Composition(fill_buckets(Masses(low, high), Masses(low[mirrored], high[mirrored]), count))


def _accuracy(sigma: float, alpha: float) -> Bounds:
    """With m the first integer with P(|Z| ≥ m) ≤ α, every accuracy above m − 1 is enough."""
    noise = _noise(sigma)

    def first(side: int) -> int:
        beyond = (2 * noise.tail(m) if m else interval(1) for m in range(len(noise.at_least)))
        return next(m for m, chance in enumerate(beyond) if (chance.low, chance.high)[side] <= alpha)

    return max(0.0, first(0) - 1.0), float(first(1))


def _laplace_draws(scale: float, place: int, others: bool) -> Bounds:
    p = exp(-1 / interval(scale))
    return _fewest((1 - p) / (1 + p) * exp(-interval(place) / scale) * (2 if place else 1), others)


def _gaussian_draws(sigma: float, place: int, others: bool) -> Bounds:
    return _fewest(_noise(sigma).exactly[place] * (2 if place else 1), others)


def _fewest(share: Interval, others: bool) -> Bounds:
    """Return a number of draws that fewer than RARE answers of sound noise do not reach, and no upper bound.

    P(Bin(n, q) ≤ m) ≤ e^(−n·KL(m/n, q)) for m ≤ n·q (Hoeffding 1963, Theorem 1).
    """
    wanted = 1 - share if others else share
    if wanted.low <= 0:
        return 0.0, math.inf
    below_the_mean = range(math.floor(DRAWS * float(wanted.low)))
    return float(bisect_left(below_the_mean, True, key=lambda count: not _is_rare(count, wanted))), math.inf


def _is_rare(count: int, share: Interval) -> bool:
    """Return whether so few draws, or fewer, have a chance of at most RARE. Few: below the mean."""
    return bool((DRAWS * divergence(Fraction(count, DRAWS), share) + log(RARE)).low >= 0)


SIGMA = decades(LEAST, MOST, 1.0, 0.1, 100.0)
OF_DRAWS, PLACES = decades(-0.5, 1.5, 1.0, 3.0, 10.0), {"place": st.integers(0, 9), "others": st.booleans()}
DISCRETE_KINDS = (
    Kind("discrete-gaussian", "ε at δ", {"sigma": SIGMA, "steps": STEPS, "delta": DELTA}, _epsilon),
    Kind(
        "discrete-gaussian-accuracy", "accuracy at α", {"sigma": decades(LEAST, MOST, 1.0), "alpha": ALPHA}, _accuracy
    ),
    Kind("discrete-laplace-draws", "draws", {"scale": OF_DRAWS, **PLACES}, _laplace_draws),
    Kind("discrete-gaussian-draws", "draws", {"sigma": OF_DRAWS, **PLACES}, _gaussian_draws),
)
