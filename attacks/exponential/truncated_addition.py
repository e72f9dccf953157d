"""Truncated addition: a running sum that holds one large weight absorbs many small ones.

Source: Ilvento 2020, Section 2 (attacks on the naive exponential mechanism).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from subnormal.attacks.core.attack import Attack, index_statistic, named, require_outcomes
from subnormal.attacks.core.constructor import Constructor
from subnormal.attacks.core.events import OneOf
from subnormal.attacks.exponential.float_boundaries import last_added
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 2: truncated addition"


def truncated_addition(
    epsilon: float = 37.0, outcomes: int = 1000, float_type: DTypeLike = np.float64
) -> Attack[Any, Any, int]:
    """Return the attack: in (0, g, …, g), out (1, g−1, …, g−1), g the least integer utility that an addition absorbs.

    With Alice outcome 0 has probability exactly 1: the others are impossible. Without her they share the probability.

    epsilon: nats. Raises ValueError unless it is positive and finite, for fewer than 2 outcomes, and for a float type
    that is too coarse for ε.
    """
    require_outcomes(outcomes)
    kind = np.dtype(float_type).name
    g = last_added(epsilon, float_type) + 1

    def worlds() -> tuple[Any, Any]:
        data_in, data_out = np.full(outcomes, g), np.full(outcomes, g - 1)
        data_in[0], data_out[0] = 0, 1
        return data_in, data_out

    # Neither "fix" helps: every weight is positive, and the best utility is 0 already.
    failing = ("exponential-naive-shifted", "exponential-naive-positive") if kind == "float64" else ()
    return Attack(
        name=named(
            "truncated-addition", epsilon=(epsilon, 37.0), outcomes=(outcomes, 1000), float_type=(kind, "float64")
        ),
        family="exponential",
        worlds=worlds,
        parameters=ExponentialParameters(epsilon, Limits(0, max(g, 1), outcomes)),
        event=OneOf((0,)),
        statistic=index_statistic,
        breaks=(f"exponential-naive-{kind}", *failing),
        source=SOURCE,
        description=(
            "with Alice the first weight absorbs the many small ones in the running sum; without her they are added"
        ),
    )


CONSTRUCTORS = (Constructor("truncated-addition", truncated_addition),)
