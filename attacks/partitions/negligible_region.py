"""The negligible region: partitions far from the data are rounded to probability zero, and one record decides which.

In real numbers every partition is possible. A dynamic program in floats draws each count by one uniform, which in
float16 is a multiple of 2^−11. A less likely count is reached by one uniform or by none, and a single record decides
which. Most outcomes of one world are impossible in the other, and their loss is infinite.
Source: Blocki, Datta, Bonneau, NDSS 2016, for the mechanism; Ilvento 2020, Section 2, for rounding to zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between
from subnormal.mechanisms.partitions import naive as partitions_naive
from subnormal.mechanisms.partitions.bounds import by_total
from subnormal.mechanisms.partitions.family import Frequencies, PartitionParameters
from subnormal.mechanisms.samplers.float_uniforms import uniform_bits

SOURCE = "Blocki, Datta, Bonneau 2016 (Differentially Private Password Frequency Lists), in floats: rounding to zero"

RECORDS = (15, 13, 9, 3)  # 40 of them, of four values


@constructor("negligible-region")
def negligible_region(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack: 40 records of four values against 39. The event is a first count that only one world reaches.

    The record that is left out is the last one whose absence moves a limit.

    epsilon: nats. Raises ValueError unless it is positive and finite, and if both worlds reach the same counts.
    """
    data_in = np.array(RECORDS)
    lower, upper = (tuple(bound.tolist()) for bound in by_total(sum(RECORDS), len(RECORDS)))
    parameters = PartitionParameters(epsilon, lower, upper)
    reached = _reached(data_in, parameters)
    for value in reversed(range(len(RECORDS))):
        data_out = data_in - (np.arange(len(RECORDS)) == value)
        alone = np.flatnonzero(reached != _reached(data_out, parameters))
        if len(alone):
            break
    else:
        raise ValueError(f"epsilon = {epsilon}: with and without a record the same first counts are reached")
    first = parameters.lower[0] + int(alone[0])
    return Attack(
        name=name,
        family="partitions",
        worlds=lambda: (data_in, data_out),
        parameters=parameters,
        event=Between(first, first),
        breaks=("partitions-naive-float16",),
        source=SOURCE,
        description=("40 records with Alice, 39 without: a count far from the data is possible in one world only"),
        axis="first count",
    )


def _reached(data: Frequencies, parameters: PartitionParameters) -> NDArray[np.bool_]:
    """Return whether some uniform of a float16 leads to each first count, by the code under attack."""
    first = partitions_naive.weights(
        data, parameters.epsilon, lower=parameters.lower, upper=parameters.upper, float_type=np.float16
    )[0]
    return partitions_naive.counts(first, uniform_bits(np.float16))[:-1] > 0
