"""Claims about noisy sums of Poisson samples: a record takes part in a step with probability `sampling`."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from subnormal.audit.claims.composed import composed
from subnormal.audit.claims.kind import DELTA, DELTA_OR_NONE, STEPS, Bounds, Kind, clipped, decades, least_epsilon
from subnormal.audit.claims.noise_kinds import gaussian_delta_at, gaussian_epsilon, laplace_epsilon, mu_of
from subnormal.mechanisms.composition import closed_forms
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.privacy_buckets import ROUNDING, Masses, fill_buckets
from subnormal.mechanisms.numerics.interval import (
    Interval,
    exp,
    expm1,
    hull,
    interval,
    largest,
    log,
    log1p,
    log_factorial,
    normal_tail,
)

CELLS = 400  # of a divergence that has no closed form
CELL = 1 / 4  # standard deviations, the widest
REACH = 10  # standard deviations of the integrand's mass on either side


def gaussian(sigma: float, sampling: float, steps: int, delta: float) -> Bounds:
    """Bounds of steps of DP-SGD, Gaussian noise on the sum of a Poisson sample, in the larger of both directions.

    Of one step, δ(ε) = q·δ₁(ln(1 + (e^ε − 1)/q)) with δ₁ of the noise without sampling: exact, and a lower bound for
    more steps. Dropping the record at random is post-processing, so noise without sampling is an upper bound.
    Source: Abadi et al. 2016; Zhu, Dong, Wang 2022.
    """
    mu = mu_of(sigma, 1)
    if sampling == 0:
        return 0.0, 0.0
    if sampling == 1:
        return gaussian_epsilon(mu_of(sigma, steps), delta)

    def delta_at(epsilon: float) -> Interval:
        # ln(1 + (e^ε − 1)/q) = ε − ln q + ln(1 − (1 − q)·e^−ε)
        rest = log1p(-(1 - interval(sampling)) * exp(-interval(epsilon)))
        return sampling * _delta_within(mu, interval(epsilon) - log(sampling) + rest)

    one = least_epsilon(delta_at, delta)
    if steps == 1:
        return one
    low = max(one[0], _some_step_far_out(sigma, sampling, steps, delta))
    up = gaussian_epsilon(mu_of(sigma, steps), delta)[1]
    if sigma >= closed_forms.LEAST_SCALE:
        found = composed(
            lambda count: [
                closed_forms.subsampled_gaussian(sigma, sampling, way, count=count) for way in ("in", "out")
            ],
            steps,
            delta,
        )
        low, up = max(low, found[0]), min(up, found[1])
    return low, up


def _delta_within(mu: Interval, epsilon: Interval) -> Interval:
    """Return δ at an ε that is itself known within bounds."""
    low, up = epsilon.floats()
    if math.isinf(up):
        return hull(0, 1)
    return hull(gaussian_delta_at(mu, up), gaussian_delta_at(mu, max(0.0, low)))


def _some_step_far_out(sigma: float, sampling: float, steps: int, delta: float) -> float:
    """Return what the event proves that some step lies beyond a place, for the best of a few places."""
    best = 0.0
    for place in (0.5, *(1 + deviations * sigma for deviations in (-4, -2, -1, 0, 1, 2))):
        beyond = normal_tail(interval(place) / sigma)
        shifted = normal_tail((interval(place) - 1) / sigma)
        within = (1 - interval(sampling)) * beyond + sampling * shifted
        if within.high >= 1 or beyond.low <= 0:
            continue
        own = -expm1(steps * log1p(-within))
        other = -expm1(steps * log1p(-beyond))
        if own.low > delta and other.high > 0:
            best = max(best, log((own - delta) / Interval(other.high, other.high)).floats()[0])
    return best


def _sampled_loss(loss: Interval, sampling: float) -> Interval:
    """Return ln(1 + q·(e^L − 1)), the largest loss of the sample of what has the largest loss L ≥ 0."""
    return loss + log(sampling + (1 - interval(sampling)) * exp(-loss))


def laplace(scale: float, sampling: float, steps: int, delta: float) -> Bounds:
    """As for Gaussian noise; the loss of a step is at most ln(1 + q·(e^(1/s) − 1)), which is attained.

    Of one step, ε(δ) is so much for the ε at δ/q of the noise without sampling. Source: Balle, Barthe, Gaboardi 2018.
    """
    if sampling == 0:
        return 0.0, 0.0
    total = (steps * _sampled_loss(1 / interval(scale), sampling)).floats()
    if delta == 0:
        return total
    one = 0.0, 0.0
    if sampling > delta:
        inner = laplace_epsilon(scale, interval(delta) / sampling)
        one = clipped(_sampled_loss(inner, sampling)) if inner.high > 0 else one
    if steps == 1:
        return one
    low, up = one[0], total[1]
    if scale >= closed_forms.LEAST_SCALE:
        low = max(low, composed(partial(_sampled_pair, scale, sampling), steps, delta)[0])
        up = min(up, composed(lambda count: [closed_forms.laplace(scale, count=count)], steps, delta)[1])
    return low, up


def _sampled_pair(scale: float, sampling: float, count: int) -> list[Composition]:
    return [_sampled(closed_forms.laplace(scale, count=count), sampling)]


def _sampled(one: Composition, sampling: float) -> Composition:
    """Return a pair that is harder to tell apart than the sampled step: the sample of a pair that is harder."""
    buckets = one.one
    losses = buckets.losses
    near = Masses.near(np.array([buckets.lower[0], buckets.lower[1] * np.exp(-losses)]), buckets.error + ROUNDING)
    (a_low, b_low), (a_high, b_high) = near.low, near.high
    low = Masses.near((1 - sampling) * b_low + sampling * a_low).low
    high = Masses.near((1 - sampling) * b_high + sampling * a_high).high
    return Composition(fill_buckets(Masses(low, high), Masses(b_low, b_high), buckets.count))


def _moment(sigma: float, sampling: float, order: int) -> Interval:
    """Return ln E[(P/Q)^n] over Q = N(0, σ²), of an integer order n: ln Σ C(n, k)·(1 − q)^(n−k)·q^k·e^(k(k−1)/2σ²)."""
    keep, take = log1p(-interval(sampling)), log(sampling)
    spread = 2 * interval(sigma) * interval(sigma)
    terms = []
    for k in range(order + 1):
        ways = log_factorial(order) - log_factorial(k) - log_factorial(order - k)
        terms.append(ways + (order - k) * keep + k * take + k * (k - 1) / spread)
    top = largest(*terms)
    peak = Interval(top.low, top.low)  # any number serves
    total = interval(0)
    for term in terms:
        total = total + exp(term - peak)
    return peak + log(total)


def _renyi(sigma: float, sampling: float, alpha: float) -> Bounds:
    """Bounds on the divergence of the sampled step from the step without the record, which is the larger direction.

    (α − 1)·D is convex in α and known at integers, so chords bound it from above, and from below beyond their ends.
    Between them cells bound it from below: counting outcomes by cell is post-processing.
    Source: Mironov, Talwar, Zhang 2019, "Rényi differential privacy of the sampled Gaussian mechanism".
    """
    if sampling == 0:
        return 0.0, 0.0
    order = interval(alpha)
    if sampling == 1:
        low, up = (order / (2 * interval(sigma) * interval(sigma))).floats()
        return low, up
    n = math.floor(alpha)
    at = {k: interval(0) if k < 2 else _moment(sigma, sampling, k) for k in range(max(1, n - 1), n + 3)}
    if n == alpha:
        return (at[n] / (order - 1)).floats()
    share = order - n
    chord = (1 - share) * at[n] + share * at[n + 1]
    below = at[n + 1] - (n + 1 - order) * (at[n + 2] - at[n + 1])
    if n >= 2:
        below = largest(below, at[n] + share * (at[n] - at[n - 1]))
    low = max(0.0, (below / (order - 1)).floats()[0], _in_cells(sigma, sampling, alpha))
    return low, (chord / (order - 1)).floats()[1]


def _in_cells(sigma: float, sampling: float, order: float) -> float:
    """Return a lower bound on the divergence, from the masses of cells; 0 where they would be too many."""
    first, last = -REACH, order / sigma + REACH
    if (last - first) / CELLS > CELL:
        return 0.0
    edges = np.linspace(first, last, CELLS + 1).tolist()
    above = [normal_tail(edge) for edge in edges]
    shifted = [normal_tail(interval(edge) - 1 / interval(sigma)) for edge in edges]
    total = interval(0)
    for i in range(-1, CELLS + 1):  # with both tails
        own, other = (
            (tail[i] if i >= 0 else interval(1)) - (tail[i + 1] if i < CELLS else interval(0))
            for tail in (above, shifted)
        )
        mixed = (1 - interval(sampling)) * own + sampling * other
        if own.low > 0 and mixed.low > 0:
            total = total + exp(interval(order) * log(mixed) - (interval(order) - 1) * log(own))
    return max(0.0, (log(total) / (interval(order) - 1)).floats()[0]) if total.low > 0 else 0.0


SAMPLING = decades(-5, 0, 0.0, 1.0, 0.01, 0.5)
SIGMA, SCALE = decades(-3, 6, 1e-3, 0.5, 1.0, 1e6) | decades(-1, 1), decades(-2, 4, 1.0)
ORDER = decades(0.01, 2, 1.1, 1.5, 2.0, 2.5) | decades(-3, 0).map(lambda excess: 1 + excess)
OF_GAUSSIAN = {"sigma": SIGMA, "sampling": SAMPLING, "steps": STEPS, "delta": DELTA}
OF_LAPLACE = {"scale": SCALE, "sampling": SAMPLING, "steps": STEPS, "delta": DELTA_OR_NONE}
OF_RENYI = {"sigma": decades(-1, 3, 1.0), "sampling": SAMPLING, "alpha": ORDER}
SAMPLING_KINDS = (
    Kind("sampled-gaussian", "ε at δ", OF_GAUSSIAN, gaussian),
    Kind("sampled-laplace", "ε at δ", OF_LAPLACE, laplace),
    Kind("sampled-gaussian-renyi", "Rényi divergence", OF_RENYI, _renyi),
)
