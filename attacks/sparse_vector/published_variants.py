"""A counterexample to each broken published variant of the sparse vector technique.

Source: Lyu, Su, Li 2017 (arXiv:1603.01699), Section 3.3 and Figure 2, on the unit grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from subnormal.attacks.core.attack import FIRST_POSITIVE, AnyAttack, Attack, first_positive, require_outcomes
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.sparse_vector.family import Answers, SparseVectorParameters

SOURCE = "Lyu, Su, Li 2017 (arXiv:1603.01699), Section 3.3"


@constructor("sparse-vector-noisy-value")
def noisy_value(name: str, epsilon: float = 1.0, negatives: int = 4) -> AnyAttack:
    """Return the attack on Algorithm 3: (0^m, 1) against (1^m, 0), and ⊥^m before the noisy value 1.

    The value shows that ρ ≤ 1. Then each ⊥ is e^(ε/2) times as likely with Alice, and so is the value. The loss is
    (m+1)·ε/2, the largest possible. The loss of ⊥^m and the value 0 is exactly (m−1)·ε/2.

    epsilon: nats. Raises ValueError unless it is positive and finite, and unless negatives is at least 1.
    """
    return _attack(
        name,
        epsilon,
        negatives,
        1,
        (*((0,) * negatives), 1, 1),
        "sparse-vector-algorithm-3",
        "the noisy value of the query above the threshold is released, and bounds the threshold's noise",
    )


@constructor("sparse-vector-unscaled-noise")
def unscaled_noise(name: str, epsilon: float = 1.0, negatives: int = 4, positives: int = 2) -> AnyAttack:
    """Return the attack on Algorithm 4: (0^m, 1^c) against (1^m, 0^c), and ⊥^m ⊤^c; the loss tends to (1+6c)/4·ε.

    epsilon: nats. Raises ValueError unless it is positive and finite, and unless both counts are at least 1.
    """
    return _attack(
        name,
        epsilon,
        negatives,
        positives,
        (0,) * negatives + (1,) * positives,
        "sparse-vector-algorithm-4",
        "the answers' noise is not scaled with the number of positives, so each positive costs the whole budget",
    )


@constructor("sparse-vector-noiseless-answers")
def noiseless_answers(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack on Algorithm 5: (0, 1) against (1, 0), and ⊥⊤, which without Alice is impossible.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    return _attack(
        name,
        epsilon,
        1,
        1,
        (0, 1),
        "sparse-vector-algorithm-5",
        "the answers have no noise, so a query below the noisy threshold and one above it reveal their order",
    )


@constructor("sparse-vector-no-cutoff")
def no_cutoff(name: str, epsilon: float = 1.0, negatives: int = 4) -> AnyAttack:
    """Return the attack on Algorithm 6: (0^m, 1^m) against (1^m, 0^m), and ⊥^m ⊤^m; the loss is at least m·ε/2.

    epsilon: nats. Raises ValueError unless it is positive and finite, and unless negatives is at least 1.
    """
    return _attack(
        name,
        epsilon,
        negatives,
        negatives,
        (0,) * negatives + (1,) * negatives,
        "sparse-vector-algorithm-6",
        "any number of positives is answered, with noise for a single one",
        gaps=(),  # so that outcomes with gaps stay few enough for a law
    )


def _attack(
    name: str,
    epsilon: float,
    m: int,
    c: int,
    looked_for: Answers,
    breaks: str,
    description: str,
    **public: Any,
) -> AnyAttack:
    """m, c: the numbers of negatives and of positives."""
    require_outcomes(min(m, c), least=1)
    data_in, data_out = np.repeat([0, 1], [m, c]), np.repeat([1, 0], [m, c])
    parameters = SparseVectorParameters(epsilon=epsilon, positives=c, lower=-1, upper=1, width=16, **public)
    return Attack(
        name=name,
        family="sparse-vector",
        worlds=lambda: (data_in, data_out),
        parameters=parameters,
        event=OneOf((looked_for,)),
        statistic=first_positive,
        breaks=(breaks,),
        source=SOURCE,
        description=f"{description}; ({m} × 0, {c} × 1) with Alice, ({m} × 1, {c} × 0) without",
        axis=FIRST_POSITIVE,
    )
