"""Rounding before the threshold: T − ½ is rounded to T and released, so δ is e^(1/(2·scale)) times the claim."""

from __future__ import annotations

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.threshold.singleton import singleton
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

SOURCE = "Subnormal: P(noise ≥ T − ½ − Δ_∞) = e^(1/(2·scale))·P(noise ≥ T − Δ_∞), by ½·e^(−t/scale)"


@constructor("rounding-before-threshold")
def rounding_before_threshold(
    name: str, epsilon: float = 1.0, threshold: int = 5
) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack on integers with Laplace noise of scale 1/ε: real noise, rounded before the comparison.

    epsilon: nats. threshold: T, in steps of the integers. Raises ValueError unless ε is positive and finite.
    """
    require_positive("epsilon", epsilon)
    description = "one person alone holds a key: noise is rounded first, so half a step below the threshold passes"
    return singleton(name, integers(epsilon, threshold), ("threshold-naive-rounded-first",), SOURCE, description)


def integers(epsilon: float, threshold: int) -> ThresholdParameters:
    """Return parameters for integers with noise of scale 1/ε, and a limit that makes the exact law small."""
    return ThresholdParameters(
        "laplace", 1 / epsilon, threshold, "int64", limit=threshold + 64 * max(1, int(1 / epsilon))
    )
