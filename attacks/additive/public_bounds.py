"""Public bounds and grids for exact members under additive attacks. Naive members ignore them."""

from __future__ import annotations

from math import ceil, log2

from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.privacy import require_positive

POINTS = 512  # steps of the grid between the bounds: exact laws stay small, and more steps do not help an attack
FINEST = 4  # the grid has 2^4 steps in a scale, and at least one in a unit


def laplace_parameters(epsilon: float) -> LaplaceParameters:
    """Return parameters of sensitivity 1, bounds around 0, and a grid that contains the sensitivity.

    >>> parameters = laplace_parameters(0.1)
    >>> parameters.grid, parameters.lower, parameters.upper
    (0, -256.0, 256.0)
    """
    require_positive("epsilon", epsilon)
    grid = min(0, ceil(-log2(epsilon)) - FINEST)
    bound = POINTS / 2 * 2.0**grid
    return LaplaceParameters(epsilon=epsilon, sensitivity=1.0, grid=grid, lower=-bound, upper=bound)
