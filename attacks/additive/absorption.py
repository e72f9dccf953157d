"""Absorption: a large integer is rounded to a float before the noise, and neighbours become floats far apart."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import AnyAttack, Attack, number_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between
from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters
from subnormal.mechanisms.core.mechanism import Outcomes

SOURCE = "IEEE 754: binary64 holds every integer up to 2^53, and beyond 2^60 every 256th"
COUNT = (1 << 60) + 128  # halfway between two float64, 256 apart; a tie goes to the even one, 2^60
SOURCE_FLOAT32 = "IEEE 754: binary32 holds every integer up to 2^24, and beyond 2^30 every 128th"
COUNT_FLOAT32 = (1 << 30) + 64  # the same in float32: a tie that goes to 2^30
MARGIN = 384  # on both sides of the count without Alice: what exact members clamp to


@constructor("absorption")
def absorption(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack: with Alice the count is 2^60 + 129, rounded up; without her it is 2^60 + 128, rounded down.

    The counts become the floats 2^60 + 256 and 2^60. Near 2^60 floats lie 128 apart below and 256 apart above, so noise
    below 64 is absorbed. Float64 noise is at most 37Δ/ε, so for ε ≥ 0.58 each world has a single outcome. The event is
    that the outcome, as a float64, exceeds 2^60; an integer outcome is then at least 2^60 + 129.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    parameters = LaplaceParameters(epsilon=epsilon, grid=0, lower=float(COUNT - MARGIN), upper=float(COUNT + MARGIN))
    return Attack(
        name=name,
        family="laplace",
        worlds=lambda: (COUNT + 1, COUNT),
        parameters=parameters,
        event=Between(COUNT + 1, np.inf),
        statistic=partial(_beyond, 1 << 60),
        breaks=("laplace-naive-float64",),
        source=SOURCE,
        description=(
            "the count is 2^60 + 129 with Alice, 2^60 + 128 without: as float64 they are 256 apart and absorb the noise"
        ),
        axis="outcome − 2^60",
    )


@constructor("absorption-gaussian")
def absorption_gaussian(name: str, sigma: float = 1.0) -> AnyAttack:
    """Return the attack on float32: with Alice the count is 2^30 + 65, rounded up; without her 2^30 + 64, rounded down.

    The counts become the floats 2^30 + 128 and 2^30. Near 2^30 floats lie 64 apart below and 128 apart above, so noise
    below 32 is absorbed. Float32 noise is at most 8.3σ: for σ ≤ 3 each world has a single outcome.

    sigma: the standard deviation. Raises ValueError unless it is positive and finite.
    """
    lower, upper = float(COUNT_FLOAT32 - MARGIN), float(COUNT_FLOAT32 + MARGIN)
    return Attack(
        name=name,
        family="gaussian",
        worlds=lambda: (COUNT_FLOAT32 + 1, COUNT_FLOAT32),
        parameters=GaussianParameters(sigma=sigma, delta=1e-6, grid=0, lower=lower, upper=upper),
        event=Between(COUNT_FLOAT32 + 1, np.inf),
        statistic=partial(_beyond, 1 << 30),
        breaks=("gaussian-ziggurat-float32", "gaussian-naive-float32"),
        source=SOURCE_FLOAT32,
        description=(
            "the count is 2^30 + 65 with Alice, 2^30 + 64 without: as float32 they are 128 apart and absorb the noise"
        ),
        axis="outcome − 2^30",
        slow=True,  # the ziggurat's law takes seconds
    )


def _beyond(origin: int, outcomes: Outcomes) -> NDArray[np.float64]:
    """Return how far outcomes lie beyond a power of two: exactly for numbers around it, −∞ for a refusal."""
    if isinstance(outcomes, np.ndarray):
        wide = outcomes.astype(np.float64) if outcomes.dtype.kind == "f" else outcomes  # a float16 has none so large
        return np.asarray(wide - wide.dtype.type(origin), dtype=np.float64)
    return number_statistic(outcomes) - float(origin)
