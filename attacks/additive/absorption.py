"""Absorption: a large integer is rounded to a float before the noise, and neighbours become floats 256 apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack, named, number_statistic
from subnormal.attacks.core.constructor import Constructor
from subnormal.attacks.core.events import Between
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.core.mechanism import Outcomes

SOURCE = "IEEE 754: binary64 holds every integer up to 2^53, and beyond 2^60 every 256th"
COUNT = (1 << 60) + 128  # halfway between two float64, 256 apart; a tie goes to the even one, 2^60
MARGIN = 384  # on both sides of the count without Alice: what exact members clamp to, between floats


def absorption(epsilon: float = 1.0) -> Attack[Any, Any, float]:
    """Return the attack: with Alice the count is 2^60 + 129, rounded up; without her it is 2^60 + 128, rounded down.

    The counts become the floats 2^60 + 256 and 2^60. Near 2^60 floats lie 128 apart below and 256 apart above, so noise
    below 64 is absorbed. Float64 noise is at most 37Δ/ε, so for ε ≥ 0.58 each world has a single outcome. The event is
    that the outcome, as a float64, exceeds 2^60; an integer outcome is then at least 2^60 + 129.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    parameters = LaplaceParameters(epsilon=epsilon, grid=0, lower=float(COUNT - MARGIN), upper=float(COUNT + MARGIN))
    return Attack(
        name=named("absorption", epsilon=(epsilon, 1.0)),
        family="laplace",
        worlds=lambda: (COUNT + 1, COUNT),
        parameters=parameters,
        event=Between(COUNT + 1, np.inf),
        statistic=_beyond,
        breaks=("laplace-naive-float64",),
        source=SOURCE,
        description=(
            "the count is 2^60 + 129 with Alice, 2^60 + 128 without: as float64 they are 256 apart and absorb the noise"
        ),
        axis="outcome − 2^60",
    )


def _beyond(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return how far outcomes lie beyond 2^60: exactly for the integers and floats around it, −∞ for a refusal."""
    if isinstance(outcomes, np.ndarray):
        wide = outcomes.astype(np.float64) if outcomes.dtype.kind == "f" else outcomes  # a float16 has no 2^60
        return np.asarray(wide - wide.dtype.type(1 << 60), dtype=np.float64)
    return number_statistic(outcomes) - 2.0**60


CONSTRUCTORS = (Constructor("absorption", absorption),)
