"""A value at exactly T is released, so δ must count it (≥, not >). For integers the factor is e^(1/scale).

OpenDP 0.16 releases values of at least T but counts P(noise > T − Δ_∞): its issue 2922, open and public.
"""

from __future__ import annotations

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.threshold.rounding_before_threshold import integers
from subnormal.attacks.threshold.singleton import singleton
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

SOURCE = "TedTed 2026 (github.com/opendp/opendp/issues/2922): the mass at the threshold is released and not counted"
SAMPLED = 2  # largest threshold at which δ is so much too small that runs of a library show it


@constructor("boundary", ({}, {"threshold": 2}))
def boundary(name: str, epsilon: float = 1.0, threshold: int = 10) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack on integers with Laplace noise of scale 1/ε: a key of value 1 is released at noise ≥ T − 1.

    Its probability is B^(T−1)/(1+B), B = e^−ε. A mechanism that counts noise > T − 1 claims B^T/(1+B).

    epsilon: nats. threshold: T, in steps of the integers. Raises ValueError unless ε is positive and finite, and T at
    least 1.
    """
    require_positive("epsilon", epsilon)
    if threshold < 1:
        raise ValueError(f"threshold must be at least 1, got {threshold}")
    description = "one person alone holds a key: a value equal to the threshold is released, but δ does not count it"
    broken = ("threshold-naive-open-tail", *(("opendp-threshold",) if threshold <= SAMPLED else ()))
    return singleton(name, integers(epsilon, threshold), broken, SOURCE, description)
