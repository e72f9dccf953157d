"""Normals of an array library with an exact law: every word that makes one goes through the library itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from subnormal.mechanisms.additive.family import Data, GaussianParameters, gaussian_claim, require_number
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes
from subnormal.mechanisms.gaussian.low_precision import KEPT, law_of_sums
from subnormal.mechanisms.libraries import Additive, takes_numbers
from subnormal.mechanisms.samplers.float_normals import Floats, FloatType, counted


def enumerated(
    package: str,
    float_type: FloatType,
    draw: Callable[[BitSource, int, tuple[int, ...], FloatType], Any],
    every: Callable[[FloatType], Floats],
    noisy: Callable[[Data, float, Any, FloatType], Floats],
    takes: Callable[[Data, Additive], bool] = takes_numbers,
) -> Mechanism[Data, GaussianParameters, Any]:
    """Return the member that releases data + σ·normal in a float type. The claim takes the normals for real ones.

    draw(bits, n, shape, float_type): the library's normals, of shape (n, *shape), its generator seeded by our bits.
    every(float_type): the normal of every word, all equally likely; NoLawError where there are too many.
    noisy(data, sigma, normals, float_type): the library's sum, as float32; it never decreases in the normal.
    """

    @lru_cache(maxsize=KEPT)
    def law_of_number(value: float, sigma: float) -> Law[float]:
        distinct, counts = counted(every(float_type))
        return law_of_sums(noisy(value, sigma, distinct.astype(np.float32), float_type), counts, int(counts.sum()))

    def sample(data: Data, parameters: GaussianParameters, bits: BitSource, n: int) -> Outcomes:
        return noisy(data, parameters.sigma, draw(bits, n, np.shape(data), float_type), float_type)

    def law(data: Data, parameters: GaussianParameters) -> Law[float]:
        require_number(data, parameters.query)
        return law_of_number(float(np.asarray(data)), float(parameters.sigma))

    name = f"{package}-normal-{float_type}"
    return Mechanism(name, "gaussian", sample, gaussian_claim, law, package=package, takes=takes)
