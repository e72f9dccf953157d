"""≥ against >: a release at exactly T must count towards δ. With integers the difference is a factor of e^(1/scale).

OpenDP 0.16 keeps what is at least T and counts P(noise > T − Δ_∞): its issue 2922, open and public.
"""

from __future__ import annotations

from subnormal.attacks.core.attack import Attack, named
from subnormal.attacks.core.constructor import Constructor
from subnormal.attacks.threshold.rounding_before_threshold import integers
from subnormal.attacks.threshold.singleton import singleton
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

SOURCE = "TedTed 2026 (github.com/opendp/opendp/issues/2922): the mass at the threshold is released and not counted"
SAMPLED = 2  # the threshold up to which so much is missing that a sample of a library tells


def boundary(epsilon: float = 1.0, threshold: int = 10) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack on integers with Laplace noise of scale 1/ε: a key of value 1 is released at noise ≥ T − 1.

    That has the probability B^(T−1)/(1+B), B = e^−ε. A mechanism that counts noise > T − 1 claims B^T/(1+B).

    epsilon: nats. threshold: T, in steps of the integers. Raises ValueError unless ε is positive and finite, and T at
    least 1.
    """
    require_positive("epsilon", epsilon)
    if threshold < 1:
        raise ValueError(f"threshold must be at least 1, got {threshold}")
    description = "what is exactly the threshold is released, and the claimed δ does not count it"
    name = named("boundary", epsilon=(epsilon, 1.0), threshold=(threshold, 10))
    broken = ("threshold-naive-open-tail", *(("opendp-threshold",) if threshold <= SAMPLED else ()))
    return singleton(name, integers(epsilon, threshold), broken, SOURCE, description)


CONSTRUCTORS = (Constructor("boundary", boundary, ({}, {"threshold": 2})),)
