"""Uneven choice: a short uniform cannot choose evenly among many categories, so one is a lie too rarely, or never.

int(u·(k − 1)) maps the 2^w values of a uniform to k − 1 categories. With k − 1 = 2^w + 1 one category has no value, so
a report of it is the truth. With k − 1 = 2^(w−1) + 1 nearly all categories have two values and two have one: a report
of these two has a loss of about ε + ln 2. The attacks are on the 11 bits of a float16. The 15 bits of C's rand() and
the 24 bits of a float32 fail in the same way, with more categories.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from subnormal.attacks.core.attack import Attack, given, index_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from subnormal.mechanisms.randomized_response.naive import words_of_others
from subnormal.mechanisms.samplers.float_uniforms import uniform_bits

SOURCE = "the pigeonhole principle, on the usual code of k-RR (Kairouz, Bonawitz, Ramage 2016, arXiv:1602.07387)"
VALUES = 1 << uniform_bits(np.float16)  # of a uniform
USUAL = 1.0  # nats


@constructor("unreported-category")
def unreported_category(name: str, epsilon: float = USUAL) -> Attack[int, RandomizedResponseParameters, int]:
    """Return the attack on 2^w + 2 categories: the last one with Alice, the first one without her.

    k − 1 = 2^w + 1 lies halfway between two floats and is rounded to the even one, 2^w. The products are then the
    integers up to 2^w − 1, so the last category is never a lie. With Alice it is the truth, reported with p > 0.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    description = (
        "2,050 categories: a lie is one of the first 2,048 others, so only Alice ever reports the last category"
    )
    return _attack(name, epsilon, VALUES + 2, VALUES + 1, description)


@constructor("uneven-choice")
def uneven_choice(name: str, epsilon: float = USUAL) -> Attack[int, RandomizedResponseParameters, int]:
    """Return the attack on 2^(w−1) + 2 categories: with Alice one that a single uniform selects, without her the first.

    t = ⌈p·2^w⌉ uniforms lead to the truth, 2^w − t to a lie: the loss is ln(t·2^w/(2^w − t)), 1.795 at ε = 1.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    categories = VALUES // 2 + 2
    rare = 1 + int(np.argmin(words_of_others(categories, np.dtype(np.float16))))  # among the others of category 0
    description = "1,026 categories: as a lie, Alice's category has one of 2,048 uniforms, and most others have two"
    return _attack(name, epsilon, categories, rare, description)


def _attack(
    name: str, epsilon: float, categories: int, category: int, description: str
) -> Attack[int, RandomizedResponseParameters, int]:
    return Attack(
        name=name,
        family="randomized-response",
        worlds=partial(given, (category, 0)),
        parameters=RandomizedResponseParameters(epsilon, categories),
        event=OneOf((category,)),
        statistic=index_statistic,
        breaks=("randomized-response-naive-float16",),
        source=SOURCE,
        description=description,
        axis="category reported",
    )
