"""Claims about noise that is added to a number of sensitivity 1: Gaussian and Laplace noise, thresholds, accuracy."""

from __future__ import annotations

import math

from subnormal.audit.claims.composed import composed, response_epsilon
from subnormal.audit.claims.kind import (
    ALPHA,
    DELTA,
    DELTA_OR_NONE,
    STEPS,
    WIDTH,
    Bounds,
    Kind,
    clipped,
    decades,
    least_epsilon,
)
from subnormal.mechanisms.composition import closed_forms
from subnormal.mechanisms.numerics.interval import (
    Interval,
    exp,
    hull,
    interval,
    log,
    log1p,
    mills_ratio,
    normal_density,
    normal_tail,
    sqrt,
)


def gaussian_delta_at(mu: Interval, epsilon: float) -> Interval:
    """Return δ(ε) of N(μ, 1) against N(0, 1): Φ(−a) − e^ε·Φ(−b), with a = ε/μ − μ/2 and b = ε/μ + μ/2.

    e^ε times the density at b is that at a, so e^ε·Φ(−b) is φ(a) times Mills' ratio at b: no number overflows.
    Source: Balle, Wang 2018, Theorem 8.
    """
    a = interval(epsilon) / mu - mu / 2
    return normal_tail(a) - normal_density(a) * mills_ratio(a + mu)


def gaussian_epsilon(mu: Interval, delta: float) -> Bounds:
    """Return the bounds of ε(δ) of N(μ, 1) against N(0, 1)."""
    return least_epsilon(lambda epsilon: gaussian_delta_at(mu, epsilon), delta)


def mu_of(sigma: float, steps: int) -> Interval:
    """Return μ = √steps/σ of so many releases together."""
    return sqrt(steps) / interval(sigma)


def _gaussian(sigma: float, steps: int, delta: float) -> Bounds:
    return gaussian_epsilon(mu_of(sigma, steps), delta)


def _gaussian_delta(sigma: float, steps: int, epsilon: float) -> Bounds:
    return clipped(gaussian_delta_at(mu_of(sigma, steps), epsilon))


def _gaussian_zcdp(sigma: float) -> Bounds:
    """ρ = 1/(2σ²) is attained by the divergence of every order, for discrete noise by that of every integer order.

    Source: Bun, Steinke 2016; Canonne, Kamath, Steinke 2020.
    """
    return clipped(1 / (2 * interval(sigma) * interval(sigma)))


def laplace_epsilon(scale: float, delta: Interval) -> Interval:
    """Return ε(δ) of one release: δ(ε) = 1 − e^((ε − 1/s)/2) up to ε = 1/s. Below 0 where δ is larger than δ(0).

    Source: Balle, Barthe, Gaboardi 2018 (the privacy profile of Laplace noise).
    """
    return 1 / interval(scale) + 2 * log1p(-delta)


def _laplace(scale: float, steps: int, delta: float) -> Bounds:
    pure = interval(steps) / scale
    if steps == 1 or delta == 0:
        return clipped(laplace_epsilon(scale, interval(delta)) if delta else pure)
    low = clipped(laplace_epsilon(scale, interval(delta)))[0]
    up = pure.floats()[1]
    # Every value of the noisy releases above 1: 2^−T of one world, e^(−T/s) of that of the other.
    share = interval(delta) / exp(-steps * log(2)) if steps < 1_000 else interval(1)
    if share.high < 1:
        low = max(low, (pure + log1p(-share)).floats()[0])
    if scale >= closed_forms.LEAST_SCALE:
        found = composed(lambda count: [closed_forms.laplace(scale, count=count)], steps, delta)
        low, up = max(low, found[0]), min(up, found[1])
    return max(0.0, low), up


def _discrete_laplace(scale: float, steps: int, delta: float) -> Bounds:
    """Integer noise has the losses ±1/s alone, as randomized response at ε = 1/s has.

    Source: Ghosh, Roughgarden, Sundararajan 2012.
    """
    return response_epsilon(1 / interval(scale), steps, delta)


def _threshold(scale: float, threshold: int) -> Bounds:
    """A count of 1 passes with P(Z ≥ t − 1) = p^(t−1)/(1 + p), p = e^(−1/s); without the record it is not there."""
    p = exp(-1 / interval(scale))
    return clipped(exp(-interval(threshold - 1) / scale) / (1 + p))


def _threshold_real(scale: float, threshold: float) -> Bounds:
    """A sum of at most 1 a record passes with the tail of Laplace noise beyond t − 1."""
    return clipped(exp(-(interval(threshold) - 1) / scale) / 2)


def _laplace_accuracy(scale: float, alpha: float) -> Bounds:
    """Noise is at least so large with a probability of at most α: the tail of the distribution."""
    return clipped(-interval(scale) * log(alpha))


def _gaussian_accuracy(sigma: float, alpha: float) -> Bounds:
    low, up = least_epsilon(lambda deviations: 2 * normal_tail(deviations), alpha)
    return (interval(sigma) * hull(low, up)).floats() if math.isfinite(up) else (low, up)


def _discrete_laplace_accuracy(scale: float, alpha: float) -> Bounds:
    """P(|Z| ≥ m) = 2p^m/(1 + p) for m ≥ 1. With m the first that is at most α, every a > m − 1 is enough."""
    p = exp(-1 / interval(scale))
    first = -interval(scale) * log(alpha * (1 + p) / 2)
    low, up = (math.ceil(end) for end in first.floats())
    return max(0.0, low - 1.0), max(0.0, float(up))


EPSILON = decades(-6, 6, 0.0, 1.0, 100.0, 700.0)
SCALE_STEPS = {"scale": WIDTH, "steps": STEPS, "delta": DELTA_OR_NONE}
SCALE, THRESHOLD = decades(-2, 4, 1.0), (0, 5, 1.0, 2.0, 10.0)
COUNT, SUM = ({"scale": SCALE, "threshold": decades(*THRESHOLD, whole=whole)} for whole in (True, False))
WIDE = decades(-3, 6, 1.0)
NOISE_KINDS = (
    Kind("gaussian", "ε at δ", {"sigma": WIDTH, "steps": STEPS, "delta": DELTA}, _gaussian, exact=True),
    Kind("gaussian-delta", "δ at ε", {"sigma": WIDTH, "steps": STEPS, "epsilon": EPSILON}, _gaussian_delta, exact=True),
    Kind("gaussian-zcdp", "ρ", {"sigma": WIDTH}, _gaussian_zcdp, exact=True),
    Kind("laplace", "ε at δ", SCALE_STEPS, _laplace),
    Kind("discrete-laplace", "ε at δ", SCALE_STEPS, _discrete_laplace),
    Kind("threshold", "δ", COUNT, _threshold, exact=True),
    Kind("threshold-real", "δ", SUM, _threshold_real, exact=True),
    Kind("laplace-accuracy", "accuracy at α", {"scale": WIDE, "alpha": ALPHA}, _laplace_accuracy, exact=True),
    Kind("gaussian-accuracy", "accuracy at α", {"sigma": WIDE, "alpha": ALPHA}, _gaussian_accuracy, exact=True),
    Kind("discrete-laplace-accuracy", "accuracy at α", {"scale": WIDE, "alpha": ALPHA}, _discrete_laplace_accuracy),
)
