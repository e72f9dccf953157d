"""Batch size: a sum divided by the actual size of its batch lies on another grid with Alice than without her."""

from __future__ import annotations

import numpy as np

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OffGrid
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients

SOURCE = "the size of a batch by Poisson sampling is no public number (Abadi et al. 2016 divide by the expected size)"


@constructor("batch-size")
def batch_size(name: str, multiplier: float = 1.0) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: two records without Alice and three with her, every batch whole, all gradients 0.

    Noise on the grid 2^k, divided by 2, is a multiple of 2^(k−1); divided by 3 it is one only where 3 divides it. The
    event is an outcome that is no multiple of 2^(k−1).

    multiplier: the standard deviation of the noise, in clipping norms. Raises ValueError unless it is positive.
    """
    parameters = DpSgdParameters(multiplier=multiplier)
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=lambda: (np.zeros((3, 1)), np.zeros((2, 1))),
        parameters=parameters,
        event=OffGrid(parameters.grid - 1),
        breaks=("dp-sgd-actual-batch-size",),
        source=SOURCE,
        description="noise on a grid, divided by the size of the batch: only Alice's makes a third of it",
        axis="released mean",
    )
