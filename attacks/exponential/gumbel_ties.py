"""Gumbel ties: noise on a lattice ties, however small the difference of two scores, and the first candidate wins.

The data are two groups of k equal scores, the second moved by Δ. In real numbers a group's probability moves by
tanh(ε/4)/2. On 2^b uniforms the largest of k is the i-th from the top with probability r^i·(1 − r), i = 0, 1, …, where
r = (1 − 2^−b)^k ≈ e^(−k/2^b), up to the ends of the lattice. The largest of both groups tie with probability
(1 − r)²/(1 − r²) = tanh(k/2^(b+1)). The lattice points there lie about k/2^b apart. The scores move by ε/2, which is
less, so the second group wins all these ties and gains their probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from subnormal.attacks.core.attack import AnyAttack, Attack, index_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.privacy import require_positive

SOURCE = "report noisy max with 24-bit uniforms; derived by Subnormal"
USUAL_EPSILON = 2e-4  # scores move by half of it, in units of the noise
USUAL_GROUP = 1 << 20
UNIFORMS = 1 << 24


@constructor("gumbel-ties")
def gumbel_ties(name: str, epsilon: float = USUAL_EPSILON, group: int = USUAL_GROUP) -> AnyAttack:
    """Return the attack on float32: in (1, …, 1), both groups tie; out (1, …, 1, 0, …, 0), the second is better.

    The event is an outcome of the first group. Its advantage is tanh(group/2^25); the claim allows tanh(ε/2).
    Raises ValueError for an ε at which the claim allows more.
    """
    require_positive("epsilon", epsilon)
    if group < 1:
        raise ValueError(f"group must be at least 1, got {group}")
    if epsilon * UNIFORMS >= group:
        raise ValueError(f"epsilon must be below group/2^24 = {group / UNIFORMS}, got {epsilon}")

    def worlds() -> tuple[Any, Any]:
        data_in = np.ones(2 * group, dtype=np.int64)
        data_out = data_in.copy()
        data_out[group:] = 0
        return data_in, data_out

    return Attack(
        name=name,
        family="exponential",
        worlds=worlds,
        parameters=ExponentialParameters(epsilon, Limits(0, 1, 2 * group)),
        event=Between(0, group - 1),
        statistic=index_statistic,
        breaks=("noisy-max-naive-float32",),
        source=SOURCE,
        description=(
            "two groups of equal scores, the second better by ε/2 without Alice: noise ties, and the first wins a tie"
        ),
        slow=True,
    )
