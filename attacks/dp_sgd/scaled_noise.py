"""Noise of the wrong size: of a clipped batch it is too small, and by microbatches its size depends on Alice."""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from subnormal.attacks.core.attack import Attack, given
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients
from subnormal.mechanisms.dp_sgd.flawed_steps import claim


@constructor("batch-clipping")
def batch_clipping(name: str, multiplier: float = 1.0, records: int = 4) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: with Alice a gradient of 100·C, without her zeros; batches of 4 records are clipped whole.

    Alice alone moves the sum by 4·C, and the noise is that of a sensitivity of C. A sum of x·C
    is e^((8x − 16)/(2σ²)) times as likely with Alice as without her. The event is that x is so large that this is e^ε.

    multiplier: the standard deviation of the noise, in clipping norms. records: of a batch, the factor by which the
    sensitivity is understated. Raises ValueError for one that is not positive.
    """
    parameters = DpSgdParameters(multiplier=multiplier, batch_size=records)
    worlds = np.array([[100.0 * records]]), np.zeros((1, 1))
    told = claim(parameters, *worlds)
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=partial(given, worlds),
        parameters=parameters,
        event=Between(records / 2 + multiplier**2 * told.epsilon / records, inf),
        breaks=("dp-sgd-batch-clipping",),
        source="Tramèr et al. 2022 (arXiv:2202.12219): a sensitivity wrong by the batch size, found by an audit",
        description="the mean of a batch of 4 is clipped and not each gradient: Alice's moves the sum by 4·C",
        axis="released sum",
    )


@constructor("microbatch-noise")
def microbatch_noise(name: str, multiplier: float = 4.0) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: two records with Alice, one without, all gradients 0, and microbatches of one record.

    With Alice noise is added twice, so its variance is twice that without her. The event is a sum of at least 3·σ·C,
    with a probability of 1.7 % and 0.13 %, a loss of 2.5 at any σ.

    multiplier: the standard deviation of the noise, in clipping norms. Raises ValueError unless it is positive.
    """
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=lambda: (np.zeros((2, 1)), np.zeros((1, 1))),
        parameters=DpSgdParameters(multiplier=multiplier),
        event=Between(3 * multiplier, inf),
        breaks=("dp-sgd-microbatch-noise",),
        source="a sum's variance: noise for each microbatch counts the microbatches",
        description="noise is added once for each microbatch, so its variance tells their number: Alice makes one more",
        axis="released sum",
    )
