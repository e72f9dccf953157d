"""The family `randomized-response`: each person reports a category, the true one or another at random.

Data: one person's category, an index from 0 to k − 1. Outcome: the category reported. There is no curator (the local
model), so any two categories are adjacent, and the claim is P[y|x] ≤ e^ε·P[y|x'] for every report y.

With probability e^ε/(e^ε + k − 1) the report is the truth, else one of the other k − 1 categories, all equally likely.
Every category has the same normaliser e^ε + k − 1, so the largest loss is the ratio of two weights: exactly ε. This is
the exponential mechanism with utility 0 for the truth and 1 for the others. Its general analysis would say 2ε, because
it lets the normaliser change with the data.

Sources: Warner 1965 (JASA 60), for k = 2; Kairouz, Bonawitz, Ramage 2016 (ICML, arXiv:1602.07387), for any k, as k-RR.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from subnormal.mechanisms.core.domain import Domain, box, options_text
from subnormal.mechanisms.core.mechanism import Family, NoLawError
from subnormal.mechanisms.core.validation import epsilon_claim, is_integer
from subnormal.mechanisms.privacy import require_positive

LAW_CATEGORIES_MAX = 1 << 22  # of which a law holds a few arrays


@dataclass(frozen=True, slots=True)
class RandomizedResponseParameters:
    """What is public: the budget ε (nats) and the number of categories k ≥ 2."""

    epsilon: float
    categories: int

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_categories(self.categories)


def require_categories(categories: int) -> None:
    """Raise ValueError unless this is an integer of at least 2."""
    if not is_integer(categories) or categories < 2:
        raise ValueError(f"categories must be an integer of at least 2, got {categories!r}")


def require_law(categories: int) -> None:
    """Raise NoLawError for more categories than a law names."""
    if categories > LAW_CATEGORIES_MAX:
        raise NoLawError(f"{categories} categories are more than {LAW_CATEGORIES_MAX}")


def require_category(category: int, categories: int) -> None:
    """Raise ValueError unless the category is an integer from 0 to categories − 1."""
    require_categories(categories)
    if not _is_category(category, categories):
        raise ValueError(f"category must be an integer from 0 to {categories - 1}, got {category!r}")


def adjacent(parameters: RandomizedResponseParameters, data_in: int, data_out: int) -> bool:
    """Return whether both are categories: in the local model any two are adjacent."""
    return all(_is_category(one, parameters.categories) for one in (data_in, data_out))


def _is_category(value: object, categories: int) -> bool:
    return is_integer(value) and 0 <= value < categories


def all_categories(categories: int = 1001, epsilon: float = 1.0) -> Domain[int, RandomizedResponseParameters]:
    """Return the domain of all categories, of which any two are neighbours."""
    parameters = RandomizedResponseParameters(epsilon, categories)
    points = box(0, categories - 1, 1)
    return Domain(
        options_text("categories", categories=categories, epsilon=epsilon),
        parameters,
        points,
        lambda point: int(point[0]),
        lambda point: np.delete(points, int(point[0]), axis=0),
    )


FAMILY: Family[int, RandomizedResponseParameters] = Family(
    name="randomized-response",
    parameters=RandomizedResponseParameters,
    adjacent=adjacent,
    claim=epsilon_claim,
    members=(
        "subnormal.mechanisms.randomized_response.naive:FLOAT64",
        "subnormal.mechanisms.randomized_response.naive:FLOAT32",
        "subnormal.mechanisms.randomized_response.naive:FLOAT16",
        "subnormal.mechanisms.randomized_response.exact:BASE2",
        "subnormal.mechanisms.randomized_response.exact:BASE_E",
    ),
    domain=all_categories,
    order=8,
)
