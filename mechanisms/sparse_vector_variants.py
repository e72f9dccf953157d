"""Sparse vector as it was published and proved wrongly: Algorithms 3 to 6 of Lyu, Su and Li. Each claims ε falsely.

The noise is discrete Laplace noise on a grid, in base e and exact, so what is broken is the algorithm and not its
arithmetic. On the grid ρ has weights e^(−r₁|k|) and ν has e^(−r₂|k|); ⊤ is ν ≥ ρ − q with q = query − threshold.

| Algorithm | after | ε₁ | ρ | ν | stops | releases |
|---|---|---|---|---|---|---|
| 3 | Roth's lecture notes, 2011 | ε/2 | Lap(Δ/ε₁) | Lap(cΔ/ε₂) | at c | the noisy value with ⊤ |
| 4 | Lee and Clifton, KDD 2014 | ε/4 | Lap(Δ/ε₁) | Lap(Δ/ε₂) | at c | |
| 5 | Stoddard et al., 2014 | ε/2 | Lap(Δ/ε₁) | none | never | |
| 6 | Chen et al., KDD 2015 | ε/2 | Lap(Δ/ε₁) | Lap(Δ/ε₂) | never | |

Source: Lyu, Su, Li 2017 (arXiv:1603.01699), Figure 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from mechanisms import discrete, laplace_exact, sparse_vector_law
from mechanisms.arithmetic import rational
from mechanisms.bits import BitSource
from mechanisms.interface import Mechanism
from mechanisms.law import Law
from mechanisms.sparse_vector import (
    BELOW,
    Answers,
    Number,
    Queries,
    SparseVectorParameters,
    answered,
    claim,
    on_grid,
    outcomes,
)
from mechanisms.sparse_vector_law import Answer, Weights
from mechanisms.undecided import weight_bounds

PRECISION = 256  # bits of an enclosure
REACH = 32  # nats: how far beyond the queries a law goes cell by cell, e^−32 of the noise being left


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table. answer_scale: the scale of ν in units of Δ/ε₂, from c; None: no ν."""

    threshold_share: Fraction
    answer_scale: Callable[[int], int] | None
    stops: bool
    releases: bool

    def rates(self, parameters: SparseVectorParameters) -> tuple[Fraction, Fraction | None]:
        """Return r₁ and r₂, in nats a step of the grid."""
        a_step = rational("epsilon", parameters.epsilon) / parameters.apart
        if self.answer_scale is None:
            return self.threshold_share * a_step, None
        return self.threshold_share * a_step, (1 - self.threshold_share) * a_step / self.answer_scale(
            parameters.positives
        )

    def positives(self, parameters: SparseVectorParameters) -> int | None:
        """Return how many ⊤ there are at the most, None where nothing stops it."""
        return parameters.positives if self.stops else None


def sample(
    variant: Variant, data: Queries, parameters: SparseVectorParameters, bits: BitSource, n: int
) -> list[Answers]:
    """Return n outcomes of exactly the variant's algorithm: 0, and 1 or (1, noisy value)."""
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    threshold_rate, answer_rate = variant.rates(parameters)

    def answer(noisy: NDArray[np.int64], query: int) -> NDArray[np.int64]:
        drawn = np.zeros_like(noisy) if answer_rate is None else discrete.laplace(answer_rate).draw(bits, len(noisy))
        return np.where(drawn >= noisy - query, query + drawn if variant.releases else 0, BELOW)

    noisy = discrete.laplace(threshold_rate).draw(bits, n)
    codes = answered(on_grid(data, parameters), noisy, answer, variant.positives(parameters))
    return outcomes(codes, _positive(variant, parameters))


