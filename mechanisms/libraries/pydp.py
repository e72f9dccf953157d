"""PyDP (https://github.com/OpenMined/PyDP), which wraps Google's C++ library.

Laplace noise is an integer times a granularity, the least power of two that is not below the scale's 2^−40th part, and
the value is rounded to a multiple of it: at scale 1 every outcome lies on 2^−40, whatever the value.
Source: Google Differential Privacy Team, "Secure Noise Generation", 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
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
from subnormal.mechanisms.privacy import Claim

PACKAGE = "python-dp"


@lru_cache(maxsize=64)
def _laplace(parameters: LaplaceParameters) -> Any:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    return LaplaceMechanism(parameters.epsilon, parameters.sensitivity)


@lru_cache(maxsize=64)
def _gaussian(parameters: GaussianParameters) -> Any:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    return GaussianMechanism.create_from_standard_deviation(parameters.sigma)


def _member(family: str, mechanism_of: Callable[[Any], Any], claim: Callable[..., Claim]) -> Mechanism[Data, Any, Any]:
    def sample(data: Data, parameters: Any, bits: BitSource, n: int) -> Outcomes:
        mechanism = mechanism_of(parameters)
        return released(lambda number: mechanism.add_noise(float(number)), data, n, np.float64)

    options: Any = {"seeded": False, "package": PACKAGE, "runs": up_to(80_000), "takes": takes_numbers}
    return Mechanism(f"pydp-{family}", family, sample, claim, **options)


LAPLACE = _member("laplace", _laplace, laplace_claim)
GAUSSIAN = _member("gaussian", _gaussian, gaussian_claim)
