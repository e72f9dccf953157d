"""A key that one person alone holds is released with a probability above the claimed δ.

Source: Korolova, Kenthapadi, Mishra, Ntoulas 2009 ("Releasing Search Queries and Clicks Privately", WWW).
"""

from __future__ import annotations

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.threshold.singleton import singleton
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

SOURCE = "Korolova, Kenthapadi, Mishra, Ntoulas 2009: a query that one user made may be released with probability δ"
GRID, BEYOND = -4, 32  # steps of exact members, and how many scales above the threshold they saturate


@constructor("singleton-key")
def singleton_key(
    name: str, epsilon: float = 1.0, threshold: float = 20.0
) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack on Laplace noise of scale 1/ε, a threshold in units of the scale, and a key of value 1.

    In real numbers the probability of the release is ½·e^(−(T−1)/scale), exactly the claimed δ.

    epsilon: nats. Raises ValueError unless it and the threshold are positive and finite.
    """
    require_positive("epsilon", epsilon)
    require_positive("threshold", threshold)
    parameters = laplace(epsilon, 1 + (threshold - 1) / epsilon)
    description = (
        "one person alone holds a key: float noise has a least probability, so the key is released more often than δ"
    )
    return singleton(name, parameters, ("threshold-naive-float32",), SOURCE, description)


def laplace(epsilon: float, threshold: float) -> ThresholdParameters:
    """Return parameters for floats with noise of scale 1/ε: a grid and a limit that make the exact law small.

    The threshold is rounded up to the grid. This only lowers the probability of a release.
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
