"""Precision on demand: a mechanism that starts again at twice the precision reveals its utilities.

Source: Ilvento 2020, Section 3.2, where Algorithm 1 fixes the precision from public values, and Section 3.3 on leaks.
"""

from __future__ import annotations

import numpy as np

from subnormal.attacks.core.attack import AnyAttack, Attack, count_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between, Part
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits

OUTCOMES = 16  # the sum of 15 ones and 2^−η has four bits more than 2^−η, which may end in up to three zeros


@constructor("precision-retry")
def precision_retry(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack: 16 utilities of 0, whose weights sum to 16, against the same with a utility of 1.

    2^−η has 32 fractional bits, and 15 + 2^−η needs 36. The first world takes one pass, the second two, so the worlds
    share no trace. In the first no try is rejected.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    worlds = np.zeros(OUTCOMES, dtype=np.int64), np.append(np.zeros(OUTCOMES - 1, dtype=np.int64), 1)
    return Attack(
        name=name,
        family="exponential",
        worlds=lambda: worlds,
        parameters=ExponentialParameters(epsilon, Limits(0, 1, OUTCOMES)),
        event=Part(1, Between(1, 1)),
        statistic=count_statistic,
        breaks=("exponential-base2-precision-on-demand",),
        source="Ilvento 2020 (arXiv:1912.04222), Sections 3.2 and 3.3: precision that depends on the data",
        description=(
            "16 equal weights sum to a power of two with Alice; without her one differs and the sum takes two passes"
        ),
        channel="steps",
    )
