"""Weight concentration: the bits or steps that a draw takes distinguish uneven weights from equal ones.

The totals are equal and a power of two, so rejections reveal nothing. Sources: Ilvento 2020, Algorithm 4, which draws
bit by bit and stops early; and Algorithm 2, line 11, where all bits are drawn and the elimination stops early.
"""

from __future__ import annotations

import numpy as np

from subnormal.attacks.core.attack import AnyAttack, Attack, Channel, count_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between, Part
from subnormal.attacks.side_channels.rejection_tries import ONE_BIT_EPSILON
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 3.3: "


@constructor("weight-concentration")
def weight_concentration(name: str) -> AnyAttack:
    """Return the attack on the bits that Algorithm 4 consumes, at η = 1: utilities (1, 1, 1, 1) against (0, 2, 2, 1).

    Four weights of 1/2 always take 2 bits. Weights 1, 1/4, 1/4, 1/2 take 1, 3, 3 and 2 bits. The advantage is 3/4.
    """
    description = (
        "four equal weights with Alice always take two bits; unequal ones without her mostly take one or three"
    )
    return _attack(name, "bits", "exponential-base2-bit-by-bit", SOURCE + "Algorithm 4 stops early", description)


@constructor("early-termination")
def early_termination(name: str) -> AnyAttack:
    """Return the attack on the same worlds by the steps of Algorithm 2's elimination, which stand for time."""
    description = (
        "all bits are drawn, but the elimination stops early: after two steps with Alice, mostly one or three without"
    )
    return _attack(name, "steps", "exponential-base2-early-stop", SOURCE + "Algorithm 2, line 11", description)


def _attack(name: str, channel: Channel, breaks: str, source: str, description: str) -> AnyAttack:
    worlds = np.array([1, 1, 1, 1]), np.array([0, 2, 2, 1])
    return Attack(
        name=name,
        family="exponential",
        worlds=lambda: worlds,
        parameters=ExponentialParameters(ONE_BIT_EPSILON, Limits(0, 2, 4)),
        event=Part(1, Between(2, 2)),
        statistic=count_statistic,
        breaks=(breaks,),
        source=source,
        description=description,
        channel=channel,
    )
