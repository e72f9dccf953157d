"""Claims about noisy sums of samples without replacement: each step draws so many records, and a record is replaced.

Values lie between −1 and 1, so that a replaced record moves the sum of a sample that holds it by 2 at most. Let it
be 1 or −1, and all others −1. Where the sample misses it, both sums are equal; so of one step the pair is that of a
Poisson sample with noise of half the deviation, which is the worst at every ε ≥ 0 (Balle, Barthe, Gaboardi 2018,
Theorem 9). Of several steps these two datasets prove the lower bound. They need not be the worst ones there.
"""

from __future__ import annotations

import math

import numpy as np

from subnormal.audit.claims import sampling_kinds
from subnormal.audit.claims.composed import composed
from subnormal.audit.claims.kind import DELTA, DELTA_OR_NONE, STEPS, Bounds, Kind, decades
from subnormal.audit.claims.noise_kinds import gaussian_epsilon, mu_of
from subnormal.mechanisms.composition import closed_forms
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.privacy_buckets import ROUNDING, Grid, Masses, fill_buckets


def _gaussian(sigma: float, sample: int, left_out: int, steps: int, delta: float) -> Bounds:
    """Noise without sampling is an upper bound, and so are steps of what is the worst at each ε of one step."""
    least, most = _shares(sample, left_out)
    low = sampling_kinds.gaussian(sigma / 2, least, steps, delta)[0]
    if steps == 1 or most in (0, 1):
        return low, sampling_kinds.gaussian(sigma / 2, most, steps, delta)[1]
    up = gaussian_epsilon(mu_of(sigma / 2, steps), delta)[1]
    if sigma / 2 >= closed_forms.LEAST_SCALE:
        up = min(up, composed(lambda count: [_worst_at_each_epsilon(sigma / 2, most, count)], steps, delta)[1])
    return low, up


def _laplace(scale: float, sample: int, left_out: int, steps: int, delta: float) -> Bounds:
    """As for Gaussian noise; the upper bounds of Poisson samples use the largest loss and noise without sampling."""
    least, most = _shares(sample, left_out)
    low = sampling_kinds.laplace(scale / 2, least, steps, delta)[0]
    return low, sampling_kinds.laplace(scale / 2, most, steps, delta)[1]


def _shares(sample: int, left_out: int) -> tuple[float, float]:
    """Return floats around the share of the records that is drawn.

    A smaller share is post-processing of a larger one: with some probability the noise is drawn again, without the
    record.
    """
    if not sample or not left_out:
        return (1.0, 1.0) if sample else (0.0, 0.0)
    share = sample / (sample + left_out)
    return math.nextafter(share, 0.0), math.nextafter(share, 1.0)


def _worst_at_each_epsilon(sigma: float, share: float, count: int) -> Composition:
    """Return a step of a pair whose δ(ε), in both directions, is the largest one of any two neighbours at every ε ≥ 0.

    Above the loss 0 it has the masses (A, B) of the sampled step, mirrored below it, and the rest at the loss 0.
    A and B together weigh at most 1 above 0, because B has half at most there: outcomes at least halfway.
    A pair with the largest δ(ε) of one step at every ε, negative ones too, has it for any number of steps.
    Source: Zhu, Dong, Wang 2022, on adaptive composition of dominating pairs.
    """
    furthest = closed_forms.TAIL + 1 / sigma
    top = closed_forms.sampled_loss(furthest, sigma, share)
    grid = Grid.reaching(-top, top, count)
    losses = grid.width * np.arange(0, grid.last + 1)
    edges = np.clip(sigma * np.log1p(np.expm1(losses) / share) + 0.5 / sigma, 0.0, furthest)
    own, other = (Masses(one.low[1:], one.high[1:]) for one in closed_forms.sampled_masses(edges, sigma, share))
    # More mass at the loss 0, in both worlds alike, makes a pair that is easier to tell apart.
    rest = [max(0.0, 1 - math.fsum(own.low) - math.fsum(other.low)) * (1 + ROUNDING)]
    one = Masses(np.concatenate([own.low, other.low, rest]), np.concatenate([own.high, other.high, rest]))
    mirrored = Masses(np.concatenate([other.low, own.low, rest]), np.concatenate([other.high, own.high, rest]))
    excess = closed_forms.sampled_excess(sigma, share)
    return Composition(fill_buckets(one, mirrored, count, grid, excess=excess))


SIGMA = decades(-3, 6, 1.0, 1e-3, 1e6) | decades(-1, 1)
SAMPLED = {
    "sample": decades(0, 4, 1.0, 0.0, whole=True),
    "left_out": decades(0, 7, 1.0, 0.0, 1e9, whole=True),
    "steps": STEPS,
}
OF_LAPLACE = {"scale": decades(-2, 4, 1.0), **SAMPLED, "delta": DELTA_OR_NONE}
FIXED_SAMPLE_KINDS = (
    Kind("fixed-sample-gaussian", "ε at δ", {"sigma": SIGMA, **SAMPLED, "delta": DELTA}, _gaussian),
    Kind("fixed-sample-laplace", "ε at δ", OF_LAPLACE, _laplace),
)
