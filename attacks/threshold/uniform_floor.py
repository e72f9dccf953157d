"""A float uniform has a smallest step, so that an extreme value is more likely than δ: 2^−25 for 24 bits and a sign.

Inversion turns U = 0 into infinite noise, and who draws from [0, 1) draws 0. Whatever the threshold, a key that one
person alone holds is released with that probability at the least.
"""

from __future__ import annotations

from math import log

from subnormal.attacks.core.attack import Attack, named
from subnormal.attacks.core.constructor import Constructor
from subnormal.attacks.threshold.singleton import singleton
from subnormal.attacks.threshold.singleton_key import laplace
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

SOURCE = "after Mironov 2012: inversion in floats, at the least uniform"


def uniform_floor(epsilon: float = 1.0, delta: float = 1e-10) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack at the threshold that makes the claimed δ at most `delta`, and hardly less.

    T = 1 + ln(1/(2δ))/ε, from ½·e^(−ε(T−1)) = δ.

    epsilon: nats. Raises ValueError unless it is positive and finite, and unless delta is positive and below 2^−26.
    """
    require_positive("epsilon", epsilon)
    require_positive("delta", delta)
    if delta >= 2.0**-26:
        raise ValueError(f"delta must be below 2^-26, where a uniform of 24 bits cannot follow, got {delta}")
    description = "a threshold for a tiny δ: infinite noise from a uniform of 0 passes it, and comes once in 2^25 draws"
    name = named("uniform-floor", epsilon=(epsilon, 1.0), delta=(delta, 1e-10))
    parameters = laplace(epsilon, 1 - log(2 * delta) / epsilon)
    return singleton(name, parameters, ("threshold-naive-float32",), SOURCE, description)


CONSTRUCTORS = (Constructor("uniform-floor", uniform_floor),)
