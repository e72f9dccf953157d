"""Truncated addition: beside one large weight, many small ones vanish from the running sum.

Source: Ilvento 2020, Section 2 (attacks on the naive exponential mechanism).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from attacks.attack import Attack, index_statistic, named
from attacks.boundary import last_utility
from attacks.events import OneOf
from mechanisms import exponential_naive
from mechanisms.exponential import ExponentialParameters, Limits

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 2: truncated addition"


def truncated_addition(
    epsilon: float = 37.0, outcomes: int = 1000, float_type: DTypeLike = np.float64
) -> Attack[Any, Any, int]:
    """Return the attack: in (0, g, …, g), out (1, g−1, …, g−1), g the least integer utility that an addition swallows.

    With Alice outcome 0 has probability exactly 1: the others are impossible. Without her they share the mass.
    """
    kind = np.dtype(float_type).name
    g = least_swallowed(epsilon, float_type)

    def worlds() -> tuple[Any, Any]:
        data_in, data_out = np.full(outcomes, g), np.full(outcomes, g - 1)
        data_in[0], data_out[0] = 0, 1
        return data_in, data_out

    # Neither "fix" helps: every weight is positive, and the best utility is 0 already.
    failing = ("exponential-naive-shifted", "exponential-naive-positive") if kind == "float64" else ()
    return Attack(
        named("truncated-addition", epsilon=(epsilon, 37.0), outcomes=(outcomes, 1000), float_type=(kind, "float64")),
        "exponential",
        worlds,
        ExponentialParameters(epsilon, Limits(0, max(g, 1), outcomes)),
        OneOf((0,)),
        index_statistic,
        (f"exponential-naive-{kind}", *failing),
        SOURCE,
    )


def least_swallowed(epsilon: float, float_type: DTypeLike) -> int:
    """Return the least integer utility u with 1 + e^(−εu/2) = 1, near 2p·ln(2)/ε.

    That is where the weight falls to half a unit in the last place of 1: 2^−p with p bits.
    """
    half_unit = 2.0 ** -exponential_naive.uniform_bits(float_type)
    return 1 + last_utility(epsilon, float_type, half_unit, lambda weights: weights + weights.dtype.type(1) > 1)
