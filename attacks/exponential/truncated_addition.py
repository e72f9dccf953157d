"""Truncated addition: a running sum that holds one large weight absorbs many small ones.

With p bits of precision an addition absorbs at most 2^−p of the sum. So the k small weights have at most k·2^−p·e^ε of
the probability without Alice, and none with her. A claim of ε is refuted by n runs only where that probability is above
e^ε·ln(1/α)/n, the least that no occurrence in n runs excludes: k > 2^p·ln(1/α)/n outcomes. At n = 10^5 and α = 10^−4
these are one in float16, 1,550 in float32, and 8·10^11 in float64, where only the law shows the loss. The largest ε
that n runs decide at all is near ln(n/ln(1/α)), 9.3 here.

Source: Ilvento 2020, Section 2 (Attack 2 on the naive exponential mechanism).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from subnormal.attacks.core.attack import AnyAttack, Attack, given, index_statistic, require_outcomes
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.attacks.exponential.float_boundaries import last_added
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.numerics import float_types

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 2: truncated addition"
BY_RUNS = (  # variants that 100,000 runs refute: by the advantage, and at nearly the largest ε that so many runs decide
    {"epsilon": 1.0, "outcomes": 4096, "float_type": "float16"},
    {"epsilon": 8.5, "outcomes": 32768, "float_type": "float32"},
)


@constructor("truncated-addition", ({}, *BY_RUNS))
def truncated_addition(
    name: str, epsilon: float = 37.0, outcomes: int = 1000, float_type: DTypeLike = np.float64
) -> AnyAttack:
    """Return the attack: in (0, g, …, g), out (1, g−1, …, g−1), g the least integer utility that an addition absorbs.

    With Alice outcome 0 has probability exactly 1: the others are impossible. Without her they share the probability.

    epsilon: nats. Raises ValueError unless it is positive and finite, for fewer than 2 outcomes, and for a float type
    that is too coarse for ε.
    """
    require_outcomes(outcomes)
    kind = float_types.of(float_type).name
    g = last_added(epsilon, float_type) + 1

    def worlds() -> tuple[Any, Any]:
        data_in, data_out = np.full(outcomes, g), np.full(outcomes, g - 1)
        data_in[0], data_out[0] = 0, 1
        return data_in, data_out

    # Neither "fix" helps: every weight is positive, and the best utility is 0 already.
    failing = ("exponential-naive-shifted", "exponential-naive-positive") if kind == "float64" else ()
    return Attack(
        name=name,
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


@constructor("truncated-addition-half")
def truncated_addition_half(name: str, epsilon: float = 30.0, outcomes: int = 1000) -> AnyAttack:
    """Return the attack as the paper has it: without Alice the first outcome is chosen about half of the time.

    In units of half a utility, with a sensitivity of 2: in (−1, 4, …, 4), out (1, 2, …, 2). At ε = 30 the weights of
    `in` differ by a factor of e^−37.5 < 2^−53, which an addition absorbs; those of `out` by one of e^−7.5, and 999 of
    them weigh about half as much as the first: it has probability 0.6441.

    epsilon: nats. Raises ValueError unless it is positive and finite, and for fewer than 2 outcomes.
    """
    require_outcomes(outcomes)
    data_in, data_out = np.full(outcomes, 4), np.full(outcomes, 2)
    data_in[0], data_out[0] = -1, 1
    return Attack(
        name=name,
        family="exponential",
        worlds=partial(given, (data_in, data_out)),
        parameters=ExponentialParameters(epsilon, Limits(-1, 4, outcomes), sensitivity=2),
        event=OneOf((0,)),
        statistic=index_statistic,
        breaks=("exponential-naive-float64",),
        source=SOURCE,
        description="with Alice the first outcome is certain; without her the others are chosen about as often as it",
    )
