"""The textbook's sparse vector technique in floats, as people write it. Not private.

ρ ~ Lap(Δ/ε₁), ν ~ Lap(2cΔ/ε₂) for each query, ⊤ where query + ν ≥ threshold + ρ, until the c-th. The algorithm is the
sound one; what breaks it are the sums, rounded to float64. The noise is laplace_naive's, which is numpy's: 53 bits of a
uniform, the first of them for the sign.
Source: Lyu, Su, Li 2017 (arXiv:1603.01699), Algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.family import as_fractions
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.sparse_vector.family import (
    BELOW,
    Answers,
    Queries,
    SparseVectorParameters,
    answered,
    outcomes,
)

Floats = NDArray[np.float64]


def scales(parameters: SparseVectorParameters) -> tuple[float, float]:
    """Return the scales of ρ and of ν, as floats divide."""
    first = float(parameters.epsilon) * float(parameters.threshold_share)
    second = float(parameters.epsilon) - first
    sensitivity = float(parameters.sensitivity)
    return sensitivity / first, 2 * parameters.positives * sensitivity / second


def sample(data: Queries, parameters: SparseVectorParameters, bits: BitSource, n: int) -> list[Answers]:
    """Return n outcomes of 0 and 1. Leaks: everything that this project is about.

    Raises ValueError for a negative n.
    """
    require_draws(n)
    threshold_scale, answer_scale = scales(parameters)
    noisy = float(parameters.threshold) + laplace_naive.sample(0.0, threshold_scale, bits, n)

    def answer(noisy: Floats, query: float) -> NDArray[np.int64]:
        above = query + laplace_naive.sample(0.0, answer_scale, bits, len(noisy)) >= noisy
        return np.where(above, 1, BELOW)

    return outcomes(answered(_floats(data), noisy, answer, parameters.positives))


def law(data: Queries, parameters: SparseVectorParameters) -> Law[Answers]:
    """Return the law where every noise gives the same answers. Raises NoLawError where not.

    The noise of this sampler is bounded, and float sums are monotone: the extreme sums decide for all strings of bits.
    """
    threshold_scale, answer_scale = scales(parameters)
    lowest, highest = (float(parameters.threshold) + side * _largest(threshold_scale) for side in (-1, 1))
    answers: list[int] = []
    for query in _floats(data):
        least, most = (query + side * _largest(answer_scale) for side in (-1, 1))
        if not (least >= highest or most < lowest):
            raise NoLawError("the answers depend on the noise: 2^53 strings of bits a draw")
        answers.append(int(least >= highest))
        if sum(answers) == parameters.positives:
            break
    return exact_law([tuple(answers)], [1], [1], 1)


def _largest(scale: float) -> float:
    """Return the largest magnitude of the sampler's noise: that of the least uniform."""
    width = laplace_naive.default_uniform_bits(np.float64)
    return float(laplace_naive.noise(np.array([1]), scale, float_type=np.float64, uniform_bits=width)[0])


def _floats(data: Queries) -> list[float]:
    as_fractions(data)  # for its errors
    floats: list[float] = data.astype(np.float64).tolist()
    return floats


FLOAT64: Mechanism[Queries, SparseVectorParameters, Answers] = Mechanism(
    "sparse-vector-naive", "sparse-vector", sample, epsilon_claim, law
)
