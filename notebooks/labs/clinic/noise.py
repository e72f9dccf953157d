"""Laplace noise on integers, exact. `law` is the distribution of what `draw` returns."""

from fractions import Fraction
from typing import Any

from subnormal import system_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.laplace import exact

LOWER, UPPER = -200, 600  # public bounds on what is released


def draw(value: Fraction | int, scale: Fraction | float) -> int:
    """Return value + noise, as an integer between the bounds."""
    return int(exact.sample(value, scale, system_bits(), 1, lower=LOWER, upper=UPPER)[0])


def law(value: Fraction | int, scale: Fraction | float) -> Law[Any]:
    """Return the exact law of `draw`."""
    return exact.law(value, scale, lower=LOWER, upper=UPPER)
