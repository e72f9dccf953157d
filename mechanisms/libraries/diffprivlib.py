"""IBM's diffprivlib (https://github.com/IBM/differential-privacy-library): noise in floats, and snapping.

Laplace and Gaussian noise are sums of several variates (Holohan & Braghin 2021, arXiv:2107.10138), which cannot be
inverted; the sum of value and noise is a float sum. All mechanisms draw from the system's randomness.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from subnormal.mechanisms.additive.family import (
    Data,
    GaussianParameters,
    LaplaceParameters,
    gaussian_claim,
    laplace_claim,
)
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes
from subnormal.mechanisms.core.validation import Utilities, epsilon_claim
from subnormal.mechanisms.exponential.family import ExponentialParameters
from subnormal.mechanisms.libraries import (
    Additive,
    drawn,
    released,
    takes_integers,
    takes_numbers,
    takes_utilities,
    up_to,
)

PACKAGE = "diffprivlib"

Sample = Callable[[Data, Any, BitSource, int], Outcomes]


def _noise(kind: str, options: Callable[[Any], dict[str, Any]], outcome: DTypeLike = np.float64) -> Sample:
    """options returns the keyword arguments of the class."""

    def sample(data: Data, parameters: Any, bits: BitSource, n: int) -> Outcomes:
        mechanism = _built(kind, tuple(options(parameters).items()))
        return released(mechanism.randomise, data, n, outcome)

    return sample


@lru_cache(maxsize=64)
def _built(kind: str, options: tuple[tuple[str, Any], ...]) -> Any:
    from diffprivlib import mechanisms

    return getattr(mechanisms, kind)(**dict(options))


def _laplace_options(parameters: LaplaceParameters) -> dict[str, Any]:
    return {"epsilon": parameters.epsilon, "sensitivity": parameters.sensitivity}


def _snapping_options(parameters: LaplaceParameters) -> dict[str, Any]:
    return _laplace_options(parameters) | {"lower": parameters.lower, "upper": parameters.upper}


def _geometric_options(parameters: LaplaceParameters) -> dict[str, Any]:
    return {"epsilon": parameters.epsilon, "sensitivity": int(parameters.sensitivity)}


def _gaussian_options(parameters: GaussianParameters) -> dict[str, Any]:
    """The library takes no σ: it gets the claim's ε and δ, and computes its own σ."""
    claimed = gaussian_claim(parameters, 0, 0)
    return {"epsilon": claimed.epsilon, "delta": claimed.delta, "sensitivity": parameters.sensitivity}


def _discrete_gaussian_options(parameters: GaussianParameters) -> dict[str, Any]:
    return _gaussian_options(parameters) | {"sensitivity": int(parameters.sensitivity)}


def _exponential(data: Utilities, parameters: ExponentialParameters, bits: BitSource, n: int) -> Outcomes:
    """Negated, as higher is better there; the library subtracts the best utility itself."""
    from diffprivlib import mechanisms

    utility = [-utility for utility in data.tolist()]
    mechanism = mechanisms.Exponential(epsilon=parameters.epsilon, sensitivity=parameters.sensitivity, utility=utility)
    return drawn(mechanism.randomise, n, np.int64)


def _sum(data: Data, parameters: LaplaceParameters, bits: BitSource, n: int) -> Outcomes:
    """tools.sum: clips to the records' bounds, sums as numpy does, adds Laplace noise, clips to what a sum can be."""
    from diffprivlib import tools

    return drawn(lambda: tools.sum(data, epsilon=parameters.epsilon, bounds=parameters.record_bounds), n, np.float64)


def _takes_records(data: Data, parameters: LaplaceParameters) -> bool:
    """The library takes the difference of the bounds for the sensitivity: nothing else would be its claim."""
    if parameters.query != "sum" or parameters.record_bounds is None or np.ndim(data) != 1:
        return False
    low, high = map(Fraction, parameters.record_bounds)
    return high - low == Fraction(parameters.sensitivity)


_member: partial[Mechanism[Any, Any, Any]] = partial(Mechanism, seeded=False, package=PACKAGE)


def _additive(
    name: str,
    family: str,
    sample: Sample,
    runs: Callable[[Data, Additive], int],
    takes: Callable[[Data, Any], bool] = takes_numbers,
) -> Mechanism[Data, Any, Any]:
    promised: Any = laplace_claim if family == "laplace" else gaussian_claim
    return _member(name, family, sample, promised, runs=runs, takes=takes)


LAPLACE = _additive("diffprivlib-laplace", "laplace", _noise("Laplace", _laplace_options), up_to(40_000))
SNAPPING = _additive("diffprivlib-snapping", "laplace", _noise("Snapping", _snapping_options), up_to(20_000))
GEOMETRIC = _additive(
    "diffprivlib-geometric", "laplace", _noise("Geometric", _geometric_options, np.int64), up_to(40_000), takes_integers
)
SUM = _additive("diffprivlib-sum", "laplace", _sum, lambda data, parameters: 4_000, _takes_records)
GAUSSIAN = _additive("diffprivlib-gaussian", "gaussian", _noise("GaussianAnalytic", _gaussian_options), up_to(30_000))
DISCRETE_GAUSSIAN = _additive(
    "diffprivlib-gaussian-discrete",
    "gaussian",
    _noise("GaussianDiscrete", _discrete_gaussian_options, np.int64),
    up_to(20_000),
    takes_integers,
)
EXPONENTIAL = _member(
    "diffprivlib-exponential",
    "exponential",
    _exponential,
    epsilon_claim,
    runs=up_to(500_000, 100),
    takes=takes_utilities,
)
