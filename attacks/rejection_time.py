"""Rejection time: a sampler that draws until a draw is accepted takes longer where the total weight is small.

Source: Ilvento 2020, Section 3.3 and Figure 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attacks.attack import Attack, Cost, index_statistic, named
from mechanisms.exponential import ExponentialParameters, Limits
from mechanisms.privacy import Eta, selection_claim

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 3.3 and Figure 9: the number of tries takes time"


def rejection_time(outcomes: int = 256) -> Attack[Any, Any, int]:
    """Return the attack: in (0, 1, …, 1), out (1, …, 1), at η = 1, with 2^k outcomes.

    Without Alice the total weight is 2^(k−1), and every candidate is accepted. With her it is half a unit more, so that
    candidates come from [0, 2^k) and nearly half of them are rejected: a try more takes time. No claim covers that.
    """
    if outcomes < 2 or outcomes & (outcomes - 1):
        raise ValueError(f"outcomes must be a power of two and at least 2, got {outcomes}")

    def worlds() -> tuple[Any, Any]:
        data_in, data_out = np.ones(outcomes, dtype=np.int64), np.ones(outcomes, dtype=np.int64)
        data_in[0] = 0
        return data_in, data_out

    half = outcomes // 2
    return Attack(
        named("rejection-time", outcomes=(outcomes, 256)),
        "exponential",
        worlds,
        ExponentialParameters(selection_claim(Eta(1, 1, 1)).epsilon, Limits(0, 1, outcomes)),
        None,
        index_statistic,
        ("exponential-base2",),
        SOURCE,
        f"total weights of {half}.5 with Alice and of {half} without: with her, half of all tries are in vain",
        ("exponential-base2-ten-tries", "exponential-exact"),
        Cost.DEFAULT,
        "time",
    )
