"""A key that one person alone holds is released: how often, against the δ that is claimed.

Source: Korolova, Kenthapadi, Mishra, Ntoulas 2009 ("Releasing Search Queries and Clicks Privately", WWW).
"""

from __future__ import annotations

from subnormal.attacks.core.attack import Attack, named
from subnormal.attacks.core.constructor import Constructor
from subnormal.attacks.threshold.singleton import singleton
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

SOURCE = "Korolova, Kenthapadi, Mishra, Ntoulas 2009: a query that one user made may be released with probability δ"
GRID, BEYOND = -4, 32  # steps of exact members, and how many scales above the threshold they saturate


def singleton_key(epsilon: float = 1.0, threshold: float = 20.0) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack on Laplace noise of scale 1/ε, a threshold given in scales, and a key of value 1.

    The release has the probability ½·e^(−(T−1)/scale) in real numbers: the claimed δ, exactly.

    epsilon: nats. Raises ValueError unless it and the threshold are positive and finite.
    """
    require_positive("epsilon", epsilon)
    require_positive("threshold", threshold)
    parameters = laplace(epsilon, 1 + (threshold - 1) / epsilon)
    description = (
        "one person alone holds a key: it is released more often than the claimed δ where noise has a least probability"
    )
    name = named("singleton-key", epsilon=(epsilon, 1.0), threshold=(threshold, 20.0))
    return singleton(name, parameters, ("threshold-naive-float32",), SOURCE, description)


def laplace(epsilon: float, threshold: float) -> ThresholdParameters:
    """Return parameters for floats with noise of scale 1/ε: a grid and a limit with which the exact law is small.

    The threshold is rounded up to the grid, which makes the claim only stricter on what is released.
    """
    exponent = GRID
    while 2.0**exponent * epsilon > 2.0**GRID:
        exponent -= 1
    while 2.0**exponent * epsilon <= 2.0 ** (GRID - 1):
        exponent += 1
    exponent = min(exponent, 0)
    unit = 2.0**exponent
    on_grid = -(-threshold // unit) * unit
    limit = on_grid + -(-BEYOND / epsilon // unit) * unit
    return ThresholdParameters("laplace", 1 / epsilon, on_grid, "float32", (1, 1.0, 1.0), exponent, limit)


CONSTRUCTORS = (Constructor("singleton-key", singleton_key),)
