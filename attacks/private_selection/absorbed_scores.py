"""Absorbed scores: integer scores are rounded to floats before the noise, which then cannot change their order.

Lower scores are better. Both candidates score 2^60 + 128, which is 2^60 as a float64. With Alice the first one scores
one more, which is 2^60 + 256. No noise makes up for that, so the first is chosen only if the second was never drawn,
with probability h(1/2). Without her the scores tie and the first wins, unless it was never drawn.
"""

from __future__ import annotations

import numpy as np

from subnormal.attacks.additive.absorption import COUNT
from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between
from subnormal.mechanisms.private_selection.family import PrivateSelectionParameters

SOURCE = "IEEE 754, as in absorption; applied to selection by Subnormal"
MARGIN = 8  # on both sides of the scores without Alice: the bounds of exact members
RESERVE = 1 / 16  # of ε


@constructor("selection-absorption")
def selection_absorption(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack; the event is that the first candidate is chosen, with any score.

    h(A) = γA/(1 − (1−γ)A) except at the last step, so at γ = 1/8 the advantage is near 1 − 2h(1/2) = 7/9.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    bounds = {"lower": COUNT - MARGIN, "upper": COUNT + MARGIN}
    return Attack(
        name=name,
        family="private-selection",
        worlds=lambda: (np.array([COUNT + 1, COUNT]), np.array([COUNT, COUNT])),
        parameters=PrivateSelectionParameters(epsilon, **bounds, reserve=epsilon * RESERVE),
        event=Between(0, 0),
        breaks=("private-selection-naive",),
        source=SOURCE,
        description="two scores of 2^60 + 128, the first 1 worse with Alice: as float64 256 apart or equal",
    )
