"""Subnormal time: arithmetic on numbers too small to be normal takes measurably longer on many processors.

Source: Andrysco et al. 2015, On Subnormal Floating Point and Abnormal Timing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from subnormal.attacks.core.attack import AnyAttack, Attack, index_statistic, require_outcomes
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.exponential.float_boundaries import last_normal
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits

SOURCE = "Andrysco et al. 2015 (IEEE S&P): subnormal floating point and abnormal timing"


@constructor("subnormal-time")
def subnormal_time(
    name: str, epsilon: float = 1.0, outcomes: int = 100_000, float_type: DTypeLike = np.float64
) -> AnyAttack:
    """Return the attack: in (g+1, …, g+1), out (g, …, g), g the last integer utility with a normal weight.

    Both worlds have the same law: every outcome has the same probability. With Alice all weights are subnormal. On some
    processors a draw then takes several times longer, on others as long. The row shows which.

    epsilon: nats. Raises ValueError unless it is positive and finite, for no outcomes, and for a float type that is too
    coarse for ε.
    """
    require_outcomes(outcomes, 1)
    kind = np.dtype(float_type).name
    g = last_normal(epsilon, float_type)
    return Attack(
        name=name,
        family="exponential",
        worlds=lambda: (np.full(outcomes, g + 1), np.full(outcomes, g)),
        parameters=ExponentialParameters(epsilon, Limits(0, g + 1, outcomes)),
        event=None,
        statistic=index_statistic,
        breaks=(f"exponential-naive-{kind}",),
        source=SOURCE,
        description=(
            f"all utilities {g + 1} with Alice, {g} without: the same law, but with her all weights are subnormal"
        ),
        fixes=("exponential-exact",),
        slow=True,
        channel="time",
    )
