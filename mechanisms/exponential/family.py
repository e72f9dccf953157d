"""The family `exponential`: select an outcome by its utility, lower is better.

Data: a vector of utilities. Outcome: the index selected. Base 2 gives index i a weight of 2^(−η·u_i), base e one of
e^(−ε·u_i/(2Δ)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from subnormal.mechanisms.core.domain import DATA_MAX, Domain, box, by_moves, moves_within, options_text
from subnormal.mechanisms.core.mechanism import Family
from subnormal.mechanisms.core.pair_boxes import Cube
from subnormal.mechanisms.core.validation import INT64, Utilities, adjacent, epsilon_claim
from subnormal.mechanisms.privacy import require_positive

WORDS = 1 << 20  # that members which draw one for every outcome take in half a second
RUNS_MIN = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Public bounds, fixed before any data are seen: utilities are clamped to them, longer vectors are refused.

    Raises ValueError for bounds that are no 64-bit integers in order, and for max_outcomes below 1.
    """

    utility_min: int
    utility_max: int
    max_outcomes: int

    def __post_init__(self) -> None:
        for name in ("utility_min", "utility_max", "max_outcomes"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"{name} must be an integer, got {value!r}")
            if name != "max_outcomes" and not -INT64 <= value < INT64:
                raise ValueError(f"{name} must fit a signed 64-bit integer, got {value}")
        if self.utility_min > self.utility_max:
            raise ValueError(f"utility_min = {self.utility_min} must not be above utility_max = {self.utility_max}")
        if self.max_outcomes < 1:
            raise ValueError(f"max_outcomes must be at least 1, got {self.max_outcomes}")


@dataclass(frozen=True, slots=True)
class ExponentialParameters:
    """What is public about a selection: the budget ε (nats), the utilities' sensitivity Δ, and their limits."""

    epsilon: float
    limits: Limits
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)


def clamped(data: Utilities, parameters: ExponentialParameters) -> Utilities:
    """Return the utilities within the public limits (Ilvento 2020, Proposition 3.3)."""
    vector: Utilities = np.clip(data, parameters.limits.utility_min, parameters.limits.utility_max)
    return vector


def runs_of_words(data: Utilities, parameters: ExponentialParameters) -> int:
    """Return the runs of a member that draws a word for every outcome: 0 where so few would tell nothing."""
    runs = WORDS // max(1, len(data))
    return runs if runs >= RUNS_MIN else 0


def utilities(
    most: int = 11, outcomes: int = 4, epsilon: float = 1.0, sensitivity: int = 1
) -> Domain[Utilities, ExponentialParameters] | Cube[ExponentialParameters]:
    """Return the domain of all vectors of so many integer utilities from 0 to `most`."""
    text = options_text("utilities", most=most, outcomes=outcomes, epsilon=epsilon, sensitivity=sensitivity)
    parameters = ExponentialParameters(epsilon, Limits(0, most, outcomes), sensitivity)
    if (most + 1) ** min(outcomes, DATA_MAX.bit_length()) > DATA_MAX:
        return Cube(text, parameters, most, outcomes, sensitivity)
    points = box(0, most, outcomes)
    moves = moves_within(min(sensitivity, most), outcomes)
    return Domain(text, parameters, points, lambda point: point, by_moves(points, moves))


FAMILY: Family[Utilities, ExponentialParameters] = Family(
    name="exponential",
    parameters=ExponentialParameters,
    adjacent=adjacent,
    claim=epsilon_claim,
    members=(
        "subnormal.mechanisms.exponential.naive:FLOAT64",
        "subnormal.mechanisms.exponential.naive:FLOAT32",
        "subnormal.mechanisms.exponential.naive:FLOAT16",
        "subnormal.mechanisms.libraries.ml_dtypes:EXPONENTIAL_NAIVE_BFLOAT16",
        "subnormal.mechanisms.libraries.ml_dtypes:EXPONENTIAL_NAIVE_FLOAT8_E4M3FN",
        "subnormal.mechanisms.libraries.ml_dtypes:EXPONENTIAL_NAIVE_FLOAT8_E5M2",
        "subnormal.mechanisms.exponential.naive:POSITIVE",
        "subnormal.mechanisms.exponential.naive:SHIFTED",
        "subnormal.mechanisms.exponential.base2_side_channels:BASE2",
        "subnormal.mechanisms.exponential.exact:BASE2",
        "subnormal.mechanisms.exponential.exact:BASE_E",
        "subnormal.mechanisms.exponential.base2_side_channels:TEN_TRIES",
        "subnormal.mechanisms.exponential.base2_side_channels:BIT_BY_BIT",
        "subnormal.mechanisms.exponential.base2_side_channels:EARLY_STOP",
        "subnormal.mechanisms.exponential.base2_side_channels:ON_DEMAND",
        "subnormal.mechanisms.exponential.gumbel_max_naive:FLOAT64",
        "subnormal.mechanisms.exponential.gumbel_max_naive:FLOAT32",
        "subnormal.mechanisms.exponential.permute_and_flip:BASE2",
        "subnormal.mechanisms.libraries.opendp:NOISY_MAX",
        "subnormal.mechanisms.libraries.diffprivlib:EXPONENTIAL",
    ),
    domain=utilities,
    order=1,
)
