"""Sparse vector as it was published and proved wrongly: Algorithms 3 to 6 of Lyu, Su and Li. Each claims ε falsely.

The last row is the sound Algorithm 1 with noise clamped to ±width, as an implementation in finite integers may do.

The noise is discrete Laplace noise on a grid, in base e and exact, so what is broken is the algorithm and not its
arithmetic. On the grid ρ has weights e^(−r₁|k|) and ν has e^(−r₂|k|); ⊤ is ν ≥ ρ − q with q = query − threshold.

| Algorithm | after | ε₁ | ρ | ν | stops | releases |
|---|---|---|---|---|---|---|
| 3 | Roth's lecture notes, 2011 | ε/2 | Lap(Δ/ε₁) | Lap(cΔ/ε₂) | at c | the noisy value with ⊤ |
| 4 | Lee and Clifton, KDD 2014 | ε/4 | Lap(Δ/ε₁) | Lap(Δ/ε₂) | at c | |
| 5 | Stoddard et al., 2014 | ε/2 | Lap(Δ/ε₁) | none | never | |
| 6 | Chen et al., KDD 2015 | ε/2 | Lap(Δ/ε₁) | Lap(Δ/ε₂) | never | |
| 1 | but both are clamped | ε/2 | Lap(Δ/ε₁) | Lap(2cΔ/ε₂) | at c | |

Source: Lyu, Su, Li 2017 (arXiv:1603.01699), Figure 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.numerics.mpfr import rational
from subnormal.mechanisms.samplers import discrete_laplace
from subnormal.mechanisms.samplers.inverse_transform import FAR
from subnormal.mechanisms.samplers.noise_tails import ProbabilityBounds, laplace_mass, laplace_tail
from subnormal.mechanisms.sparse_vector import answer_law
from subnormal.mechanisms.sparse_vector.answer_law import Answer, Weights
from subnormal.mechanisms.sparse_vector.family import (
    BELOW,
    Answers,
    Number,
    Queries,
    SparseVectorParameters,
    answered,
    on_grid,
    outcomes,
)

PRECISION = 256  # bits of an enclosure
ONE = 1 << PRECISION
REACH = 32  # nats: how far beyond the queries a law goes value by value, e^−32 of the noise being left


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table. answer_scale: the scale of ν in units of Δ/ε₂, from c; 0: no ν."""

    threshold_share: Fraction
    answer_scale: Callable[[int], int]
    stops: bool
    releases: bool = False
    clamped: bool = False

    def noises(self, parameters: SparseVectorParameters) -> tuple[_Noise, _Noise]:
        """Return those of ρ and ν, in steps of the grid."""
        a_step = rational("epsilon", parameters.epsilon) / parameters.apart
        scale, bound = self.answer_scale(parameters.positives), FAR
        if self.clamped:
            bound = parameters.steps(parameters.width)
        answers = _Noise((1 - self.threshold_share) * a_step / max(1, scale), bound if scale else 0)
        return _Noise(self.threshold_share * a_step, bound), answers

    def positives(self, parameters: SparseVectorParameters) -> int | None:
        """Return how many ⊤ there are at most, None where nothing stops it."""
        return parameters.positives if self.stops else None


@dataclass(frozen=True, slots=True)
class _Noise:
    """Discrete Laplace noise of a rate in nats, clamped to ±bound; 0 is none, FAR is unbounded for all purposes."""

    rate: Fraction
    bound: int

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        drawn = discrete_laplace.laplace(self.rate).draw(bits, n) if self.bound else np.zeros(n, dtype=np.int64)
        return np.clip(drawn, -self.bound, self.bound)

    def at_least(self, steps: int) -> tuple[int, int]:
        """Return bounds on 2^PRECISION·P(noise ≥ steps)."""
        if not -self.bound < steps <= self.bound:
            return 2 * (ONE * (steps <= -self.bound),)
        return _outwards(laplace_tail(self.rate, steps))

    def mass(self, steps: int) -> tuple[int, int]:
        """Return bounds on 2^PRECISION·P(noise = steps), for unbounded noise."""
        return _outwards(laplace_mass(self.rate, steps))


def _outwards(bounds: ProbabilityBounds) -> tuple[int, int]:
    return floor(bounds[0] * ONE), ceil(bounds[1] * ONE)


