"""Randomized response, exactly: a weight of 1 for the truth and of 2^−η, or e^−ε, for every other category.

It is the exponential mechanism with utility 0 for the truth and 1 for the others, drawn by `exponential_exact`. The
largest loss is the ratio of the two weights, η·ln 2 ≤ ε in base 2 and ε itself in base e: half of what the general
analysis of selection would allow for, because the normaliser is the same for every category.

Leaks: what a draw of `exponential_exact` does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, Powers
from subnormal.mechanisms.core.mechanism import Mechanism, of_member
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.privacy import Eta, noise_eta
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters, require_category, require_law

HALF = 0.5  # the sensitivity at which selection, whose rate is ε/(2Δ), spends the whole budget on one unit of utility


def utilities(category: int, categories: int) -> NDArray[np.int64]:
    """Return 0 for the true category and 1 for every other, int64 of shape (categories,)."""
    require_category(category, categories)
    vector = np.ones(categories, dtype=np.int64)
    vector[category] = 0
    return vector


def sample(category: int, rate: Eta | float, bits: BitSource, n: int, *, categories: int) -> NDArray[np.int64]:
    """Return n reports of the category, int64 of shape (n,).

    The truth is 2^η (with an Eta) or e^ε (with a budget in nats) times as likely as any other category, exactly.
    """
    return exponential_exact.sample(utilities(category, categories), rate, bits, n, sensitivity=HALF)


def law(category: int, rate: Eta | float, *, categories: int) -> Law[int]:
    """Return the distribution of `sample`: exact with an Eta, an enclosure in base e.

    In base e a report has the probability e^(−ε·u)/(1 + (k − 1)·e^−ε), the denominator being the same for every
    category: losses that are attained with equality are decided by comparing exponents. Raises NoLawError for more than
    2^22 categories.
    """
    require_law(categories)
    vector = utilities(category, categories)
    enclosure = exponential_exact.law(vector, rate, sensitivity=HALF)
    if isinstance(rate, Eta):
        return enclosure
    exponents = vector[np.asarray(enclosure.ends, dtype=np.int64) - 1]
    return dataclasses.replace(enclosure, powers=Powers(Fraction(rate), exponents, np.full_like(exponents, categories)))


def _member(
    name: str, rate_of: Callable[[RandomizedResponseParameters], Eta | float]
) -> Mechanism[int, RandomizedResponseParameters, int]:
    def arguments(parameters: RandomizedResponseParameters) -> tuple[Eta | float, dict[str, Any]]:
        return rate_of(parameters), {"categories": parameters.categories}

    own_sample, own_law = of_member(sample, arguments), of_member(law, arguments)
    return Mechanism(name, "randomized-response", own_sample, epsilon_claim, own_law, exact=True)


BASE2 = _member("randomized-response-exact", lambda parameters: noise_eta(parameters.epsilon))
BASE_E = _member("randomized-response-exact-base-e", lambda parameters: parameters.epsilon)
