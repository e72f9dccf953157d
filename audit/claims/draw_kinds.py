"""Claims about samplers: of many draws of noise, those whose magnitude is `place`, or all others.

A conviction here is no proof: of sound noise, one answer in 10^10 says less than the bound, at most.
"""

from __future__ import annotations

import math

from hypothesis import strategies as st

from subnormal.audit.claims.discrete_gaussian_kinds import chance
from subnormal.audit.claims.kind import Bounds, Kind, decades
from subnormal.mechanisms.numerics.interval import Interval, exp, interval, log

DRAWS = 1 << 15  # of one answer
RARE = 1e-10  # the chance that an answer of sound noise lies below the bound


def _laplace(scale: float, place: int, others: bool) -> Bounds:
    p = exp(-1 / interval(scale))
    return _fewest((1 - p) / (1 + p) * exp(-interval(place) / scale) * (2 if place else 1), others)


def _gaussian(sigma: float, place: int, others: bool) -> Bounds:
    return _fewest(chance(sigma, place) * (2 if place else 1), others)


def _fewest(share: Interval, others: bool) -> Bounds:
    """Return a number of draws that fewer than RARE answers of sound noise do not reach, and no upper bound.

    P(Bin(n, q) ≤ m) ≤ e^(−n·KL(m/n, q)) for m ≤ n·q (Hoeffding 1963, Theorem 1).
    """
    wanted = 1 - share if others else share
    if wanted.low <= 0:
        return 0.0, math.inf
    missed, least = -1, math.floor(DRAWS * float(wanted.low))
    while least - missed > 1:
        middle = (missed + least) // 2
        missed, least = (middle, least) if _is_rare(middle, wanted) else (missed, middle)
    return missed + 1.0, math.inf


def _is_rare(count: int, share: Interval) -> bool:
    """Return whether so few draws, or fewer, have a chance of at most RARE. Few: below the mean."""
    kept = interval(count) / DRAWS
    lost = 1 - kept
    divergence = lost * (log(lost) - log(1 - share))
    if count:
        divergence = divergence + kept * (log(kept) - log(share))
    return bool((DRAWS * divergence + log(RARE)).low >= 0)


WIDTH, PLACES = decades(-0.5, 1.5, 1.0, 3.0, 10.0), {"place": st.integers(0, 9), "others": st.booleans()}
DRAW_KINDS = (
    Kind("discrete-laplace-draws", "draws", {"scale": WIDTH, **PLACES}, _laplace),
    Kind("discrete-gaussian-draws", "draws", {"sigma": WIDTH, **PLACES}, _gaussian),
)
