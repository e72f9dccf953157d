"""Absorbed threshold: the threshold is so large that it absorbs float noise, and one step of a query decides.

Source: IEEE 754, by the argument of Mironov 2012 (CCS): the rounding of a noisy float sum depends on the data.
"""

from __future__ import annotations

import numpy as np

from subnormal.attacks.core.attack import FIRST_POSITIVE, AnyAttack, Attack, first_positive
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters

SOURCE = "IEEE 754: below 2^62 binary64 holds every 512th integer, from there on every 1024th"
THRESHOLD = 1 << 62
TIE = 256  # below the threshold: halfway to the next float; a tie goes to the even one, the threshold itself


@constructor("absorbed-threshold")
def absorbed_threshold(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack: T = 2^62; the query is T − 257 with Alice, rounded to T − 512; T − 256 without, to T.

    Floats lie 512 apart below T, so noise below 256 is absorbed by T and by T − 512. The largest noise of a query is
    52·ln 2·2Δ/(ε/2) = 144.2/ε: from ε = 0.564 on the answer is always ⊥ with Alice and always ⊤ without her.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    worlds = np.array([THRESHOLD - TIE - 1]), np.array([THRESHOLD - TIE])
    parameters = SparseVectorParameters(epsilon=epsilon, threshold=THRESHOLD, lower=-TIE - 64, upper=64)
    return Attack(
        name=name,
        family="sparse-vector",
        worlds=lambda: worlds,
        parameters=parameters,
        event=OneOf(((1,),)),
        statistic=first_positive,
        breaks=("sparse-vector-naive",),
        source=SOURCE,
        description=("threshold 2^62, query 2^62 − 257 with Alice, 2^62 − 256 without: floats round one down, one up"),
        axis=FIRST_POSITIVE,
    )
