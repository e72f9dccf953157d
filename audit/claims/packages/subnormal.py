"""Subnormal's own conversions and bounds."""

from subnormal.mechanisms.composition import closed_forms
from subnormal.mechanisms.curves import Renyi
from subnormal.mechanisms.privacy import Zcdp

MOST = 1e6  # nats, of an ε that is looked for


def composed(form):
    """Return the function of a kind's parameters that returns the upper bound of a composition in buckets."""

    def epsilon(steps, delta, **rest):
        return max(one.compose(steps).epsilon(delta)[1] for one in form(**rest))

    return epsilon


def sampled_gaussian(sigma, sampling):
    return [closed_forms.subsampled_gaussian(sigma, sampling, way) for way in ("in", "out")]


def renyi(alpha, tau, delta):
    """The least ε on a fine ladder at which the curve keeps within delta. Each look at the curve takes 10 to 20 ms.

    Raises ValueError where there is none up to `MOST`.
    """
    claim = Renyi(alpha, tau)
    if claim.delta(0.0) <= delta:
        return 0.0
    low, high = 0.0, tau + 1.0
    while claim.delta(high) > delta:
        if high > MOST:
            raise ValueError(f"delta must be larger, as no epsilon keeps it, got {delta!r}")
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if claim.delta(middle) > delta else (low, middle)
    return high


ANSWERS = {
    ("buckets", "gaussian"): composed(lambda sigma: [closed_forms.gaussian(sigma)]),
    ("buckets", "laplace"): composed(lambda scale: [closed_forms.laplace(scale)]),
    ("buckets", "sampled-gaussian"): composed(sampled_gaussian),
    ("curves", "zcdp"): lambda rho, delta: Zcdp(rho).epsilon(delta),
    ("curves", "zcdp-delta"): lambda rho, epsilon: Zcdp(rho).delta(epsilon),
    ("curves", "renyi"): renyi,
}
