"""Discrete Gaussian noise after Canonne, Kamath and Steinke, by counting trials: exact, but its time grows with it.

A candidate is discrete Laplace noise of scale t = ⌊σ⌋ + 1, its magnitude the number of Bernoulli(e^(−1/t)) trials that
succeed before the first that fails. It is kept with probability e^(−(|z| − σ²/t)²/(2σ²)), else drawn anew. The outcome
has the law of gaussian_exact. The number of trials reveals the noise up to its sign where the first candidate was kept,
and always bounds its magnitude from above. The number of candidates reveals nothing.

There is no law of traces, because rejected candidates add trials of their own.
Sources: Canonne, Kamath, Steinke 2020, Algorithm 3 (its magnitude counted directly); Jin, McMurtry, Rubinstein,
Ohrimenko 2021 (arXiv:2112.05307), the timing attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.clamped_noise import clamped, on_grid, sample_of_each
from subnormal.mechanisms.additive.family import Data, GaussianParameters, exact_values, gaussian_claim
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.gaussian.exact import member_sigma, variance_of
from subnormal.mechanisms.samplers.bernoulli import RUNS, bernoulli_exp, count_trials

SIGMA_MAX = 1 << 10  # steps of a member's σ: work grows with it


@dataclass(frozen=True, slots=True)
class GaussianTrials:
    """Noise by rejection from counted trials, P(Z = z) ∝ e^(−z²/(2σ²))."""

    variance: Fraction

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,). A try is a candidate, −0 included."""
        return np.array([self._one(bits) for _ in range(n)], dtype=np.int64)

    def _one(self, bits: BitSource) -> int:
        scale = isqrt(floor(self.variance)) + 1
        rate = Fraction(1, scale)
        while True:
            bits.tries += 1
            magnitude = count_trials(lambda: _bernoulli(rate, bits), bits)
            negative = bits.take(1)
            if negative and magnitude == 0:
                continue
            if _bernoulli((magnitude - self.variance / scale) ** 2 / (2 * self.variance), bits):
                return -magnitude if negative else magnitude


def _bernoulli(exponent: Fraction, bits: BitSource) -> bool:
    """Return True with probability e^−exponent. One word, hardly ever more."""
    return bernoulli_exp(exponent, bits, bits.take(bits.word_bits), bits.word_bits)


def sample(
    value: float | Fraction,
    sigma: float | Fraction,
    bits: BitSource,
    n: int,
    *,
    grid: int = 0,
    lower: float | Fraction | None = None,
    upper: float | Fraction | None = None,
) -> NDArray[Any]:
    """Return n noisy values with the law of gaussian_exact.sample, shape (n,). Leaks: steps, |Z| + 1 at least.

    Raises ValueError for a negative n.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> bits = seeded_bits(1)
    >>> sample(3, 10.0, bits, 1).tolist(), bits.tries, bits.steps
    ([12], 1, 10)
    """
    return clamped(GaussianTrials(variance_of(sigma, grid)), bits, n, grid, *on_grid(value, grid, lower, upper))


def _runs(data: Data, parameters: GaussianParameters) -> int:
    sigma = member_sigma(parameters, len(exact_values(data, parameters.query)))
    return RUNS if variance_of(sigma, parameters.grid) <= SIGMA_MAX**2 else 0


TEXTBOOK: Mechanism[Data, GaussianParameters, Any] = Mechanism(
    "gaussian-textbook",
    "gaussian",
    sample_of_each(sample, member_sigma),
    gaussian_claim,
    gaussian_exact.EXACT.law,
    runs=_runs,
    variant_of="gaussian-exact",
)