def law(variant: Variant, data: Queries, parameters: SparseVectorParameters) -> Law[Answers]:
    """Return enclosures of the distribution of `sample`. Raises NoLawError where there are more than 2^14 outcomes.

    ρ is summed cell by cell up to REACH nats beyond the queries and 0. All that lies below is one cell more, and so is
    what lies above: its mass has a closed form, and no answer is more or less likely there than at its end and at ±∞.
    Noisy values are named as far; the others are the law's `rest`.
    """
    queries = on_grid(data, parameters)
    threshold_rate, answer_rate = variant.rates(parameters)
    reach = ceil(REACH / min(threshold_rate, answer_rate or threshold_rate))
    first, last = min(0, *queries) - reach, max(0, *queries) + reach
    noise = laplace_exact.law(0, 1 / threshold_rate, lower=first, upper=last, precision=PRECISION)
    prior = Weights(np.array(noise.low, dtype=object), np.array(noise.high, dtype=object))
    positive, told = _positive(variant, parameters), []
    for query in queries:
        above = _reached(answer_rate, query, first, last)
        below = Weights((1 << PRECISION) - above.high, (1 << PRECISION) - above.low)
        answers = [Answer((0,), False, below)]
        if variant.releases and answer_rate is not None:
            answers += [
                Answer(positive(value), True, _released(answer_rate, query, value, first, last))
                for value in range(first + 1, last)
            ]
        else:
            answers.append(Answer(positive(0), True, above))
        told.append(answers)
    return sparse_vector_law.law(prior, noise.denominator, told, 1 << PRECISION, variant.positives(parameters))


def _reached(rate: Fraction | None, query: int, first: int, last: int) -> Weights:
    """Return bounds on P(ν ≥ ρ − q) in each cell, the first and the last of which hold all that lies beyond."""
    one = 1 << PRECISION
    if rate is None:
        certain = np.array([one * (query >= rho) for rho in range(first, last + 1)], dtype=object)
        return Weights(certain, certain)
    bounds = [at_least(rate, rho - query) for rho in range(first, last + 1)]
    low, high = (np.array(side, dtype=object) for side in zip(*bounds, strict=True))
    high[0], low[-1] = one, 0
    return Weights(low, high)


def _released(rate: Fraction, query: int, value: int, first: int, last: int) -> Weights:
    """Return bounds on P(q + ν = value and value ≥ ρ) in each cell."""
    low, high = mass(rate, value - query)
    # Of the first cell all is reached, and of the last one nothing, as first < value < last.
    reached = (np.arange(first, last + 1) <= value).astype(object)
    return Weights(reached * low, reached * high)


def at_least(rate: Fraction, steps: int) -> tuple[int, int]:
    """Return bounds on 2^PRECISION·P(ν ≥ steps): q^steps/(1+q) for steps ≥ 0, and the complement below."""
    one = 1 << PRECISION
    if steps <= 0:
        low, high = at_least(rate, 1 - steps)
        return one - high, one - low
    q_low, q_high = weight_bounds(rate, Fraction(1), PRECISION)
    low, high = weight_bounds(rate, Fraction(steps), PRECISION)
    return low * one // (one + q_high), -(-high * one // (one + q_low))


def mass(rate: Fraction, steps: int) -> tuple[int, int]:
    """Return bounds on 2^PRECISION·P(ν = steps) = (1−q)/(1+q)·q^|steps|."""
    one = 1 << PRECISION
    q_low, q_high = weight_bounds(rate, Fraction(1), PRECISION)
    low, high = weight_bounds(rate, Fraction(abs(steps)), PRECISION)
    return low * (one - q_high) // (one + q_high), -(-high * (one - q_low) // (one + q_low))


def _positive(variant: Variant, parameters: SparseVectorParameters) -> Callable[[int], Answers]:
    """Return what is written for a ⊤ by the noisy value above the threshold, in steps."""

    def value(steps: int) -> Number:
        exact = rational("threshold", parameters.threshold) + steps * Fraction(2) ** parameters.grid
        return int(exact) if exact.denominator == 1 else float(exact)

    return lambda steps: (1, value(steps)) if variant.releases else (1,)


def _member(number: int, variant: Variant) -> Mechanism[Queries, SparseVectorParameters, Answers]:
    def sample_member(data: Queries, parameters: SparseVectorParameters, bits: BitSource, n: int) -> list[Answers]:
        return sample(variant, data, parameters, bits, n)

    def law_member(data: Queries, parameters: SparseVectorParameters) -> Law[Answers]:
        return law(variant, data, parameters)

    return Mechanism(f"sparse-vector-algorithm-{number}", "sparse-vector", sample_member, claim, law_member)


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

ALGORITHM_3 = _member(3, Variant(HALF, lambda positives: positives, stops=True, releases=True))
ALGORITHM_4 = _member(4, Variant(QUARTER, lambda positives: 1, stops=True, releases=False))
ALGORITHM_5 = _member(5, Variant(HALF, None, stops=False, releases=False))
ALGORITHM_6 = _member(6, Variant(HALF, lambda positives: 1, stops=False, releases=False))
