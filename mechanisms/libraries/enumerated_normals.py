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
from subnormal.mechanisms.samplers.float_normals import Floats, counted


def enumerated(
    name: str,
    package: str,
    draw: Callable[[BitSource, int, tuple[int, ...]], Any],
    every: Callable[[], Floats],
    noisy: Callable[[Data, float, Any], Floats],
    takes: Callable[[Data, Additive], bool] = takes_numbers,
) -> Mechanism[Data, GaussianParameters, Any]:
    """Return the member that releases data + σ·normal. The claim takes the normals for real ones.

    draw(bits, n, shape): the library's normals, of shape (n, *shape), its generator seeded by our bits. every(): the
    normal of every word, all equally likely; NoLawError where there are too many. noisy(data, sigma, normals): the
    library's sum, as float32; it never decreases in the normal.
    """

    @lru_cache(maxsize=KEPT)
    def law_of_number(value: float, sigma: float) -> Law[float]:
        distinct, counts = counted(every())
        return law_of_sums(noisy(value, sigma, distinct.astype(np.float32)), counts, len(every()))

    def sample(data: Data, parameters: GaussianParameters, bits: BitSource, n: int) -> Outcomes:
        return noisy(data, parameters.sigma, draw(bits, n, np.shape(data)))

    def law(data: Data, parameters: GaussianParameters) -> Law[float]:
        require_number(data, parameters.query)
        return law_of_number(float(np.asarray(data)), float(parameters.sigma))

    return Mechanism(name, "gaussian", sample, gaussian_claim, law, package=package, takes=takes)
