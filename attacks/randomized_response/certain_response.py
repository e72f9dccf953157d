"""Certain response: at a large budget float additions are absorbed, and the truth is reported with probability 1.

The probability of the truth is p = e^ε/(e^ε + 2 − 1). Floats of w bits lie at least 8 apart from 2^(w+2) on, so both
additions are absorbed and p = 1. If e^ε overflows, p = ∞/∞ is not a number, and the truth is never reported. In both
cases one report reveals the world.
"""

from __future__ import annotations

from functools import partial
from math import ceil, log

import numpy as np
from numpy.typing import DTypeLike

from subnormal.attacks.core.attack import Attack, given, index_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.randomized_response import naive
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from subnormal.mechanisms.samplers.float_uniforms import uniform_bits

SOURCE = "after Ilvento 2020 (arXiv:1912.04222), Section 2; applied to randomized response by Subnormal"
FLOAT_TYPES = (np.float64, np.float32, np.float16)
CATEGORIES = 2


def absorbing_epsilon(float_type: DTypeLike) -> float:
    """Return the first tenth of a nat above (w + 2)·ln 2. From there on p is 1, unless e^ε overflows.

    >>> [absorbing_epsilon(float_type) for float_type in FLOAT_TYPES]
    [38.2, 18.1, 9.1]
    """
    return ceil(10 * (uniform_bits(float_type) + 2) * log(2)) / 10


USUAL = absorbing_epsilon(np.float64)


@constructor("certain-response", ({}, *({"epsilon": absorbing_epsilon(kind)} for kind in FLOAT_TYPES[1:])))
def certain_response(name: str, epsilon: float = USUAL) -> Attack[int, RandomizedResponseParameters, int]:
    """Return the attack: category 0 with Alice, 1 without her, of two; the event is a report of 1.

    It breaks the members whose report is certain at that ε. The members' own arithmetic decides which.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    every = {kind: 1 << uniform_bits(kind) for kind in FLOAT_TYPES}
    broken = [kind for kind in FLOAT_TYPES if naive.true_words(epsilon, CATEGORIES, kind) in (0, every[kind])]
    return Attack(
        name=name,
        family="randomized-response",
        worlds=partial(given, (0, 1)),
        parameters=RandomizedResponseParameters(epsilon, CATEGORIES),
        event=OneOf((1,)),
        statistic=index_statistic,
        breaks=tuple(f"randomized-response-naive-{np.dtype(kind).name}" for kind in broken),
        source=SOURCE,
        description=(
            "two categories, and e^ε so large that it absorbs 1 or overflows: the report is always the truth, or never"
        ),
        axis="category reported",
    )
