"""Clamped noise: the proof shifts the threshold's noise ρ by Δ, and the largest ρ cannot be shifted.

There are two attacks. If both noises are clamped, only the largest ρ answers some query with ⊥, and no ρ answers a
neighbouring query with ⊥: the loss is infinite. If only ρ is clamped, every outcome has a positive probability, but
each ⊥ adds to the loss, which grows without bound with the stream.
"""

from __future__ import annotations

import numpy as np

from subnormal.attacks.core.attack import FIRST_POSITIVE, AnyAttack, Attack, first_positive, require_outcomes
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters

SOURCE = "working paper on the discrete sparse vector mechanism: a bounded ρ breaks the textbook proof"


@constructor("clamped-noise")
def clamped_noise(name: str, epsilon: float = 1.0, width: int = 4) -> AnyAttack:
    """Return the attack on noises clamped to ±w: with Alice the query is 2w − 1, without her 2w; the event is ⊥.

    ⊥ means 2w − 1 + ν < ρ, which needs ρ = w and ν = −w. For the query 2w it is impossible.

    epsilon: nats. Raises ValueError unless it is positive and finite, and unless width is at least 1.
    """
    require_outcomes(width, least=1)
    parameters = SparseVectorParameters(epsilon=epsilon, lower=0, upper=2 * width, width=width)
    worlds = np.array([2 * width - 1]), np.array([2 * width])
    return Attack(
        name=name,
        family="sparse-vector",
        worlds=lambda: worlds,
        parameters=parameters,
        event=OneOf(((0,),)),
        statistic=first_positive,
        breaks=("sparse-vector-clamped-noise",),
        source=SOURCE,
        description=(
            "a query that only the largest noise answers with ⊥; without Alice it is one higher, and ⊥ is impossible"
        ),
        axis=FIRST_POSITIVE,
    )


@constructor("finite-threshold")
def finite_threshold(name: str, epsilon: float = 1.0, queries: int = 32, width: int = 2) -> AnyAttack:
    """Return the attack on a clamped ρ and unbounded ν: m queries 0 with Alice, 1 without her; the event is ⊥^m.

    ρ ≤ 1 + w. Given the largest ρ, each ⊥ adds ln P(ν ≤ w)/P(ν < w) to the loss, because there is no ρ + 1.

    epsilon: nats. Raises ValueError unless it is positive and finite, and unless there is at least 1 query.
    """
    require_outcomes(queries, least=1)
    parameters = SparseVectorParameters(epsilon=epsilon, lower=0, upper=1, width=width)
    worlds = np.zeros(queries, dtype=np.int64), np.ones(queries, dtype=np.int64)
    return Attack(
        name=name,
        family="sparse-vector",
        worlds=lambda: worlds,
        parameters=parameters,
        event=OneOf(((0,) * queries,)),
        statistic=first_positive,
        breaks=("sparse-vector-unclamped",),
        source=SOURCE,
        description=(
            f"{queries} queries, all 0 with Alice and all 1 without: each ⊥ adds to "
            "the loss, because the threshold's noise is bounded"
        ),
        axis=FIRST_POSITIVE,
    )
