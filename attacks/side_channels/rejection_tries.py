"""Rejection tries: the number of tries of a sampler reveals how far the total weight lies below a power of two.

Algorithm 2 draws from [0, 2^k), where 2^k is the least power of two not below the total weight, and rejects a draw
above the total. If the total is a power of two, no try is ever rejected. Just above one, nearly half of the tries are.
Source: Ilvento 2020, Section 3.3 with Figure 9, and Proposition 3.8 for a least number of tries.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from subnormal.attacks.core.attack import AnyAttack, Attack, count_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between, Part
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.privacy import Eta, selection_claim, selection_eta

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 3.3, Figure 9"

ONE_BIT_EPSILON = selection_claim(
    Eta(1, 1, 1)
).epsilon  # 2·ln 2 rounded up: the budget at which a unit of utility is one bit
SMALL_EPSILON = selection_claim(Eta((1 << 15) - 1, 15, 1)).epsilon  # 6.1·10^−5, of 2^−η = 1 − 2^−15
ALL_BITS, TEN_TRIES = "exponential-base2", "exponential-base2-ten-tries"


@constructor("rejection-tries", ({}, {"tries": 10}))
def rejection_tries(name: str, tries: int = 1) -> AnyAttack:
    """Return the attack on Figure 9's pair at η = 1. The event is more than so many tries.

    256 outcomes, all of utility 1 against one of utility 0: total weights 128 and 128.5. In the second world a try is
    rejected with probability 127.5/256 = 255/512, in the first never: the advantage is (255/512)^tries, and the loss ∞.

    Raises ValueError unless tries is at least 1.
    """
    if tries < 1:
        raise ValueError(f"tries must be at least 1, got {tries}")
    data_in, data_out = np.ones(256, dtype=np.int64), np.ones(256, dtype=np.int64)
    data_out[0] = 0
    return _attack(
        name,
        (data_in, data_out),
        ExponentialParameters(ONE_BIT_EPSILON, Limits(0, 1, 256)),
        tries,
        "total weights 128 with Alice, 128.5 without: at a power of two no try is rejected, just above it nearly half"
        + (f"; more than {tries} tries exclude the first" if tries > 1 else ""),
    )


@constructor("rejection-tries-two-outcomes")
def rejection_tries_two_outcomes(name: str, epsilon: float = SMALL_EPSILON) -> AnyAttack:
    """Return the attack on two outcomes, at any budget: utilities (m, m) against (m−1, m).

    m is the least with 2·2^(−η·m) ≤ 1 at the members' η: the total weight lies just below 1, or above it. The advantage
    tends to 1/2 as η falls: 0.49999 at the default, where m = 22,713.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    eta = selection_eta(epsilon)
    m = max(1, int(1 / eta.bits) - 1)
    while 2 * eta.x ** (eta.z * m) > 1 << eta.y * eta.z * m:
        m += 1
    return _attack(
        name,
        (np.array([m, m]), np.array([m - 1, m])),
        ExponentialParameters(epsilon, Limits(0, m, 2)),
        1,
        "two outcomes whose total weight is just below 1 with Alice, just above without: then half of all tries fail",
    )


def _attack(
    name: str, worlds: tuple[Any, Any], parameters: ExponentialParameters, tries: int, description: str
) -> AnyAttack:
    return Attack(
        name=name,
        family="exponential",
        worlds=lambda: worlds,
        parameters=parameters,
        event=Part(1, Between(tries + 1, inf)),
        statistic=count_statistic,
        breaks=(ALL_BITS,),
        source=SOURCE,
        description=description,
        fixes=(TEN_TRIES,) if tries == 10 else (),
        channel="tries",
    )
