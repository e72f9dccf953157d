"""The statistics. release: what is done with a value and a scale of noise, `noise.draw` or `noise.law`."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from clinic import noise, sensitivity
from clinic.clipping import clip

WEIGHTS = (40, 90)  # kilograms: public bounds on a patient's weight
HEAVY = 80

Release = Callable[[Fraction | int, float], Any]


def patients(weights: list[float], epsilon: float, release: Release = noise.draw) -> Any:
    """Release the number of patients."""
    return release(len(weights), sensitivity.of_count() / epsilon)


def heavy_patients(weights: list[float], epsilon: float, release: Release = noise.draw) -> Any:
    """Release the number of patients of 80 kilograms or more."""
    return release(sum(weight >= HEAVY for weight in weights), sensitivity.of_count() / epsilon)


def total_weight(
    weights: list[float], epsilon: float, release: Release = noise.draw, bounds: tuple[int, int] = WEIGHTS
) -> Any:
    """Release the sum of the patients' weights, each of them within the bounds. Exact: fractions do not round."""
    total = sum((Fraction(clip(weight, *bounds)) for weight in weights), Fraction(0))
    return release(total, sensitivity.of_sum(*bounds) / epsilon)
