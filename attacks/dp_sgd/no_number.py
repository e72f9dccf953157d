"""Values that are not numbers: of an empty batch, and of a gradient whose norm overflows. One is seen at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack, number_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.core.mechanism import Outcomes
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients

NO_NUMBER = OneOf((math.nan,), by_type=True)
OVERFLOWING = 70_000.0  # the largest float16 is 65,504


def number_or_least(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return outcomes as floats, and −∞ for what is not a number."""
    return np.nan_to_num(number_statistic(outcomes), nan=-np.inf, posinf=np.inf, neginf=-np.inf)


@constructor("empty-batch")
def empty_batch(name: str, multiplier: float = 4.0) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: two records with Alice, one without, each in the batch with probability 1/2.

    The batch is empty with probability 1/4 with Alice, and 1/2 without: a loss of ln 2 at least, 0.69.

    multiplier: the standard deviation of the noise, in clipping norms. Raises ValueError unless it is positive.
    """
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=lambda: (np.zeros((2, 1)), np.zeros((1, 1))),
        parameters=DpSgdParameters(multiplier=multiplier, rate=0.5),
        event=NO_NUMBER,
        statistic=number_or_least,
        breaks=("dp-sgd-empty-batch",),
        source="0/0 in IEEE 754: the mean of no gradients",
        description="the mean of an empty batch is NaN, and without Alice batches are empty twice as often",
        axis="released sum",
    )


@constructor("norm-overflow")
def norm_overflow(name: str, multiplier: float = 1.0) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: with Alice a gradient of 70,000, which is infinite in float16; without her zeros.

    multiplier: the standard deviation of the noise, in clipping norms. Raises ValueError unless it is positive.
    """
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=lambda: (np.array([[OVERFLOWING]]), np.zeros((1, 1))),
        parameters=DpSgdParameters(multiplier=multiplier),
        event=NO_NUMBER,
        statistic=number_or_least,
        breaks=("dp-sgd-norm-float16",),
        source="IEEE 754: binary16 ends at 65,504, and ∞·0 is not a number",
        description="Alice's gradient is infinite in float16, and so is its norm: clipped, it is NaN, as is the sum",
        axis="released sum",
    )
