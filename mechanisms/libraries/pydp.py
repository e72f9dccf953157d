"""PyDP (https://github.com/OpenMined/PyDP), which wraps Google's C++ library.

Laplace noise is an integer times a granularity, the least power of two that is not below the scale's 2^−40th part, and
the value is rounded to a multiple of it: at scale 1 every outcome lies on 2^−40, whatever the value.
Source: Google Differential Privacy Team, "Secure Noise Generation", 2020.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from subnormal.mechanisms.additive.family import (
    Data,
    GaussianParameters,
    LaplaceParameters,
    gaussian_claim,
    laplace_claim,
)
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes
from subnormal.mechanisms.libraries import released, takes_numbers, up_to

PACKAGE = "python-dp"


def _laplace(data: Data, parameters: LaplaceParameters, bits: BitSource, n: int) -> Outcomes:
    mechanism = _laplace_mechanism(parameters.epsilon, parameters.sensitivity)
    return released(lambda number: mechanism.add_noise(float(number)), data, n, np.float64)


def _gaussian(data: Data, parameters: GaussianParameters, bits: BitSource, n: int) -> Outcomes:
    mechanism = _gaussian_mechanism(parameters.sigma)
    return released(lambda number: mechanism.add_noise(float(number)), data, n, np.float64)


@lru_cache(maxsize=64)
def _laplace_mechanism(epsilon: float, sensitivity: float) -> Any:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    return LaplaceMechanism(epsilon, sensitivity)


@lru_cache(maxsize=64)
def _gaussian_mechanism(sigma: float) -> Any:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    return GaussianMechanism.create_from_standard_deviation(sigma)


_member: partial[Mechanism[Any, Any, Any]] = partial(
    Mechanism, seeded=False, package=PACKAGE, runs=up_to(80_000), takes=takes_numbers
)

LAPLACE = _member("pydp-laplace", "laplace", _laplace, laplace_claim)
GAUSSIAN = _member("pydp-gaussian", "gaussian", _gaussian, gaussian_claim)
