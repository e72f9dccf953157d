"""Zero rounding: a weight that is positive in real numbers is 0 in floats, so an outcome becomes impossible.

Source: Ilvento 2020, Section 2 (attacks on the naive exponential mechanism).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from subnormal.attacks.core.attack import AnyAttack, Attack, given, index_statistic, require_outcomes
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Event, OneOf, Refuses
from subnormal.attacks.exponential.float_boundaries import last_positive
from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.numerics import float_types

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 2: zero rounding"


@constructor("zero-rounding")
def zero_rounding(
    name: str, epsilon: float = 0.5, outcomes: int = 100, float_type: DTypeLike = np.float64
) -> AnyAttack:
    """Return the attack: with Alice only outcome 0 has a positive weight; without her all weights are positive.

    x is the last utility with a positive weight; in: (x, x+1, …, x+1), out: (x, …, x). The advantage is 1 − 1/outcomes.

    epsilon: nats. Raises ValueError unless it is positive and finite, for fewer than 2 outcomes, and for a float type
    that is too coarse for ε.
    """
    require_outcomes(outcomes)
    x = last_positive(epsilon, float_type)
    data_in, data_out = np.full(outcomes, x + 1), np.full(outcomes, x)
    data_in[0] = x
    kind = float_types.of(float_type).name
    fixes = ("exponential-naive-shifted",) if kind == "float64" else ()
    description = "with Alice all weights except the first are rounded to zero; without her all outcomes are possible"
    return _attack(name, epsilon, data_in, data_out, OneOf((0,)), (f"exponential-naive-{kind}",), description, fixes)


@constructor("zero-rounding-two-outcomes")
def zero_rounding_two_outcomes(name: str, epsilon: float = 0.5, float_type: DTypeLike = np.float64) -> AnyAttack:
    """Return the attack on two outcomes, (x, x+1) against (x+1, x): the worlds never share an outcome.

    epsilon: nats. Raises ValueError unless it is positive and finite, and for a float type that is too coarse for ε.
    """
    x = last_positive(epsilon, float_type)
    kind = float_types.of(float_type).name
    data_in, data_out = np.array([x, x + 1]), np.array([x + 1, x])
    fixes = ("exponential-naive-shifted",) if kind == "float64" else ()
    description = (
        "two outcomes, and in each world the weight of one is rounded to zero: a single outcome reveals the world"
    )
    return _attack(name, epsilon, data_in, data_out, OneOf((0,)), (f"exponential-naive-{kind}",), description, fixes)


@constructor("zero-rounding-refusal")
def zero_rounding_refusal(name: str, epsilon: float = 0.5, outcomes: int = 100) -> AnyAttack:
    """Return the attack on the worlds of zero_rounding whose event is a refusal: only with Alice a weight is zero.

    epsilon: nats. Raises ValueError unless it is positive and finite, and for fewer than 2 outcomes.
    """
    data_in, data_out = zero_rounding(epsilon, outcomes).worlds()
    description = "a mechanism that raises an error on a weight of zero does so only with Alice: the error reveals her"
    return _attack(name, epsilon, data_in, data_out, Refuses(), ("exponential-naive-positive",), description, ())


def _attack(
    name: str,
    epsilon: float,
    data_in: Utilities,
    data_out: Utilities,
    event: Event,
    breaks: tuple[str, ...],
    description: str,
    fixes: tuple[str, ...],
) -> AnyAttack:
    limits = Limits(0, int(max(data_in.max(), data_out.max())), len(data_in))
    parameters = ExponentialParameters(epsilon, limits)
    return Attack(
        name=name,
        family="exponential",
        worlds=partial(given, (data_in, data_out)),
        parameters=parameters,
        event=event,
        statistic=index_statistic,
        breaks=breaks,
        source=SOURCE,
        description=description,
        fixes=fixes,
    )
