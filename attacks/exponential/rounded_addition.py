"""Rounded addition: many additions are all rounded down with Alice, and all rounded up without her.

Truncated addition needs a large ε; this attack does not. With Alice the other weights lie just below half a unit in the
last place of the first weight, so the running sum never moves. Without her they lie just above, so each addition moves
the sum by a whole unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from subnormal.attacks.core.attack import AnyAttack, Attack, index_statistic, require_outcomes
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.attacks.exponential.float_boundaries import last_added
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.numerics import float_types

SOURCE = "after Ilvento 2020 (arXiv:1912.04222), Section 2; the accumulation of rounded sums is by Subnormal"


USUAL = {"float16": (0.02, 1 + 1024), "float32": (0.001, 1 + (1 << 22))}  # (ε, outcomes): advantages 1/2 and 1/3
COSTLY = 1 << 20  # outcomes from which a row takes seconds


def rounded_addition(epsilon: float, outcomes: int, float_type: DTypeLike, name: str = "") -> AnyAttack:
    """Return the attack: in (0, g+1, …, g+1), out (0, g, …, g), g the last utility that 1 does not absorb.

    In real numbers g = ⌊2p·ln 2/ε⌋ with p bits. With k = outcomes − 1 ≤ 2^(p−1) the advantage is near
    k·2^(1−p)/(1 + k·2^(1−p)), at any ε. For larger k the sum stops at 2 and the advantage at 1/2.

    epsilon: nats. Raises ValueError unless it is positive and finite, for fewer than 2 outcomes, and for a float type
    that is too coarse for ε.
    """
    require_outcomes(outcomes)
    kind = float_types.of(float_type).name
    g = last_added(epsilon, float_type)

    def worlds() -> tuple[Any, Any]:
        data_in, data_out = np.full(outcomes, g + 1), np.full(outcomes, g)
        data_in[0] = data_out[0] = 0
        return data_in, data_out

    return Attack(
        name=name or f"rounded-addition-{kind}",
        family="exponential",
        worlds=worlds,
        parameters=ExponentialParameters(epsilon, Limits(0, g + 1, outcomes)),
        event=OneOf((0,)),
        statistic=index_statistic,
        breaks=(f"exponential-naive-{kind}",),
        source=SOURCE,
        description=(
            "with Alice each of many small weights is rounded down to nothing in the running sum; without her, up"
        ),
        slow=outcomes > COSTLY,
    )


@constructor("rounded-addition-float16")
def rounded_addition_float16(
    name: str, epsilon: float = USUAL["float16"][0], outcomes: int = USUAL["float16"][1]
) -> AnyAttack:
    """Return `rounded_addition` in float16: the advantage is near 1/2.

    Raises ValueError as `rounded_addition` does.
    """
    return rounded_addition(epsilon, outcomes, np.float16, name)


@constructor("rounded-addition-float32")
def rounded_addition_float32(
    name: str, epsilon: float = USUAL["float32"][0], outcomes: int = USUAL["float32"][1]
) -> AnyAttack:
    """Return `rounded_addition` in float32: the advantage is near 1/3.

    Raises ValueError as `rounded_addition` does.
    """
    return rounded_addition(epsilon, outcomes, np.float32, name)