def sample(
    variant: Variant, data: Queries, parameters: SparseVectorParameters, bits: BitSource, n: int
) -> list[Answers]:
    """Return n outcomes of exactly the variant's algorithm: 0, and 1 or (1, noisy value).

    Raises ValueError for a negative n.
    """
    require_draws(n)
    of_threshold, of_answers = variant.noises(parameters)

    def answer(noisy: NDArray[np.int64], query: int) -> NDArray[np.int64]:
        drawn = of_answers.draw(bits, len(noisy))
        return np.where(drawn >= noisy - query, query + drawn if variant.releases else 0, BELOW)

    queries, noisy = on_grid(data, parameters), of_threshold.draw(bits, n)
    return outcomes(
        answered(queries, noisy, answer, variant.positives(parameters)), _positive(variant.releases, parameters)
    )


def law(variant: Variant, data: Queries, parameters: SparseVectorParameters) -> Law[Answers]:
    """Return enclosures of the distribution of `sample`. Raises NoLawError where it is too large: see `require_small`.

    Unbounded ρ is summed value by value up to REACH nats beyond the queries and 0. All values below count as one more,
    and so do all values above: their mass has a closed form, and the probability of an answer there lies between those
    at its end and at ±∞. Noisy values are atoms up to there; the others are the law's `rest`.
    """
    queries = on_grid(data, parameters)
    of_threshold, of_answers = variant.noises(parameters)
    reach = ceil(REACH / min(of_threshold.rate, of_answers.rate))
    first, last = min(0, *queries) - reach, max(0, *queries) + reach
    if variant.clamped:
        first, last = -of_threshold.bound, of_threshold.bound
    kinds, values = last - first - 1 if variant.releases else 1, last - first + 1
    answer_law.require_small(len(queries), kinds, variant.positives(parameters), values, PRECISION)
    noise = laplace_exact.law(0, 1 / of_threshold.rate, lower=first, upper=last, precision=PRECISION)
    prior = Weights(np.array(noise.low, dtype=object), np.array(noise.high, dtype=object))
    positive, answers_of_queries = _positive(variant.releases, parameters), []
    for query in queries:
        above = _reached(of_answers, query, first, last)
        answers = [Answer((0,), False, Weights(ONE - above.high, ONE - above.low))]
        if variant.releases:
            answers += [
                Answer(positive(value), True, _released(of_answers, query, value, first, last))
                for value in range(first + 1, last)
            ]
        else:
            answers.append(Answer(positive(0), True, above))
        answers_of_queries.append(answers)
    return answer_law.law(prior, noise.denominator, answers_of_queries, ONE, variant.positives(parameters))


def _reached(noise: _Noise, query: int, first: int, last: int) -> Weights:
    """Return bounds on P(ν ≥ ρ − q) for each ρ. For unbounded noise the end values stand for all beyond."""
    bounds = [noise.at_least(steps) for steps in range(first - query, last - query + 1)]
    if noise.bound == FAR:
        bounds[0], bounds[-1] = (bounds[0][0], ONE), (0, bounds[-1][1])
    low, high = (np.array(side, dtype=object) for side in zip(*bounds, strict=True))
    return Weights(low, high)


def _released(noise: _Noise, query: int, value: int, first: int, last: int) -> Weights:
    """Return bounds on P(q + ν = value and value ≥ ρ) for each value of ρ."""
    low, high = noise.mass(value - query)
    # The first value is always reached, and the last one never, as first < value < last.
    reached = (np.arange(first, last + 1) <= value).astype(object)
    return Weights(reached * low, reached * high)


def _positive(releases: bool, parameters: SparseVectorParameters) -> Callable[[int], Answers]:
    """Return what is written for a ⊤ by the noisy value above the threshold, in steps."""

    def value(steps: int) -> Number:
        exact = rational("threshold", parameters.threshold) + steps * Fraction(2) ** parameters.grid
        return int(exact) if exact.denominator == 1 else float(exact)

    return lambda steps: (1, value(steps)) if releases else (1,)


def _member(name: str, variant: Variant) -> Mechanism[Queries, SparseVectorParameters, Answers]:
    own_sample, own_law = partial(sample, variant), partial(law, variant)
    return Mechanism(f"sparse-vector-{name}", "sparse-vector", own_sample, epsilon_claim, own_law)


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

ALGORITHM_3 = _member("algorithm-3", Variant(HALF, lambda positives: positives, stops=True, releases=True))
ALGORITHM_4 = _member("algorithm-4", Variant(QUARTER, lambda positives: 1, stops=True))
ALGORITHM_5 = _member("algorithm-5", Variant(HALF, lambda positives: 0, stops=False))
ALGORITHM_6 = _member("algorithm-6", Variant(HALF, lambda positives: 1, stops=False))
CLAMPED_NOISE = _member("clamped-noise", Variant(HALF, lambda positives: 2 * positives, stops=True, clamped=True))
