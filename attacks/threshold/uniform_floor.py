"""A float uniform has a least step, so extreme noise has a probability of at least 2^−25 (24 bits and a sign).

Inversion turns U = 0 into infinite noise, and a sampler that draws from [0, 1) draws 0. A key that one person alone
holds is then released with at least that probability, at any threshold.
"""

from __future__ import annotations

from math import log

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.threshold.singleton import singleton
from subnormal.attacks.threshold.singleton_key import laplace
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

SOURCE = "after Mironov 2012: inversion in floats, at least uniform"


@constructor("uniform-floor")
def uniform_floor(name: str, epsilon: float = 1.0, delta: float = 1e-10) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack at least threshold whose claimed δ is at most `delta`.

    T = 1 + ln(1/(2δ))/ε, from ½·e^(−ε(T−1)) = δ.

    epsilon: nats. Raises ValueError unless it is positive and finite, and unless delta is positive and below 2^−26.
    """
    require_positive("epsilon", epsilon)
    require_positive("delta", delta)
    if delta >= 2.0**-26:
        raise ValueError(f"delta must be below 2^-26, where a uniform of 24 bits cannot follow, got {delta}")
    description = "one person alone holds a key, δ is tiny: a uniform of 0 gives infinite noise, once in 2^25 draws"
    parameters = laplace(epsilon, 1 - log(2 * delta) / epsilon)
    return singleton(name, parameters, ("threshold-naive-float32",), SOURCE, description)
