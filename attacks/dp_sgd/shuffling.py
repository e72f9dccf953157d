"""Shuffling: batches that are pieces of a random order tell more than the accountant of Poisson sampling is told.

With two records in batches of one, every record is in exactly one of two steps. Gradients are +1 of Alice (or zeros)
and −1 of the other: where the sum of a step is large, it is not the other's, so it is Alice's, as if the order were
known. By Poisson sampling Alice is in no batch with probability 1/4.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from subnormal.attacks.core.attack import Attack, given
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Largest, largest
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients
from subnormal.mechanisms.dp_sgd.flawed_steps import claim

SOURCE = "Chua et al. 2024 (arXiv:2403.17673), 'How Private are DP-SGD Implementations?'"
USUAL = 1.5
DELTA = 1e-3


@constructor("shuffling")
def shuffling(
    name: str, multiplier: float = USUAL, delta: float = DELTA
) -> Attack[Gradients, DpSgdParameters, tuple[int, ...]]:
    """Return the attack: the gradients 1 of Alice, zeros in its place, and −1 of another, in two batches of one record.

    Where a sum is x, it is e^((2x − 1)/(2σ²)) times as likely with Alice's 1 in it as with her zeros. The event is that
    the larger sum exceeds the x at which that is e^ε of the claim.

    multiplier: the standard deviation of the noise, in clipping norms. delta: where the claim is stated. It is broken
    at 1.5 and 10^-3, but not at every multiplier: where noise is small, Poisson sampling is the weaker one, which may
    draw Alice twice. Raises ValueError for one that is not positive, and for a δ that is not between 0 and 1.
    """
    parameters = DpSgdParameters(multiplier=multiplier, rate=0.5, steps=2, delta=delta, grid=0)
    worlds = np.array([[1.0], [-1.0]]), np.array([[0.0], [-1.0]])
    told = claim(parameters, *worlds)
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=partial(given, worlds),
        parameters=parameters,
        event=Largest(multiplier**2 * told.epsilon + 0.5),
        statistic=largest,
        breaks=("dp-sgd-shuffled",),
        source=SOURCE,
        description="two records in two shuffled batches, accounted for as Poisson samples: Alice's 1 is always in one",
        axis="largest sum",
    )
